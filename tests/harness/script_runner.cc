#include "tests/harness/script_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tutti_test {

std::vector<std::string> script_names(const std::string &folder) {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".tut") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

Script parse_script(const std::string &name, const std::string &text) {
    tutti_script *script = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_script_parse(name.c_str(), text.data(), text.size(), &script, &error), TUTTI_OK)
        << error.message;
    return Script(script);
}

Script read_script(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path << " cannot be read";
    return parse_script(path,
                        {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

static void append_trace(void *context, const char *text, size_t text_bytes) {
    static_cast<std::string *>(context)->append(text, text_bytes);
}

Outcome run_script(const tutti_script *script, tutti_script_executor executor,
                   const uint64_t *seed) {
    Outcome outcome;
    tutti_script_options options = {};
    options.struct_size = sizeof options;
    options.executor = executor;
    options.faults = "";
    options.random_schedule = seed != nullptr;
    options.seed = seed != nullptr ? *seed : 0;
    options.trace_sink = append_trace;
    options.trace_context = &outcome.trace;
    tutti_report *report = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_script_run(script, &options, &report, &error), TUTTI_OK) << error.message;
    outcome.report.reset(report);
    return outcome;
}

std::string text_of(const tutti_report *report) {
    std::string text(tutti_report_format(report, nullptr, 0), '\0');
    tutti_report_format(report, text.data(), text.size() + 1);
    return text;
}

} // namespace tutti_test
