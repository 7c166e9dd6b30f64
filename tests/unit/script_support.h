#ifndef TUTTI_TESTS_UNIT_SCRIPT_SUPPORT_H
#define TUTTI_TESTS_UNIT_SCRIPT_SUPPORT_H

// Scripts in tests: read from a string, owned, and looked into by name.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "drivers/emu/script_parse.h"

struct ScriptFree {
    void operator()(emu_script *script) const {
        emu_script_free(script);
    }
};
using Script = std::unique_ptr<emu_script, ScriptFree>;

// A script, or why there is none. The text is given to the reader in a block of exactly its size,
// so that a sanitizer sees a read behind its end.
struct Reading {
    Script script;
    tutti_status status = TUTTI_OK;
    tutti_error error;
    tutti_error refusal; // what emu_script_parse says although the reading succeeded
};

inline Reading read_script(const std::string &text, const char *file = "t.tut",
                           size_t memory_bytes_max = SIZE_MAX) {
    Reading reading;
    tutti_error_clear(&reading.error);
    tutti_error_clear(&reading.refusal);
    std::unique_ptr<char[]> block(new char[text.size()]);
    memcpy(block.get(), text.data(), text.size());
    emu_script *script = nullptr;
    reading.status = emu_script_read(block.get(), text.size(), file, memory_bytes_max, &script,
                                     &reading.refusal, &reading.error);
    reading.script.reset(script);
    return reading;
}

// The message of what emu_script_parse says about a text; "" when it accepts it.
inline std::string parse_error(const std::string &text, const char *file = "t.tut") {
    tutti_error error;
    emu_script *script = nullptr;
    std::unique_ptr<char[]> block(new char[text.size()]);
    memcpy(block.get(), text.data(), text.size());
    const tutti_status status = emu_script_parse(block.get(), text.size(), file, &script, &error);
    Script owned(script);
    return status == TUTTI_OK ? "" : error.message;
}

// The first line of a message: without the excerpt.
inline std::string first_line(const std::string &message) {
    return message.substr(0, message.find('\n'));
}

// A set as people write it: "0 2-5".
inline std::string set_text(const emu_rank_set &set) {
    std::string text;
    for (uint32_t i = 0; i < set.range_count; i++) {
        const emu_rank_range range = set.ranges[i];
        if (i > 0) text += " ";
        text += std::to_string(range.first);
        if (range.last > range.first) text += "-" + std::to_string(range.last);
    }
    return text;
}

#endif
