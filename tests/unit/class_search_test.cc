// The exhaustive search runs exactly one schedule of every class: as many as there are when all
// schedules are enumerated by brute force and told apart by what each poll came before and after.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "drivers/emu/class_search.h"
extern "C" {
#include "drivers/emu/script_run.h"
}
#include "tests/harness/script_runner.h"

namespace {

using tutti_test::Report;
using tutti_test::Script;

void append(void *context, const char *text, size_t bytes) {
    static_cast<std::string *>(context)->append(text, bytes);
}

struct Run {
    Report report;
    std::string trace;
};

// One run of a script as data, with a chooser and a log of ours.
Run run(const tutti_script *script, emu_choices *choices, emu_step_log *steps) {
    Run result;
    tutti_script_options options = {};
    options.struct_size = sizeof options;
    options.faults = "";
    options.trace_sink = append;
    options.trace_context = &result.trace;
    tutti_fault_plan *plan = nullptr;
    EXPECT_EQ(emu_script_faults(script->parsed, &options, &plan, nullptr), TUTTI_OK);
    emu_config config = emu_script_config(script->parsed, &options, nullptr, plan);
    config.choices = choices;
    config.steps = steps;
    tutti_report *report = nullptr;
    EXPECT_EQ(emu_script_run_as_data(script->parsed, &options, &config, &report, nullptr),
              TUTTI_OK);
    tutti_fault_plan_destroy(plan);
    result.report.reset(report);
    return result;
}

// --- Classes, from the trace alone ---

std::string field(const std::string &line, const std::string &name) {
    const std::string key = "\"" + name + "\":";
    size_t at = line.find(key);
    if (at == std::string::npos) return "";
    at += key.size();
    return line.substr(at, line.find_first_of(",}", at) - at);
}

// For every poll: who had issued how many operations when it was made, and what it saw. Two
// schedules are of one class when all of this is the same.
std::string class_of(const std::string &trace) {
    std::map<std::string, std::vector<std::string>> polls; // by rank
    std::map<std::string, int> issued;
    size_t at = 0;
    while (at < trace.size()) {
        const size_t end = trace.find('\n', at);
        const std::string line = trace.substr(at, end - at);
        at = end + 1;
        const std::string rank = field(line, "rank");
        if (field(line, "event") == "\"issue\"" && line.find("all_reduce") != std::string::npos)
            issued[rank]++;
        if (line.find("stream_query") == std::string::npos) continue;
        if (field(line, "event") == "\"return\"") polls[rank].back() += field(line, "done");
        if (field(line, "event") != "\"call\"") continue;
        std::string seen;
        for (const auto &one : issued)
            if (one.first != rank) seen += one.first + ":" + std::to_string(one.second) + " ";
        polls[rank].push_back(seen);
    }
    std::string text;
    for (const auto &one : polls) {
        text += one.first + "[";
        for (const std::string &poll : one.second)
            text += poll + ";";
        text += "] ";
    }
    return text;
}

std::string ending_of(const Run &one) {
    std::string text = tutti_verdict_name(one.report->verdict);
    for (uint32_t i = 0; i < one.report->finding_count; i++)
        text += std::string("\n") + one.report->findings[i].text;
    return text;
}

// --- Brute force: every answer to every question ---

struct Brute {
    std::vector<uint32_t> answers, counts;
    size_t at = 0;
};

uint32_t brute_choose(void *context, const emu_question *question) {
    Brute *brute = static_cast<Brute *>(context);
    if (question->answer_count == 1) return 0;
    if (brute->at == brute->answers.size()) {
        brute->answers.push_back(0);
        brute->counts.push_back(question->answer_count);
    }
    return brute->answers[brute->at++];
}

bool next(Brute &brute) {
    while (!brute.answers.empty() && brute.answers.back() + 1 == brute.counts.back()) {
        brute.answers.pop_back();
        brute.counts.pop_back();
    }
    brute.at = 0;
    if (brute.answers.empty()) return false;
    brute.answers.back()++;
    return true;
}

struct Classes {
    std::set<std::string> classes;
    std::set<std::string> endings; // what the reports say
    size_t runs = 0;
};

Classes enumerate(const Script &script) {
    Classes all;
    Brute brute;
    do {
        emu_choices choices;
        emu_choices_init_strategy(&choices, brute_choose, &brute);
        const Run one = run(script.get(), &choices, nullptr);
        all.classes.insert(class_of(one.trace));
        all.endings.insert(ending_of(one));
        all.runs++;
        emu_choices_free(&choices);
    } while (next(brute));
    return all;
}

struct Search {
    Classes found;
    emu_class_count count;
};

Search search(const Script &script) {
    Search result;
    emu_class_search *searched = emu_class_search_create(tutti_script_rank_count(script.get()));
    while (emu_class_search_begin(searched)) {
        emu_choices choices;
        emu_choices_init_strategy(&choices, emu_class_search_choose, searched);
        const Run one = run(script.get(), &choices, emu_class_search_log(searched));
        emu_class_search_end(searched);
        emu_choices_free(&choices);
        if (emu_class_search_was_redundant(searched)) continue;
        result.found.classes.insert(class_of(one.trace));
        result.found.endings.insert(ending_of(one));
        result.found.runs++;
    }
    result.count = emu_class_search_count(searched);
    emu_class_search_destroy(searched);
    return result;
}

void expect_same_classes(const std::string &text) {
    const Script script = tutti_test::parse_script("program.tut", text);
    const Search found = search(script);
    const Classes all = enumerate(script);
    EXPECT_TRUE(found.count.complete) << (found.count.reason ? found.count.reason : "");
    EXPECT_EQ(found.found.classes, all.classes) << text;
    EXPECT_EQ(found.count.classes, all.classes.size())
        << text << all.runs << " by brute force, " << found.count.redundant << " redundant";
}

const std::string head2 = "ranks 2\nbuffer x f32 1 = 1\nrank *\n join world\n";
const std::string head3 = "ranks 3\nbuffer x f32 1 = 1\nrank *\n join world\n";

TEST(ClassSearch, PlainCollectiveCodeHasOneClass) {
    const Script script = tutti_test::parse_script(
        "plain.tut", "ranks 4\nbuffer x f32 1 = 1\nrank *\n repeat 10\n  all_reduce x sum\n end\n"
                     " sync\n expect x = 1048576\n leave world\n");
    const Search found = search(script);
    EXPECT_TRUE(found.count.complete);
    EXPECT_EQ(found.count.classes, 1u);
    EXPECT_EQ(found.count.redundant, 0u);
}

// --- The same by brute force over a model ---
//
// Each rank arrives at an all_reduce and then polls twice. All orders of these events are gone
// through. A poll that could see the end may come too early to, once for each rank.

struct Model {
    size_t rank_count, poll_count;
    std::set<std::string> classes;

    struct Rank {
        size_t made = 0; // arrival and polls
        bool missed = false, seen = false;
        std::string polls;
    };

    void go_on(std::vector<Rank> ranks) {
        bool over = true;
        for (size_t i = 0; i < rank_count; i++) {
            if (ranks[i].made == 1 + poll_count) continue;
            over = false;
            std::vector<Rank> next = ranks;
            if (next[i].made++ == 0)
                go_on(next);
            else
                poll(next, i);
        }
        if (!over) return;
        std::string text;
        for (const Rank &rank : ranks)
            text += "[" + rank.polls + "] ";
        classes.insert(text);
    }

    void poll(std::vector<Rank> ranks, size_t i) {
        bool done = true;
        for (size_t other = 0; other < rank_count; other++) {
            if (ranks[other].made == 0) done = false;
            if (other != i) ranks[i].polls += ranks[other].made > 0 ? "1" : "0";
        }
        if (done && !ranks[i].seen && !ranks[i].missed) {
            std::vector<Rank> early = ranks;
            early[i].missed = true;
            early[i].polls += "early ";
            go_on(early);
        }
        if (done) ranks[i].seen = true;
        ranks[i].polls += done ? "done " : "not ";
        go_on(ranks);
    }
};

size_t classes_of_model(size_t rank_count, size_t poll_count) {
    Model model{rank_count, poll_count, {}};
    model.go_on(std::vector<Model::Rank>(rank_count));
    return model.classes.size();
}

std::string polling_program(size_t rank_count, size_t poll_count) {
    std::string text =
        "ranks " + std::to_string(rank_count) + "\nbuffer x f32 1 = 1\nrank *\n all_reduce x sum\n";
    for (size_t i = 0; i < poll_count; i++)
        text += " poll comm\n";
    return text;
}

TEST(ClassSearch, RunsAsManySchedulesAsThereAreClasses) {
    const struct {
        size_t ranks, polls;
    } programs[] = {{2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}, {4, 1}};
    for (const auto &program : programs) {
        const Script script =
            tutti_test::parse_script("polls.tut", polling_program(program.ranks, program.polls));
        const Search found = search(script);
        EXPECT_TRUE(found.count.complete);
        EXPECT_EQ(found.count.classes, classes_of_model(program.ranks, program.polls))
            << program.ranks << " ranks, " << program.polls << " polls";
        EXPECT_EQ(found.found.classes.size(), found.count.classes);
        EXPECT_LE(found.count.redundant, 1 + found.count.classes / 50);
    }
}

TEST(ClassSearch, TwoRanksOnePoll) {
    expect_same_classes("ranks 2\nbuffer x f32 1 = 1\nrank *\n all_reduce x sum\n poll comm\n");
}

TEST(ClassSearch, TwoRanksTwoPolls) {
    expect_same_classes(head2 + " all_reduce x sum\n poll comm\n poll comm\n sync\n");
}

// --- Everything that can come of a program ---

TEST(ClassSearch, FindsEveryEnding) {
    const std::string head = "ranks 2\nbuffer x f32 1 = 1\nbuffer y f32 1 = 1\n";
    const std::string programs[] = {
        // Who aborts first, and whether the other has arrived by then.
        head + "rank *\n join world\nrank 0\n all_reduce x sum\n abort world\n"
               "rank 1\n all_reduce x sum\n sync\n",
        head + "rank *\n join world\n all_reduce x sum\n abort world\n",
        // Used before it is ready, or not.
        head + "rank *\n join world nonblocking\n poll world\nrank 0\n all_reduce x sum\n",
        head + "rank 0\n join world nonblocking\n abort world\nrank 1\n join world\n",
        // A stream and an event that are looked at.
        head + "rank 0\n send x to 1\n poll comm\nrank 1\n recv y from 0\n record e\n poll e\n",
        // One who leaves while the other has only begun.
        head + "rank *\n join world\n leave world\nrank 1\n all_reduce x sum\n",
        // Limited room.
        head + "capacity 1\ngroup g = 0 1\nrank *\n join world\n join g\n"
               "rank 0\n all_reduce x sum on a\n all_reduce y sum in g on b\n"
               "rank 1\n all_reduce y sum in g on b\n all_reduce x sum on a\n",
    };
    for (const std::string &text : programs) {
        const Script script = tutti_test::parse_script("program.tut", text);
        const Search found = search(script);
        const Classes all = enumerate(script);
        EXPECT_TRUE(found.count.complete) << text;
        EXPECT_EQ(found.found.endings, all.endings) << text;
        EXPECT_LE(found.found.runs, all.runs) << text;
    }
}

} // namespace
