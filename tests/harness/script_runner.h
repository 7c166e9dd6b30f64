#ifndef TUTTI_TESTS_HARNESS_SCRIPT_RUNNER_H
#define TUTTI_TESTS_HARNESS_SCRIPT_RUNNER_H

// Scripts, for tests: read from a file or a text, run, and what came of it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tutti/script.h"

namespace tutti_test {

struct Freer {
    void operator()(tutti_script *script) const {
        tutti_script_free(script);
    }
    void operator()(tutti_report *report) const {
        tutti_report_free(report);
    }
};
using Script = std::unique_ptr<tutti_script, Freer>;
using Report = std::unique_ptr<tutti_report, Freer>;

struct Outcome {
    Report report;
    std::string trace;
};

// The names, without ending, of the scripts in a folder, sorted.
std::vector<std::string> script_names(const std::string &folder);

// A script; fails the test when it cannot be read.
Script read_script(const std::string &path);
Script parse_script(const std::string &name, const std::string &text);

// Runs a script with its own faults only; with a seed, on a schedule drawn from it.
Outcome run_script(const tutti_script *script, tutti_script_executor executor,
                   const uint64_t *seed = nullptr);

// The report as text.
std::string text_of(const tutti_report *report);

} // namespace tutti_test

#endif
