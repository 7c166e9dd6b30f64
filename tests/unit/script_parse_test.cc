// What a script becomes: every line of the language, as data.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/script_support.h"

namespace {

// Four ranks, buffers, a group; `lines` are what all ranks run.
std::string with_statements(const std::string &lines) {
    return "ranks 4\n"
           "buffer x f32 8 = rank\n"
           "buffer y f32 8\n"
           "group pair = 2 0\n"
           "rank *\n" +
           lines;
}

// Reads a script that must be right, even if this version has not all that it needs.
Script read(const std::string &text) {
    Reading reading = read_script(text);
    EXPECT_EQ(reading.status, TUTTI_OK) << reading.error.message;
    return std::move(reading.script);
}

std::string slice_text(const emu_script *script, const emu_script_slice &slice) {
    std::string text = script->buffer_names[slice.name].name;
    if (slice.count == EMU_SCRIPT_WHOLE) return text;
    return text + "[" + std::to_string(slice.first) + ":" +
           std::to_string(slice.first + slice.count) + "]";
}

std::string slices_text(const emu_script *script, const emu_script_slice *slices, uint32_t count) {
    std::string text;
    for (uint32_t i = 0; i < count; i++)
        text += (i ? "," : "") + slice_text(script, slices[i]);
    return text;
}

std::string derivation_text(const emu_script *script, const emu_script_derivation &derivation) {
    std::string text =
        " color " + std::to_string(derivation.color) + " key " + std::to_string(derivation.key);
    if (derivation.without.range_count > 0) text += " without " + set_text(derivation.without);
    if (derivation.group != EMU_SCRIPT_NONE)
        text += std::string(" as ") + script->groups[derivation.group].name;
    return text;
}

// A statement with everything that is set, in one fixed form.
std::string statement_text(const emu_script *script, const emu_script_statement &statement) {
    std::string text = emu_script_kind_name(statement.kind);
    if (statement.read_count > 0)
        text += " r=" + slices_text(script, statement.reads, statement.read_count);
    if (statement.write_count > 0)
        text += " w=" + slices_text(script, statement.writes, statement.write_count);
    if (statement.kind == EMU_SCRIPT_ALL_REDUCE || statement.kind == EMU_SCRIPT_REDUCE ||
        statement.kind == EMU_SCRIPT_REDUCE_SCATTER)
        text += std::string(" ") + tutti_reduce_op_name(statement.op);
    if (statement.peer >= 0) text += " peer " + std::to_string(statement.peer);
    if (statement.group != EMU_SCRIPT_NONE)
        text += std::string(" in ") + script->groups[statement.group].name;
    if (statement.stream != EMU_SCRIPT_NONE)
        text += std::string(" on ") + script->streams[statement.stream].name;
    if (statement.event != EMU_SCRIPT_NONE)
        text += std::string(" event ") + script->events[statement.event].name;
    if (statement.duration_ns > 0) text += " " + std::to_string(statement.duration_ns) + "ns";
    if (statement.repeat_count > 0) text += " " + std::to_string(statement.repeat_count) + "x";
    if (statement.non_blocking) text += " nonblocking";
    if (statement.derivation) text += derivation_text(script, *statement.derivation);
    return text;
}

std::vector<std::string> statement_texts(const Script &script) {
    std::vector<std::string> texts;
    for (uint32_t i = 0; script && i < script->statement_count; i++)
        texts.push_back(statement_text(script.get(), script->statements[i]));
    return texts;
}

struct StatementCase {
    const char *line;
    const char *text;
};

const StatementCase statement_cases[] = {
    {"all_reduce x sum", "all_reduce r=x w=x sum in world on comm"},
    {"all_reduce x avg", "all_reduce r=x w=x mean in world on comm"},
    {"all_reduce x -> y mean in pair on s1", "all_reduce r=x w=y mean in pair on s1"},
    {"all_reduce x->y on s1 in pair max", "all_reduce r=x w=y max in pair on s1"},
    {"all_reduce x[0:6] -> y[2:8] prod", "all_reduce r=x[0:6] w=y[2:8] prod in world on comm"},
    {"all_reduce x[3] min", "all_reduce r=x[3:4] w=x[3:4] min in world on comm"},
    {"all_reduce x[8:8] sum", "all_reduce r=x[8:8] w=x[8:8] sum in world on comm"},
    {"all_reduce x[0:8] -> y[0:2] sum", "all_reduce r=x[0:8] w=y[0:2] sum in world on comm"},
    {"broadcast x root 3", "broadcast r=x w=x peer 3 in world on comm"},
    {"broadcast x -> y in pair root 1", "broadcast r=x w=y peer 1 in pair on comm"},
    {"reduce x -> y sum root 0", "reduce r=x w=y sum peer 0 in world on comm"},
    {"all_gather x[0:2] -> y", "all_gather r=x[0:2] w=y in world on comm"},
    {"reduce_scatter x -> y[0:2] sum", "reduce_scatter r=x w=y[0:2] sum in world on comm"},
    {"all_to_all x -> y on s2", "all_to_all r=x w=y in world on s2"},
    {"gather x -> y root 0", "gather r=x w=y peer 0 in world on comm"},
    {"scatter x -> y root 0", "scatter r=x w=y peer 0 in world on comm"},
    {"barrier", "barrier in world on comm"},
    {"barrier in pair on s1", "barrier in pair on s1"},
    {"send x to 1", "send r=x peer 1 in world on comm"},
    {"send x[1:2] in pair to 3 on s1", "send r=x[1:2] peer 3 in pair on s1"},
    {"recv y from 0", "recv w=y peer 0 in world on comm"},
    {"recv y[0] on s1 from 0", "recv w=y[0:1] peer 0 in world on s1"},
    {"record e", "record on compute event e"},
    {"record e on s1", "record on s1 event e"},
    {"wait e", "wait on compute event e"},
    {"wait e on s2", "wait on s2 event e"},
    {"kernel", "kernel on compute"},
    {"kernel reads x writes y on s1 for 3ms", "kernel r=x w=y on s1 3000000ns"},
    {"kernel for 1us writes y[0:1] x[2], y", "kernel w=y[0:1],x[2:3],y on compute 1000ns"},
    {"kernel reads x, y", "kernel r=x,y on compute"},
    {"sync", "sync"},
    {"sync s1", "sync on s1"},
    {"sync pair", "sync in pair"},
    {"poll comm", "poll on comm"},
    {"poll world", "poll in world"},
    {"host reads y", "host r=y"},
    {"host writes x[0:4] reads y", "host r=y w=x[0:4]"},
    {"free x", "free w=x"},
    {"sleep 5ms", "sleep 5000000ns"},
    {"sleep 1.5s", "sleep 1500000000ns"},
    {"join world", "join in world"},
    {"join pair nonblocking", "join in pair nonblocking"},
    {"leave pair", "leave in pair"},
    {"abort world", "abort in world"},
    {"split world color 0 key 1 as half", "split in world color 0 key 1 as half"},
    {"split world as half key -2 color 7", "split in world color 7 key -2 as half"},
    {"split pair color none", "split in pair color -1 key 0"},
    {"shrink world without 2 as rest", "shrink in world color -1 key 0 without 2 as rest"},
    {"shrink pair as rest without 3, 0-1 1", "shrink in pair color -1 key 0 without 0-1 3 as rest"},
    {"expect y = 6", "expect r=y"},
    {"exit", "exit"},
};

TEST(ScriptParse, EveryStatementBecomesData) {
    for (const StatementCase &one : statement_cases) {
        const Script script = read(with_statements(one.line));
        EXPECT_EQ(statement_texts(script), std::vector<std::string>{one.text}) << one.line;
    }
}

TEST(ScriptParse, StatementsKnowTheirPlace) {
    const Script script = read("ranks 1\n\n# nothing\nrank 0\n\t sync\n    exit # here");
    ASSERT_EQ(script->statement_count, 2u);
    EXPECT_EQ(script->statements[0].line, 5);
    EXPECT_EQ(script->statements[0].column, 3);
    EXPECT_EQ(script->statements[1].line, 6);
    EXPECT_EQ(script->statements[1].column, 5);
    EXPECT_EQ(script->sections[0].line, 4);
    EXPECT_STREQ(script->file, "t.tut");
}

TEST(ScriptParse, InPlaceIsOneSlice) {
    const Script script = read(with_statements("all_reduce x sum\nall_reduce x -> x sum"));
    EXPECT_EQ(script->statements[0].reads, script->statements[0].writes);
    EXPECT_NE(script->statements[1].reads, script->statements[1].writes);
}

TEST(ScriptParse, WithoutHeaderStatementsThereAreDefaults) {
    const Script script = read("ranks 3");
    EXPECT_EQ(script->rank_count, 3);
    EXPECT_EQ(script->capacity, 0u);
    EXPECT_EQ(script->timeout_ns, 0);
    EXPECT_FALSE(script->first_use_blocks);
    EXPECT_FALSE(script->tolerate_group_order);
    EXPECT_EQ(script->verdict.kind, TUTTI_VERDICT_OK);
    EXPECT_EQ(script->verdict.line, 0);
    EXPECT_STREQ(script->faults, "");
    EXPECT_EQ(script->group_count, 1u);
    EXPECT_STREQ(script->groups[EMU_SCRIPT_WORLD].name, "world");
    EXPECT_EQ(script->groups[EMU_SCRIPT_WORLD].rank_count, 3);
    EXPECT_STREQ(script->streams[EMU_SCRIPT_STREAM_COMPUTE].name, "compute");
    EXPECT_STREQ(script->streams[EMU_SCRIPT_STREAM_COMM].name, "comm");
    EXPECT_EQ(emu_script_device_of(script.get(), 2), 2);
}

TEST(ScriptParse, EveryHeaderStatementIsKept) {
    const Script script = read("ranks 6\n"
                               "capacity 2\n"
                               "timeout 30s\n"
                               "first-use blocks\n"
                               "tolerate group-order\n"
                               "device 1 4-5 = 0\n"
                               "device 2=3\n"
                               "verdict missing culprit 5, 0-1\n");
    EXPECT_EQ(script->capacity, 2u);
    EXPECT_EQ(script->timeout_ns, INT64_C(30000000000));
    EXPECT_TRUE(script->first_use_blocks);
    EXPECT_TRUE(script->tolerate_group_order);
    EXPECT_EQ(script->verdict.kind, TUTTI_VERDICT_MISSING);
    EXPECT_EQ(script->verdict.line, 8);
    EXPECT_EQ(set_text(script->verdict.culprits), "0-1 5");
    const int32_t devices[] = {0, 0, 3, 3, 0, 0};
    for (int32_t rank = 0; rank < 6; rank++)
        EXPECT_EQ(emu_script_device_of(script.get(), rank), devices[rank]) << rank;
}

TEST(ScriptParse, ANoteAboutTheEndOfTheRunMayStandAnywhereAtTopLevel) {
    EXPECT_EQ(read("ranks 1\nverdict wrong\nrank 0\nexit")->verdict.line, 2);
    EXPECT_EQ(read("ranks 1\nrank 0\nsync\nverdict ok\nexit")->statement_count, 2u);
    EXPECT_EQ(read("ranks 1\nrank 0\nexit\nverdict leak")->verdict.kind, TUTTI_VERDICT_LEAK);
}

TEST(ScriptParse, AFaultKeepsItsPlaceInThePlan) {
    const Script script = read("ranks 2\n"
                               "  fault join[rank=1]=2*refuse(busy)->off # why\n"
                               "\n"
                               "rank *\n"
                               "  sync\n"
                               "fault send=drop; recv[group=world,stream=comm]=hang\n");
    EXPECT_EQ(script->faults_line, 2);
    EXPECT_STREQ(script->faults, "        join[rank=1]=2*refuse(busy)->off # why\n\n\n\n"
                                 "      send=drop; recv[group=world,stream=comm]=hang");
    const tutti_fault_source source = {script->file, script->faults_line, 1};
    tutti_fault_plan *plan = nullptr;
    ASSERT_EQ(tutti_fault_plan_parse(script->faults, script->faults_bytes, &source, &plan, nullptr),
              TUTTI_OK);
    EXPECT_EQ(tutti_fault_rule_count(plan), 3u);
    EXPECT_EQ(tutti_fault_rule_text(plan, 0).line, 2);
    EXPECT_EQ(tutti_fault_rule_text(plan, 0).column, 9);
    EXPECT_EQ(tutti_fault_rule_text(plan, 2).line, 6);
    EXPECT_EQ(tutti_fault_rule_text(plan, 2).column, 18);
    tutti_fault_plan_destroy(plan);
}

TEST(ScriptParse, BlocksKnowTheirOtherEnd) {
    const Script script = read(with_statements("repeat 2\n"   // 0
                                               " start\n"     // 1
                                               "  repeat 3\n" // 2
                                               "  end\n"      // 3
                                               " end\n"       // 4
                                               " repeat 0\n"  // 5
                                               " end\n"       // 6
                                               "end\n"        // 7
                                               "start\n"      // 8
                                               "end\n"));     // 9
    const uint32_t partners[] = {7, 4, 3, 2, 1, 6, 5, 0, 9, 8};
    const emu_script_kind kinds[] = {EMU_SCRIPT_REPEAT,      EMU_SCRIPT_GROUP_START,
                                     EMU_SCRIPT_REPEAT,      EMU_SCRIPT_REPEAT_END,
                                     EMU_SCRIPT_GROUP_END,   EMU_SCRIPT_REPEAT,
                                     EMU_SCRIPT_REPEAT_END,  EMU_SCRIPT_REPEAT_END,
                                     EMU_SCRIPT_GROUP_START, EMU_SCRIPT_GROUP_END};
    const uint32_t loops[] = {0, 0, 1, 1, 0, 1, 1, 0, 0, 0};
    ASSERT_EQ(script->statement_count, 10u);
    for (uint32_t i = 0; i < 10; i++) {
        EXPECT_EQ(script->statements[i].partner, partners[i]) << i;
        EXPECT_EQ(script->statements[i].kind, kinds[i]) << i;
        EXPECT_EQ(script->statements[i].loop, loops[i]) << i;
    }
    EXPECT_EQ(script->statements[5].repeat_count, 0u);
    EXPECT_EQ(script->loop_depth, 2u);
}

TEST(ScriptParse, NamesOfStreamsAndEventsComeIntoBeingByUse) {
    const Script script = read(with_statements("sync idle\nwait never\nrecord e on busy\nsync e"));
    ASSERT_EQ(script->stream_count, 4u);
    EXPECT_STREQ(script->streams[2].name, "idle");
    EXPECT_FALSE(script->streams[2].produced);
    EXPECT_STREQ(script->streams[3].name, "busy");
    EXPECT_TRUE(script->streams[3].produced);
    EXPECT_TRUE(script->streams[EMU_SCRIPT_STREAM_COMPUTE].produced);
    EXPECT_FALSE(script->streams[EMU_SCRIPT_STREAM_COMM].produced);
    ASSERT_EQ(script->event_count, 2u);
    EXPECT_FALSE(script->events[0].produced);
    EXPECT_TRUE(script->events[1].produced);
    EXPECT_EQ(script->statements[3].event, 1u);
    EXPECT_EQ(script->statements[3].stream, EMU_SCRIPT_NONE);
}

TEST(ScriptParse, ADerivedGroupIsAGroupFromThereOn) {
    const Script script = read("ranks 4\nrank 0-1\nsplit world color 0 as half\n"
                               "rank 2-3\nsplit world color 1 as half\nbarrier in half");
    ASSERT_EQ(script->group_count, 2u);
    EXPECT_TRUE(script->groups[1].derived);
    EXPECT_EQ(script->groups[1].line, 3);
    EXPECT_EQ(script->groups[1].rank_count, 0);
    EXPECT_EQ(script->statements[0].derivation->group, 1u);
    EXPECT_EQ(script->statements[1].derivation->group, 1u);
    EXPECT_EQ(script->statements[2].group, 1u);
    EXPECT_EQ(emu_script_group_member(&script->groups[1], 0), -1);
    EXPECT_EQ(emu_script_group_world_rank(&script->groups[1], 0), -1);
}

TEST(ScriptParse, BytesThatEditorsAddDoNotMatter) {
    const Script script = read("\xEF\xBB\xBFranks 2\r\n# caf\xC3\xA9 \x01\xff\r\nrank *\r\n"
                               "  sync\t\r\n  exit  # \xF0\x9F\x8E\xB5");
    ASSERT_EQ(script->statement_count, 2u);
    EXPECT_EQ(script->statements[1].line, 5);
    EXPECT_EQ(read(std::string("ranks 2 # a\0b", 13))->rank_count, 2);
}

TEST(ScriptParse, TheFilesNameIsCopied) {
    std::string file = "some.tut";
    Reading reading = read_script("ranks 1", file.c_str());
    file.assign("xxxxxxxx");
    EXPECT_STREQ(reading.script->file, "some.tut");
    reading = read_script("ranks 1", nullptr);
    EXPECT_STREQ(reading.script->file, "script");
}

TEST(ScriptParse, NothingIsFreedTwiceOrNeedsToBe) {
    emu_script_free(nullptr);
}

} // namespace
