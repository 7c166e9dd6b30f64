// What is wrong with a script, told in one line that names the place: every kind of error, word for
// word.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/script_support.h"

namespace {

// Four ranks and two buffers; the lines start at 4. With RANKS all ranks run what follows, from
// line 5 on.
#define HEADER "ranks 4\nbuffer x f32 8\nbuffer y f32 8\n"
#define RANKS  HEADER "rank *\n"

struct ErrorCase {
    std::string text;
    const char *message; // behind the file's name
};

void expect_errors(const std::vector<ErrorCase> &cases) {
    for (const ErrorCase &one : cases)
        EXPECT_EQ(first_line(parse_error(one.text)), std::string("t.tut:") + one.message)
            << one.text;
}

TEST(ScriptErrors, OfTheFirstLine) {
    expect_errors({
        {"", "1:1: expected 'ranks' and their number, before all else, found end of file"},
        {"\n\n# nothing\n",
         "4:1: expected 'ranks' and their number, before all else, found end of file"},
        {"buffer x f32 8",
         "1:1: expected 'ranks' and their number, before all else, found 'buffer'"},
        {"5", "1:1: expected 'ranks' and their number, before all else, found '5'"},
        {"ranks", "1:6: expected the number of ranks, found end of line"},
        {"ranks x", "1:7: expected the number of ranks, found 'x'"},
        {"ranks 0", "1:7: expected the number of ranks from 1 to 1048576, found '0'"},
        {"ranks 1048577", "1:7: expected the number of ranks from 1 to 1048576, found '1048577'"},
        {"ranks 99999999999999999999999",
         "1:7: expected the number of ranks from 1 to 1048576, found '99999999999999999999999'"},
        {"ranks -1", "1:7: expected the number of ranks, found '-'"},
        {"ranks 2x", "1:7: expected the number of ranks, found '2x'"},
        {"ranks 2 3", "1:9: expected end of line, found '3'"},
        {"ranks 2\nranks 2", "2:1: 'ranks' is there already; a script says it once"},
        {"rank s 2", "1:1: expected 'ranks' and their number, before all else, found 'rank'"},
    });
}

TEST(ScriptErrors, OfWords) {
    expect_errors({
        {RANKS "al_reduce x sum",
         "5:1: expected a statement, found 'al_reduce'; did you mean 'all_reduce'?"},
        {RANKS "frobnicate x", "5:1: expected a statement, found 'frobnicate'"},
        {RANKS "[", "5:1: expected a statement, found '['"},
        {RANKS "*", "5:1: expected a statement, found '*'"},
        {RANKS "7", "5:1: expected a statement, found '7'"},
        {RANKS "\001", "5:1: expected a statement, found byte 0x01"},
        {"ranks 2\n\377", "2:1: expected a statement, found byte 0xff"},
        {std::string(RANKS "sync \000", sizeof(RANKS "sync \000") - 1),
         "5:6: expected a stream, an event or a group, found byte 0x00"},
        {RANKS "sync @", "5:6: expected a stream, an event or a group, found '@'"},
        {RANKS "exit now", "5:6: expected end of line, found 'now'"},
        {RANKS "sync \015 x", "5:6: expected a stream, an event or a group, found byte 0x0d"},
        {HEADER "send x to 1",
         "4:1: 'send' needs ranks that run it: write 'rank *' on a line above it"},
        {"ranks 2\nend", "2:1: 'end' needs ranks that run it: write 'rank *' on a line above it"},
        {"ranks 2\nrank *\n  snyc",
         "3:3: expected a statement, found 'snyc'; did you mean 'sync'?"},
    });
}

TEST(ScriptErrors, OfHeaderStatements) {
    expect_errors({
        {RANKS "capacity 1", "5:1: 'capacity' stands before the first 'rank' (line 4); after it "
                             "there are only 'buffer', 'fault', 'rank', 'verdict' and statements"},
        {RANKS "group g = 0", "5:1: 'group' stands before the first 'rank' (line 4); after it "
                              "there are only 'buffer', 'fault', 'rank', 'verdict' and statements"},
        {RANKS "timeout 1s", "5:1: 'timeout' stands before the first 'rank' (line 4); after it "
                             "there are only 'buffer', 'fault', 'rank', 'verdict' and statements"},
        {RANKS "device 0 = 1",
         "5:1: 'device' stands before the first 'rank' (line 4); after it there are only 'buffer', "
         "'fault', 'rank', 'verdict' and statements"},
        {RANKS "tolerate group-order",
         "5:1: 'tolerate' stands before the first 'rank' (line 4); after it there are only "
         "'buffer', 'fault', 'rank', 'verdict' and statements"},
        {RANKS "first-use blocks",
         "5:1: 'first-use' stands before the first 'rank' (line 4); after it there are only "
         "'buffer', 'fault', 'rank', 'verdict' and statements"},
        {HEADER "capacity",
         "4:9: expected the number of collectives that a device runs at once, found end of line"},
        {HEADER "capacity 0", "4:10: expected the number of collectives that a device runs at once "
                              "from 1 to 1000000, found '0'"},
        {HEADER "capacity 1\ncapacity 1", "5:1: 'capacity' is there already (line 4)"},
        {HEADER "timeout 5", "4:9: expected a duration such as 5ms or 30s, found '5'"},
        {HEADER "timeout 30 s", "4:9: expected a duration such as 5ms or 30s, found '30'"},
        {HEADER "timeout soon", "4:9: expected a duration such as 5ms or 30s, found 'soon'"},
        {HEADER "timeout 0s",
         "4:9: expected a time limit above 0; without 'timeout' there is none"},
        {HEADER "timeout 999999h", "4:9: expected a duration in whole nanoseconds, of a hundred "
                                   "years at most, found '999999h'"},
        {HEADER "timeout 1.5ns", "4:9: expected a duration in whole nanoseconds, of a hundred "
                                 "years at most, found '1.5ns'"},
        {HEADER "timeout 1s\ntimeout 1s", "5:1: 'timeout' is there already (line 4)"},
        {HEADER "first-use", "4:10: expected 'blocks', found end of line"},
        {HEADER "first-use block", "4:11: expected 'blocks', found 'block'"},
        {HEADER "tolerate", "4:9: expected 'group-order', found end of line"},
        {HEADER "tolerate group order", "4:10: expected 'group-order', found 'group'"},
        {HEADER "first use blocks", "4:1: expected a statement, found 'first'"},
        {HEADER "device", "4:7: expected the ranks that use the device, found end of line"},
        {HEADER "device 0", "4:9: expected '=', found end of line"},
        {HEADER "device 0 = 4", "4:12: rank 4 is outside of 0 to 3"},
        {HEADER "device 0 = *", "4:12: expected the rank whose device is used, found '*'"},
        {HEADER "device 0-2 = 3\ndevice 3 = 0\ndevice 1 = 0",
         "6:8: rank 1 has a device already (line 4)"},
    });
}

TEST(ScriptErrors, OfRanks) {
    expect_errors({
        {HEADER "rank",
         "4:5: expected the ranks that run what follows ('*', 0 2, 1-3), found end of line"},
        {HEADER "rank all",
         "4:6: expected the ranks that run what follows ('*', 0 2, 1-3), found 'all'"},
        {HEADER "rank 4", "4:6: rank 4 is outside of 0 to 3"},
        {HEADER "rank 0 5", "4:8: rank 5 is outside of 0 to 3"},
        {HEADER "rank 3-1", "4:6: the range 3-1 ends before it starts"},
        {HEADER "rank 0-4", "4:8: rank 4 is outside of 0 to 3"},
        {HEADER "rank 0-", "4:8: expected the last rank of the range, found end of line"},
        {HEADER "rank -1",
         "4:6: expected the ranks that run what follows ('*', 0 2, 1-3), found '-'"},
        {HEADER "rank 0,",
         "4:8: expected the ranks that run what follows ('*', 0 2, 1-3), found end of line"},
        {HEADER "rank 0,,1",
         "4:8: expected the ranks that run what follows ('*', 0 2, 1-3), found ','"},
        {HEADER "rank 1x",
         "4:6: expected the ranks that run what follows ('*', 0 2, 1-3), found '1x'"},
        {HEADER "rank 99999999999999999999999",
         "4:6: rank 99999999999999999999... is outside of 0 to 3"},
        {HEADER "rank 0 = 1", "4:8: expected end of line, found '='"},
        {HEADER "rank * sync", "4:8: expected end of line, found 'sync'"},
    });
}

TEST(ScriptErrors, OfNames) {
    expect_errors({
        {HEADER "buffer", "4:7: expected a name for the buffer, found end of line"},
        {HEADER "buffer 5 f32 8", "4:8: expected a name for the buffer, found '5'"},
        {HEADER "buffer send f32 8",
         "4:8: expected a name for the buffer, found 'send', a word of the language"},
        {HEADER "buffer a-b f32 8", "4:8: expected a name for the buffer, found 'a-b'; names are "
                                    "made of letters, digits and _"},
        {HEADER "buffer x f32 8", "4:8: rank 0 has a buffer 'x' already (line 2)"},
        {HEADER "buffer world f32 8", "4:8: 'world' is already a group"},
        {HEADER "buffer comm f32 8", "4:8: 'comm' is already a stream"},
        {HEADER "buffer nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn f32 8",
         "4:8: the name has 64 bytes; at most 63 are read"},
        {HEADER "group x = 0", "4:7: 'x' is already a buffer (line 2)"},
        {HEADER "group world = 0", "4:7: 'world' is already a group"},
        {HEADER "group g = 0\ngroup g = 1", "5:7: 'g' is already a group (line 4)"},
        {HEADER "group sum = 0",
         "4:7: expected a name for the group, found 'sum', a word of the language"},
        {RANKS "send z to 1", "5:6: unknown buffer 'z'; there are x and y"},
        {RANKS "send xx to 1", "5:6: unknown buffer 'xx'; did you mean 'x'?"},
        {RANKS "free pair", "5:6: unknown buffer 'pair'; there are x and y"},
        {RANKS "send world to 1", "5:6: 'world' is a group, not a buffer"},
        {RANKS "join x", "5:6: 'x' is a buffer (line 2), not a group"},
        {RANKS "join wolrd", "5:6: unknown group 'wolrd'; did you mean 'world'?"},
        {RANKS "join other", "5:6: unknown group 'other'; there is world"},
        {RANKS "sync x", "5:6: 'x' is a buffer (line 2), not a stream, an event or a group"},
        {RANKS "kernel on x", "5:11: 'x' is a buffer (line 2), not a stream"},
        {RANKS "record comm", "5:8: 'comm' is a stream, not an event"},
        {RANKS "record e\nsync on e",
         "6:6: expected a stream, an event or a group, found 'on', a word of the language"},
        {RANKS "kernel on world", "5:11: 'world' is a group, not a stream"},
        {RANKS "record e\nall_reduce x sum on e", "6:21: 'e' is an event (line 5), not a stream"},
        {RANKS "wait world", "5:6: 'world' is a group, not an event"},
        {RANKS "split world color 0 as x", "5:24: 'x' is already a buffer (line 2)"},
        {RANKS "split world color 0 as world", "5:24: 'world' is already a group"},
        {"ranks 2\nrank *\nsend data to 1", "3:6: unknown buffer 'data'; no buffer is declared"},
        {"ranks 2\nbuffer alpha f32 1\nbuffer beta f32 1\nbuffer gamma f32 1\nrank *\nsend q to 1",
         "6:6: unknown buffer 'q'; there are alpha, beta and gamma"},
        {"ranks 2\nbuffer b1 f32 1\nbuffer b2 f32 1\nbuffer b3 f32 1\nbuffer b4 f32 1\nbuffer b5 "
         "f32 1\nbuffer b6 f32 1\nrank *\nsend qqqq to 1",
         "9:6: unknown buffer 'qqqq'; there are b1, b2, b3, b4 and 2 more"},
    });
}

TEST(ScriptErrors, OfBuffers) {
    expect_errors({
        {HEADER "buffer z",
         "4:9: expected an element type such as f32, bf16 or i64, found end of line"},
        {HEADER "buffer z f33 8",
         "4:10: expected an element type such as f32, bf16 or i64, found 'f33'"},
        {HEADER "buffer z f32", "4:13: expected the number of elements, found end of line"},
        {HEADER "buffer z f32 -1", "4:14: expected the number of elements, found '-'"},
        {HEADER "buffer z f32 x", "4:14: expected the number of elements, found 'x'"},
        {HEADER "buffer z f64 137438953473",
         "4:14: expected the number of elements from 0 to 137438953472, found '137438953473'"},
        {HEADER "buffer z f32 8 zero", "4:16: expected '=' or end of line, found 'zero'"},
        {HEADER "buffer z f32 8 =",
         "4:17: expected numbers, 'zero', 'rank', 'iota' or 'unset', found end of line"},
        {HEADER "buffer z f32 8 = one",
         "4:18: expected numbers, 'zero', 'rank', 'iota' or 'unset', found 'one'"},
        {HEADER "buffer z f32 3 = 1 2", "4:18: 2 values for 3 elements"},
        {HEADER "buffer z f32 3 = 1 2 3 4", "4:18: 4 values for 3 elements"},
        {HEADER "buffer z f32 0 = 1 2", "4:18: 2 values for 0 elements"},
        {HEADER "buffer z f32 2 = 1,", "4:20: expected a number, found end of line"},
        {HEADER "buffer z f32 2 = 1 zero", "4:20: expected a number, found 'zero'"},
        {HEADER "buffer z f32 2 = zero zero", "4:23: expected end of line, found 'zero'"},
        {HEADER "buffer z i8 1 = 128",
         "4:17: expected a number from -128 to 127 for i8, found '128'"},
        {HEADER "buffer z i8 1 = -129",
         "4:17: expected a number from -128 to 127 for i8, found '-129'"},
        {HEADER "buffer z u8 1 = -1", "4:17: expected a number from 0 to 255 for u8, found '-1'"},
        {HEADER "buffer z u64 1 = 18446744073709551616",
         "4:18: expected a number from 0 to 18446744073709551615 for u64, found "
         "'18446744073709551616'"},
        {HEADER "buffer z i64 1 = -9223372036854775809",
         "4:18: expected a number from -9223372036854775808 to 9223372036854775807 for i64, found "
         "'-9223372036854775809'"},
        {HEADER "buffer z i32 1 = 1.5", "4:18: expected a whole number for i32, found '1.5'"},
        {HEADER "buffer z i32 1 = nan", "4:18: expected a whole number for i32, found 'nan'"},
        {HEADER "buffer z i32 1 = -inf", "4:18: expected a whole number for i32, found '-inf'"},
        {HEADER "buffer z f32 1 = - 1", "4:18: expected a number, found '-'"},
        {HEADER "buffer z f32 1 = -nan", "4:19: expected a number, found 'nan'"},
        {HEADER "buffer z f32 1 = -", "4:19: expected a number, found end of line"},
        {HEADER "buffer z f32 1 = 1e999",
         "4:18: expected a number below 1.8e308, or inf, found '1e999'"},
        {HEADER "buffer z f32 1 = 1..2", "4:18: expected a number, found '1..2'"},
        {HEADER "buffer z f32 1 = 0x10", "4:18: expected a number, found '0x10'"},
        {HEADER "buffer z bool 2 = 1",
         "4:19: expected 'zero' or 'unset': elements of type bool have no numbers in scripts"},
        {HEADER "buffer z tf32 2 = rank",
         "4:19: expected 'zero' or 'unset': elements of type tf32 have no numbers in scripts"},
        {"ranks 4\nrank 0-1\nbuffer z f32 8\nrank 1 3\nbuffer z f32 8",
         "5:8: rank 1 has a buffer 'z' already (line 3)"},
        {"ranks 4\nbuffer z f32 8\nrank 3\n buffer z f32 8",
         "4:9: rank 3 has a buffer 'z' already (line 2)"},
        {RANKS "repeat 2\nbuffer z f32 8\nend",
         "6:1: expected 'end' for the 'repeat' of line 5, found 'buffer'"},
    });
}

TEST(ScriptErrors, OfSlices) {
    expect_errors({
        {RANKS "send x[ to 1", "5:9: expected the first element, found 'to'"},
        {RANKS "send x[] to 1", "5:8: expected the first element, found ']'"},
        {RANKS "send x[a] to 1", "5:8: expected the first element, found 'a'"},
        {RANKS "send x[1 to 1", "5:10: expected ':' or ']', found 'to'"},
        {RANKS "send x[1:] to 1", "5:10: expected the element behind the last one, found ']'"},
        {RANKS "send x[:1] to 1", "5:8: expected the first element, found ':'"},
        {RANKS "send x[1:2:3] to 1", "5:11: expected ']', found ':'"},
        {RANKS "send x[5:4] to 1", "5:8: the slice ends before it starts"},
        {RANKS "send x[0:9] to 1", "5:8: the slice is outside of 'x', which has 8 elements"},
        {RANKS "send x[8] to 1", "5:8: the slice is outside of 'x', which has 8 elements"},
        {RANKS "send x[9:9] to 1", "5:8: the slice is outside of 'x', which has 8 elements"},
        {RANKS "send x[0:18446744073709551615] to 1",
         "5:8: the slice is outside of 'x', which has 8 elements"},
        {RANKS "send x[18446744073709551616] to 1",
         "5:8: expected the first element from 0 to 18446744073709551615, found "
         "'18446744073709551616'"},
        {RANKS "free x[0:8]", "5:7: expected end of line, found '['; a buffer is freed as a whole"},
        {RANKS "free x[8]", "5:7: expected end of line, found '['; a buffer is freed as a whole"},
        {"ranks 4\nrank 0\nbuffer z f32 8\nrank 1\nbuffer z f32 6\nrank 0-1\nsend z[0:8] to 1",
         "7:8: the slice is outside of 'z', which has 6 elements on rank 1"},
    });
}

TEST(ScriptErrors, OfStatements) {
    expect_errors({
        {RANKS "all_reduce", "5:11: expected a buffer, found end of line"},
        {RANKS "all_reduce x",
         "5:13: expected a reduction (sum, mean, prod, min or max), found end of line"},
        {RANKS "all_reduce x -> sum",
         "5:17: expected a buffer, found 'sum', a word of the language"},
        {RANKS "all_reduce x -> y",
         "5:18: expected a reduction (sum, mean, prod, min or max), found end of line"},
        {RANKS "all_reduce x add",
         "5:14: expected a reduction (sum, mean, prod, min or max), found 'add'"},
        {RANKS "all_reduce x sum max",
         "5:18: a reduction (sum, mean, prod, min or max) is there already"},
        {RANKS "all_reduce x sum in", "5:20: expected a group, found end of line"},
        {RANKS "all_reduce x sum in world in world", "5:27: 'in' is there already"},
        {RANKS "all_reduce x sum on s1 on s2", "5:24: 'on' is there already"},
        {RANKS "all_reduce x sum to 1", "5:18: expected 'in', 'on' or end of line, found 'to'"},
        {RANKS "all_reduce x y sum",
         "5:14: expected a reduction (sum, mean, prod, min or max), found 'y'"},
        {RANKS "all_gather x sum", "5:14: expected '->' and a destination, found 'sum'"},
        {RANKS "all_gather x -> y sum", "5:19: expected 'in', 'on' or end of line, found 'sum'"},
        {RANKS "broadcast x", "5:12: expected 'root', found end of line"},
        {RANKS "reduce x sum", "5:13: expected 'root', found end of line"},
        {RANKS "reduce x root 0",
         "5:16: expected a reduction (sum, mean, prod, min or max), found end of line"},
        {RANKS "barrier x", "5:9: expected 'in', 'on' or end of line, found 'x'"},
        {RANKS "send x", "5:7: expected 'to', found end of line"},
        {RANKS "send x to", "5:10: expected the receiver's rank, found end of line"},
        {RANKS "send x to 4", "5:11: rank 4 is outside of 0 to 3"},
        {RANKS "send x to all", "5:11: expected the receiver's rank, found 'all'"},
        {RANKS "send x from 1", "5:8: expected 'to', found 'from'"},
        {RANKS "recv x to 1", "5:8: expected 'from', found 'to'"},
        {RANKS "send x to 1 to 2", "5:13: 'to' is there already"},
        {RANKS "send x to 1 sum", "5:13: expected 'in', 'on' or end of line, found 'sum'"},
        {RANKS "record", "5:7: expected an event, found end of line"},
        {RANKS "record e on", "5:12: expected a stream, found end of line"},
        {RANKS "wait", "5:5: expected an event, found end of line"},
        {RANKS "kernel x",
         "5:8: expected 'reads', 'writes', 'on', 'for' or end of line, found 'x'"},
        {RANKS "kernel reads", "5:13: expected a buffer, found end of line"},
        {RANKS "kernel reads on s1", "5:14: expected a buffer, found 'on', a word of the language"},
        {RANKS "kernel reads x reads y", "5:16: 'reads' is there already"},
        {RANKS "kernel reads x,", "5:16: expected a buffer, found end of line"},
        {RANKS "kernel for", "5:11: expected a duration such as 5ms or 30s, found end of line"},
        {RANKS "kernel for 3", "5:12: expected a duration such as 5ms or 30s, found '3'"},
        {RANKS "sync s1 s2", "5:9: expected end of line, found 's2'"},
        {RANKS "poll", "5:5: expected a stream, an event or a group, found end of line"},
        {RANKS "host", "5:5: expected 'reads' or 'writes', found end of line"},
        {RANKS "host x", "5:6: expected 'reads' or 'writes', found 'x'"},
        {RANKS "host reads x on s1", "5:14: expected 'writes' or end of line, found 'on'"},
        {RANKS "free", "5:5: expected a buffer, found end of line"},
        {RANKS "sleep", "5:6: expected a duration such as 5ms or 30s, found end of line"},
        {RANKS "sleep long", "5:7: expected a duration such as 5ms or 30s, found 'long'"},
        {RANKS "join", "5:5: expected a group, found end of line"},
        {RANKS "join world blocking",
         "5:12: expected 'nonblocking' or end of line, found 'blocking'"},
        {RANKS "leave", "5:6: expected a group, found end of line"},
        {RANKS "split world as half", "5:20: expected 'color', found end of line"},
        {RANKS "split world color 0", "5:20: expected 'as', found end of line"},
        {RANKS "split world color -1 as a", "5:19: expected a color, found '-'"},
        {RANKS "split world color red as a", "5:19: expected a color, found 'red'"},
        {RANKS "split world color 0 key x as a", "5:25: expected a key, found 'x'"},
        {RANKS "split world color 0 key - 1 as a", "5:25: expected a key, found '-'"},
        {RANKS "shrink world as rest", "5:21: expected 'without', found end of line"},
        {RANKS "shrink world without as rest", "5:22: expected the ranks to leave out, found 'as'"},
        {RANKS "shrink world without 4 as rest", "5:22: rank 4 is outside of 0 to 3"},
        {RANKS "shrink world without 2", "5:23: expected 'as', found end of line"},
        {RANKS "exit 1", "5:6: expected end of line, found '1'"},
    });
}

TEST(ScriptErrors, OfBlocks) {
    expect_errors({
        {RANKS "end", "5:1: 'end' closes nothing: no 'repeat' or 'start' is open here"},
        {RANKS "start\nsync\n", "7:1: expected 'end' for the 'start' of line 5, found end of file"},
        {RANKS "repeat 3\n sync",
         "6:6: expected 'end' for the 'repeat' of line 5, found end of file"},
        {RANKS "repeat 3\nstart\nend\nrank 0\nend",
         "8:1: expected 'end' for the 'repeat' of line 5, found 'rank'"},
        {RANKS "start\nverdict ok\nend",
         "6:1: expected 'end' for the 'start' of line 5, found 'verdict'"},
        {RANKS "repeat", "5:7: expected the number of rounds, found end of line"},
        {RANKS "repeat x", "5:8: expected the number of rounds, found 'x'"},
        {RANKS "repeat -1", "5:8: expected the number of rounds, found '-'"},
        {RANKS "repeat 1000000001",
         "5:8: expected the number of rounds from 0 to 1000000000, found '1000000001'"},
        {RANKS "repeat 3 times\nend", "5:10: expected end of line, found 'times'"},
        {RANKS "start\nend\nend", "7:1: 'end' closes nothing: no 'repeat' or 'start' is open here"},
        {RANKS "start\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart"
               "\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstar"
               "t\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\nstart\n",
         "37:1: at most 32 'repeat' and 'start' are open at once"},
    });
}

TEST(ScriptErrors, OfExpectations) {
    expect_errors({
        {RANKS "expect", "5:7: expected a buffer, found end of line"},
        {RANKS "expect x", "5:9: expected '=' and the values, found end of line"},
        {RANKS "expect x =", "5:11: expected numbers, 'zero', 'rank' or 'iota', found end of line"},
        {RANKS "expect x = 1 2", "5:12: 2 values for 8 elements"},
        {RANKS "expect x[0:2] = 1 2 3", "5:17: 3 values for 2 elements"},
        {RANKS "expect x = unset",
         "5:12: expected numbers, 'zero', 'rank' or 'iota', found 'unset'"},
        {RANKS "expect x = true", "5:12: expected numbers, 'zero', 'rank' or 'iota', found 'true'"},
        {RANKS "expect q = 1", "5:8: unknown buffer 'q'; there are x and y"},
        {"ranks 2\nbuffer z bool 2\nrank *\nexpect z = 1",
         "4:12: expected 'zero': elements of type bool have no numbers in scripts"},
        {"ranks 2\nrank 0\nbuffer z i8 2\nrank 1\nbuffer z f32 2\nrank *\nexpect z = 1.5",
         "7:12: expected a whole number for i8, found '1.5'"},
        {"ranks 2\nrank 0\nbuffer z f32 2\nrank 1\nbuffer z f32 3\nrank *\nexpect z = 1 2",
         "7:12: 2 values for 2 elements on some ranks and 3 on others"},
    });
}

TEST(ScriptErrors, OfWhatDoesNotFitTogether) {
    expect_errors({
        {"ranks 4\nrank 0-1\nbuffer z f32 8\nrank *\nsend z to 1",
         "5:6: rank 2 has no buffer 'z'; line 3 declares it for others"},
        {"ranks 4\nbuffer x f32 8\nbuffer y bf16 8\nrank 1-2\nall_reduce x -> y sum",
         "5:17: 'x' is f32, but 'y' is bf16 on rank 1"},
        {"ranks 4\nbuffer x f32 8\nrank 0-2\nbuffer y f32 8\nrank 3\nbuffer y f16 8\nrank "
         "*\nall_reduce x -> y sum",
         "8:17: 'x' is f32, but 'y' is f16 on rank 3"},
    });
}

TEST(ScriptErrors, OfVerdicts) {
    expect_errors({
        {HEADER "verdict",
         "4:8: expected a verdict: ok, mismatch, missing, deadlock, refused, timeout, misuse, "
         "killed, wrong, race, overlap, freed, undefined, leak or divergence, found end of line"},
        {HEADER "verdict fine",
         "4:9: expected a verdict: ok, mismatch, missing, deadlock, refused, timeout, misuse, "
         "killed, wrong, race, overlap, freed, undefined, leak or divergence, found 'fine'"},
        {HEADER "verdict 5",
         "4:9: expected a verdict: ok, mismatch, missing, deadlock, refused, timeout, misuse, "
         "killed, wrong, race, overlap, freed, undefined, leak or divergence, found '5'"},
        {HEADER "verdict ok\nverdict ok", "5:1: 'verdict' is there already (line 4)"},
        {HEADER "verdict mismatch blame 1",
         "4:18: expected 'culprit' or end of line, found 'blame'"},
        {HEADER "verdict mismatch culprit", "4:25: expected the ranks to blame, found end of line"},
        {HEADER "verdict mismatch culprit 4", "4:26: rank 4 is outside of 0 to 3"},
        {HEADER "verdict ok culprit 1", "4:12: an ok script has no culprit"},
        {HEADER "verdict unresponsive",
         "4:9: expected a verdict: ok, mismatch, missing, deadlock, refused, timeout, misuse, "
         "killed, wrong, race, overlap, freed, undefined, leak or divergence, found "
         "'unresponsive'"},
    });
}

TEST(ScriptErrors, OfFaults) {
    expect_errors({
        {HEADER "fault",
         "4:6: expected a rule such as all_reduce[rank=1]=delay(5ms), found end of line"},
        {HEADER "fault # none",
         "4:7: expected a rule such as all_reduce[rank=1]=delay(5ms), found end of line"},
        {HEADER "fault all_reduce", "4:17: expected \"[\", or \"=\" and an action, found the end"},
        {HEADER "fault all_reduc=hang",
         "4:7: expected a fault point, found \"all_reduc\"; did you mean \"all_reduce\"?"},
        {HEADER "  fault all_reduce[rank=1]=delay(5)",
         "4:35: expected a unit of time (ns, us, ms, s, m, min, h), found \")\""},
        {HEADER "fault all_reduce[rank=4]=hang", "4:7: rank 4 of the fault is outside of 0 to 3"},
        {HEADER "fault send[peer=2-7]=hang", "4:7: peer 7 of the fault is outside of 0 to 3"},
        {HEADER "fault all_reduce[group=pair]=hang", "4:7: unknown group 'pair' in a fault"},
        {HEADER "fault send=hang\n\nfault send[stream=s1]=hang",
         "6:7: no statement uses the fault's stream 's1'"},
        {HEADER "fault send[rank=0=hang", "4:18: expected \",\" or \"]\", found \"=\""},
    });
}

TEST(ScriptErrors, OfWhatComesLater) {
    expect_errors({
        {RANKS "broadcast x root 0",
         "5:1: 'broadcast' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "reduce x sum root 0",
         "5:1: 'reduce' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "all_gather x -> y",
         "5:1: 'all_gather' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "reduce_scatter x -> y sum",
         "5:1: 'reduce_scatter' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "all_to_all x -> y",
         "5:1: 'all_to_all' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "gather x -> y root 0",
         "5:1: 'gather' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "scatter x -> y root 0",
         "5:1: 'scatter' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "barrier",
         "5:1: 'barrier' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "split world color 0 as half",
         "5:1: 'split' is not in this version yet; it has join, leave and abort"},
        {RANKS "shrink world without 1 as rest",
         "5:1: 'shrink' is not in this version yet; it has join, leave and abort"},
        {HEADER "verdict divergence culprit 1",
         "4:9: verdict 'divergence' is not in this version yet; it has ok, mismatch, missing, "
         "deadlock, refused, timeout, misuse, killed, wrong, race, overlap, freed, undefined and "
         "leak"},
        {RANKS "barrier\nsend x to 1\nall_gather x -> y",
         "5:1: 'barrier' is not in this version yet; it has all_reduce, send and recv"},
        {RANKS "barrier\nsend x", "6:7: expected 'to', found end of line"},
    });
}

} // namespace
