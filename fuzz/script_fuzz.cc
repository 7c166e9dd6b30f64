// Scripts: any text is read or refused with its place; one that can be read ends, without a crash
// and with a report that makes sense, and both executors agree on it.

#include <cinttypes>
#include <vector>

#include "drivers/emu/script_run.h"
#include "fuzz/entry.h"
#include "fuzz/programs/program_checks.h"
#include "fuzz/require.h"

namespace {

using tutti_fuzz::require;

// Larger scripts are only read: a fuzzer wants many runs.
enum {
    kRanksMax = 64,
    kRanksOnThreadsMax = 8,
    kStepsMax = 5000,         // statements, with their repeats, of all ranks
    kBufferBytesMax = 1 << 20 // of all ranks
};

void check_error(tutti_status status, const tutti_error &error) {
    const std::string message = error.message;
    require(!message.empty(), "an error without words");
    require(status == TUTTI_SYNTAX || status == TUTTI_UNSUPPORTED,
            "refused in an odd way: " + message);
    require(message.rfind("fuzz.tut:", 0) == 0, "an error without its place: " + message);
    require(error.place.line >= 1, "an error without its line: " + message);
}

double buffer_bytes(const emu_script &script) {
    double bytes = 0;
    for (uint32_t i = 0; i < script.buffer_count; i++) {
        const emu_script_buffer &buffer = script.buffers[i];
        bytes += static_cast<double>(buffer.count) * buffer.width_bytes * buffer.ranks.rank_count;
    }
    return bytes;
}

double section_steps(const emu_script &script, const emu_script_section &section) {
    std::vector<double> times = {1};
    double steps = 0;
    for (uint32_t i = 0; i < section.statement_count; i++) {
        const emu_script_statement &statement = script.statements[section.first_statement + i];
        steps += times.back();
        if (statement.kind == EMU_SCRIPT_REPEAT)
            times.push_back(times.back() * statement.repeat_count);
        if (statement.kind == EMU_SCRIPT_REPEAT_END) times.pop_back();
    }
    return steps * section.ranks.rank_count;
}

bool is_small(const emu_script &script) {
    double steps = 0;
    for (uint32_t i = 0; i < script.section_count; i++)
        steps += section_steps(script, script.sections[i]);
    return script.rank_count <= kRanksMax && steps <= kStepsMax &&
           buffer_bytes(script) <= kBufferBytesMax;
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tutti_error error;
    tutti_script *script = nullptr;
    const std::string text(reinterpret_cast<const char *>(data), size);
    const tutti_status status =
        tutti_script_parse("fuzz.tut", text.data(), text.size(), &script, &error);
    require((status == TUTTI_OK) == (script != nullptr), "a status and its script disagree");
    if (script == nullptr) {
        check_error(status, error);
        return 0;
    }
    const bool small = is_small(*script->parsed);
    const bool on_threads = script->parsed->rank_count <= kRanksOnThreadsMax;
    tutti_script_free(script);
    if (!small) return 0;
    const std::string problem = tutti_test::problem_of_runs(text, 1, on_threads);
    require(problem.empty(), problem);
    return 0;
}
