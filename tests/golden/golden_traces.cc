#include "tests/golden/golden_traces.h"

#include <cinttypes>
#include <cstdio>

#include "tests/harness/script_runner.h"

namespace tutti_test {

static const char field_folder[] = "tests/scripts/field/";

std::vector<std::string> golden_names() {
    return script_names(field_folder);
}

std::string golden_trace(const std::string &name) {
    char last[64];
    const Script script = read_script(field_folder + name + ".tut");
    const Outcome outcome = run_script(script.get(), TUTTI_SCRIPT_AS_DATA);
    snprintf(last, sizeof last, "{\"trace_hash\":\"%016" PRIx64 "\"}\n",
             outcome.report->trace_hash);
    return outcome.trace + last;
}

std::string golden_file(const std::string &name) {
    return "tests/golden/" + name + ".jsonl";
}

} // namespace tutti_test
