#include "drivers/emu/engine.h"

#include <string.h>

#include "drivers/emu/reduce.h"

/* Carrying out what the engine has decided: the only place where data moves. */

void emu_effect_perform(const emu_effect *effect) {
    switch (effect->kind) {
    case EMU_EFFECT_REDUCE:
        emu_reduce(effect->element_type, effect->op, effect->sources, effect->destinations,
                   effect->rank_count, effect->count);
        break;
    case EMU_EFFECT_COPY:
        if (effect->count > 0) memmove(effect->destination, effect->source, effect->count);
        break;
    case EMU_EFFECT_FILL:
        if (effect->count > 0) memset(effect->destination, effect->fill_value, effect->count);
        break;
    case EMU_EFFECT_FUNCTION:
        effect->function(effect->argument);
        break;
    }
}
