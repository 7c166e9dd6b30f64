#include "fuzz/programs/program_checks.h"

#include <algorithm>
#include <iterator>

#include "tests/harness/script_runner.h"

namespace tutti_test {

namespace {

// Every way to carry a script out, the first being what the others are compared with.
struct Executor {
    tutti_script_executor executor;
    const char *name;
};
const Executor executors[] = {
    {TUTTI_SCRIPT_AS_DATA, "data"},
    {TUTTI_SCRIPT_AS_DATA, "data, once more"},
    {TUTTI_SCRIPT_ON_THREADS, "threads"},
};

struct Run {
    Report report; // NULL when it was refused
    std::string trace;
    std::string refusal;
};

void append_trace(void *context, const char *text, size_t text_bytes) {
    static_cast<std::string *>(context)->append(text, text_bytes);
}

Run run(const Script &script, tutti_script_executor executor, const uint64_t *seed) {
    Run made;
    tutti_script_options options = {};
    options.struct_size = sizeof options;
    options.executor = executor;
    options.faults = "";
    options.random_schedule = seed != nullptr;
    options.seed = seed != nullptr ? *seed : 0;
    options.trace_sink = append_trace;
    options.trace_context = &made.trace;
    tutti_report *report = nullptr;
    tutti_error error;
    const tutti_status status = tutti_script_run(script.get(), &options, &report, &error);
    if (status != TUTTI_OK)
        made.refusal = std::string(tutti_status_name(status)) + ": " + error.message;
    made.report.reset(report);
    return made;
}

Script parse(const std::string &text, std::string *problem) {
    tutti_script *script = nullptr;
    tutti_error error;
    if (tutti_script_parse("random.tut", text.data(), text.size(), &script, &error) != TUTTI_OK)
        *problem = std::string("it cannot be read: ") + error.message;
    return Script(script);
}

std::string schedule_text(const uint64_t *seed) {
    return seed == nullptr ? "on the plain schedule" : "with --seed " + std::to_string(*seed);
}

std::string verdict_text(tutti_verdict verdict, const int32_t *culprits, size_t culprit_count) {
    std::string text = tutti_verdict_name(verdict);
    for (size_t i = 0; i < culprit_count; i++)
        text += (i == 0 ? " culprit " : " ") + std::to_string(culprits[i]);
    return text;
}

std::string verdict_text(const tutti_report *report) {
    return verdict_text(report->verdict, report->culprits, report->culprit_count);
}

// What one rank does wrong by itself is told when it does so; of several ranks that do, at one
// moment of the cluster's clock, the schedule says who is named first. And of accesses that have no
// order, the one that came later in this run is told of.
bool is_told_by_who_ran(tutti_verdict verdict) {
    static const tutti_verdict kinds[] = {TUTTI_VERDICT_MISUSE,  TUTTI_VERDICT_REFUSED,
                                          TUTTI_VERDICT_RACE,    TUTTI_VERDICT_FREED,
                                          TUTTI_VERDICT_OVERLAP, TUTTI_VERDICT_UNDEFINED};
    return std::find(std::begin(kinds), std::end(kinds), verdict) != std::end(kinds);
}

// Accesses without an order next to something else that is wrong: which of the two is found first
// is the schedule's to say.
bool is_of_data(tutti_verdict verdict) {
    return verdict == TUTTI_VERDICT_RACE || verdict == TUTTI_VERDICT_FREED ||
           verdict == TUTTI_VERDICT_UNDEFINED;
}

// Calls check(seed) for the plain schedule, NULL, and for random ones, up to the first problem.
template <typename Check> std::string on_schedules(int seed_count, Check check) {
    std::string problem = check(nullptr);
    for (uint64_t seed = 0; problem.empty() && seed < static_cast<uint64_t>(seed_count); seed++)
        problem = check(&seed);
    return problem;
}

// --- Findings ---

std::string problem_of_finding(const tutti_report *report, uint32_t index, int32_t rank_count) {
    const tutti_finding &finding = report->findings[index];
    const std::string text = finding.text;
    if (text.empty()) return "a finding has no text";
    if (text.find("(null)") != std::string::npos) return "a finding speaks of (null): " + text;
    if (text.find("please report") != std::string::npos) return "a bug of ours: " + text;
    if (finding.kind <= TUTTI_VERDICT_OK || finding.kind >= TUTTI_VERDICT_COUNT)
        return "a finding has no kind: " + text;
    if (finding.follows >= static_cast<int32_t>(report->finding_count) || finding.follows < -1)
        return "a finding follows from none that there is: " + text;
    for (uint32_t i = 0; i < finding.rank_count; i++) {
        if (finding.ranks[i] < 0 || finding.ranks[i] >= rank_count)
            return "a finding blames a rank that does not exist: " + text;
        if (i > 0 && finding.ranks[i] <= finding.ranks[i - 1])
            return "a finding's ranks are not in order: " + text;
    }
    if (!finding.is_note && finding.rank_count == 0) return "a finding blames nobody: " + text;
    return "";
}

std::string problem_of_report(const tutti_report *report, int32_t rank_count) {
    if (report->rank_count != static_cast<uint32_t>(rank_count))
        return "the report has lines for " + std::to_string(report->rank_count) + " ranks";
    const bool bad = report->finding_count > 0 && report->findings[0].is_note == 0;
    if (bad != (report->verdict != TUTTI_VERDICT_OK)) return "verdict and findings disagree";
    for (uint32_t i = 0; i < report->finding_count; i++) {
        const std::string problem = problem_of_finding(report, i, rank_count);
        if (!problem.empty()) return problem;
    }
    return "";
}

// --- Two runs that must be equal ---

std::string first_difference(const std::string &a, const std::string &b) {
    size_t at = 0, line = 0;
    for (; at < a.size() && at < b.size() && a[at] == b[at]; at++)
        if (a[at] == '\n') line = at + 1;
    return a.substr(line, a.find('\n', at) - line) + "\nand\n" +
           b.substr(line, b.find('\n', at) - line);
}

std::string problem_of_pair(const Run &a, const Run &b, const std::string &who) {
    if (a.refusal != b.refusal) return who + " refuse differently: " + a.refusal + b.refusal;
    if (a.trace != b.trace) return who + " give two traces:\n" + first_difference(a.trace, b.trace);
    if (a.report == nullptr) return "";
    const std::string x = text_of(a.report.get()), y = text_of(b.report.get());
    if (x != y) return who + " give two reports:\n" + first_difference(x, y);
    const bool same = a.report->trace_hash == b.report->trace_hash &&
                      a.report->virtual_ns == b.report->virtual_ns &&
                      a.report->call_count == b.report->call_count;
    return same ? "" : who + " count differently";
}

std::string problem_of_run(const Script &script, const uint64_t *seed, bool on_threads) {
    const int32_t rank_count = static_cast<int32_t>(tutti_script_rank_count(script.get()));
    const Run model = run(script, executors[0].executor, seed);
    std::string problem;
    if (model.report != nullptr) problem = problem_of_report(model.report.get(), rank_count);
    for (const Executor &other : executors) {
        const bool left_out =
            &other == &executors[0] || (other.executor != TUTTI_SCRIPT_AS_DATA && !on_threads);
        if (left_out || !problem.empty()) continue;
        problem = problem_of_pair(model, run(script, other.executor, seed),
                                  std::string(executors[0].name) + " and " + other.name);
    }
    return problem.empty() ? "" : problem + "\n" + schedule_text(seed);
}

} // namespace

std::string problem_of_runs(const std::string &text, int seed_count, bool on_threads) {
    std::string problem;
    const Script script = parse(text, &problem);
    if (script == nullptr) return problem;
    return on_schedules(
        seed_count, [&](const uint64_t *seed) { return problem_of_run(script, seed, on_threads); });
}

std::string problem_of_correct(const RandomProgram &program, int seed_count) {
    std::string problem;
    const Script script = parse(program.text, &problem);
    if (script == nullptr) return problem;
    return on_schedules(seed_count, [&](const uint64_t *seed) {
        const Run outcome = run(script, TUTTI_SCRIPT_AS_DATA, seed);
        if (outcome.report == nullptr) return "it cannot be run: " + outcome.refusal;
        for (uint32_t i = 0; i < outcome.report->finding_count; i++)
            if (outcome.report->findings[i].is_note == 0)
                return schedule_text(seed) + " a false alarm:\n" + text_of(outcome.report.get());
        return std::string();
    });
}

std::string problem_of_arbitrary(const ArbitraryProgram &program, int seed_count) {
    if (program.depends_on_schedule) return "";
    std::string problem;
    const Script script = parse(program.text, &problem);
    if (script == nullptr) return problem;
    const Run plain = run(script, TUTTI_SCRIPT_AS_DATA, nullptr);
    if (plain.report == nullptr) return "it cannot be run: " + plain.refusal;
    const std::string wanted = verdict_text(plain.report.get());
    return on_schedules(seed_count, [&](const uint64_t *seed) {
        const Run outcome = run(script, TUTTI_SCRIPT_AS_DATA, seed);
        if (outcome.report == nullptr) return "it cannot be run: " + outcome.refusal;
        const std::string found = verdict_text(outcome.report.get());
        if (found == wanted) return std::string();
        if (is_told_by_who_ran(plain.report->verdict) &&
            is_told_by_who_ran(outcome.report->verdict))
            return std::string();
        const bool wrong = plain.report->verdict != TUTTI_VERDICT_OK &&
                           outcome.report->verdict != TUTTI_VERDICT_OK;
        if (wrong && (is_of_data(plain.report->verdict) || is_of_data(outcome.report->verdict)))
            return std::string();
        return "it ends as " + wanted + " or as " + found + ", " + schedule_text(seed) + ":\n" +
               text_of(plain.report.get()) + text_of(outcome.report.get());
    });
}

std::string problem_of_mutated(const MutatedProgram &program, int seed_count) {
    std::string problem;
    const Script script = parse(program.text, &problem);
    if (script == nullptr) return problem;
    std::string wanted;
    for (const auto &ending : program.endings)
        wanted += verdict_text(ending.verdict, ending.culprits.data(), ending.culprits.size()) +
                  (ending.more_allowed ? " ...\n" : "\n");
    return on_schedules(seed_count, [&](const uint64_t *seed) {
        const Run outcome = run(script, TUTTI_SCRIPT_AS_DATA, seed);
        if (outcome.report == nullptr) return "it cannot be run: " + outcome.refusal;
        if (program.may_end_as(outcome.report.get())) return std::string();
        return "bug: " + program.bug + "\nit must end as one of\n" + wanted + "and ends as " +
               verdict_text(outcome.report.get()) + ", " + schedule_text(seed) + ":\n" +
               text_of(outcome.report.get());
    });
}

const char *program_kind_name(ProgramKind kind) {
    static const char *const names[] = {"correct", "arbitrary", "mutated"};
    return names[kind];
}

Trial try_program(ProgramKind kind, const Dice &dice, int seed_count) {
    Trial trial;
    if (kind == kCorrectProgram) {
        const RandomProgram program = correct_program(dice);
        trial = {program.text, problem_of_correct(program, seed_count)};
    } else if (kind == kArbitraryProgram) {
        const ArbitraryProgram program = arbitrary_program(dice);
        trial = {program.text, problem_of_arbitrary(program, seed_count)};
    } else {
        const MutatedProgram program = mutated_program(dice);
        trial = {program.text, problem_of_mutated(program, seed_count)};
    }
    if (trial.problem.empty()) trial.problem = problem_of_runs(trial.text, 1);
    return trial;
}

} // namespace tutti_test
