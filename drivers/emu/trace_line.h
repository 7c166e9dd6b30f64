#ifndef TUTTI_EMU_TRACE_LINE_H
#define TUTTI_EMU_TRACE_LINE_H

/* One line of the trace while it is being put together: an object of JSON. */

#include "drivers/emu/state.h"

/* Lies in the engine's own buffer, since a rank's stack is small. One at a time. */
typedef struct emu_line {
    emu_engine *engine;
    size_t bytes;
} emu_line;

/* Starts a line: `{"t":0,"event":"..."`. Only when somebody takes the trace. */
emu_line emu_line_begin(emu_engine *engine, const char *event);

void emu_line_add(emu_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `,"key":"text"`. Texts come from the program: what JSON does not allow in a string is escaped,
 * what is no UTF-8 becomes U+FFFD. */
void emu_line_add_text(emu_line *line, const char *key, const char *text);

/* The same for a name, cut where nobody reads on. */
void emu_line_add_name(emu_line *line, const char *key, const char *name);

/* `,"at":"file:line"`, or nothing when the place is unknown. The folder is left out: it differs
 * from machine to machine. */
void emu_line_add_place(emu_line *line, tutti_place place);

/* Gives the line to whoever takes the trace. */
void emu_line_send(emu_line *line);

#endif
