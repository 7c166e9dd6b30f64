#include "tests/golden/golden_traces.h"

#include <cinttypes>
#include <cstdio>

#include "tests/harness/pictures.h"
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

std::vector<GoldenPicture> golden_pictures() {
    std::vector<GoldenPicture> pictures;
    for (const char *name : {"late_rank", "order_grouped", "reuse_event", "two_groups"})
        for (int format = 0; format < TUTTI_TRACE_FORMAT_COUNT; format++)
            pictures.push_back({name, static_cast<tutti_trace_format>(format)});
    return pictures;
}

std::string golden_picture(const GoldenPicture &picture) {
    return picture_of(read_trace(golden_trace(picture.name)).get(), picture.format,
                      picture.name.c_str());
}

std::string golden_file(const GoldenPicture &picture) {
    static const char *const endings[TUTTI_TRACE_FORMAT_COUNT] = {".json", ".dot", ".svg", ".mmd"};
    return "tests/golden/pictures/" + picture.name + endings[picture.format];
}

} // namespace tutti_test
