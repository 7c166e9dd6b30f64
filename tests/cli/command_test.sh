#!/bin/bash
# The command `tutti` as a person or a script uses it: exit statuses, what is printed where, odd
# input. Every case is a line: `expect STATUS 'text that must be printed' command...`.
set -u

tutti=tools/tutti
work=$TEST_TMPDIR
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS TEXT COMMAND...: runs a command, checks its status and that it prints TEXT.
expect() {
    local wanted=$1 text=$2 status output
    shift 2
    output=$("$@" 2>&1 </dev/null)
    status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: ended with $status, not $wanted: $output"
    case $output in
    *"$text"*) ;;
    *) fail "$*: does not print '$text': $output" ;;
    esac
}

script() {
    printf '%s\n' "${@:2}" >"$work/$1"
}

script good.tut 'ranks 2' 'buffer x f32 4 = 1' 'rank *' 'all_reduce x sum' 'sync' 'expect x = 2'
script bad.tut 'ranks 2' 'buffer x f32 4' 'rank 0' 'all_reduce x sum' 'sync'
script expects.tut 'ranks 2' 'rank *' 'sync' 'verdict deadlock'
script line7.tut 'ranks 2' 'buffer x f32 4' '' '# a comment' 'rank *' 'sync' '  all_reduce x smu'
script later.tut 'ranks 2' 'buffer x f32 4' 'rank *' 'all_gather x -> x'
: >"$work/empty.tut"
head -c 100000 /dev/zero | tr '\0' '\377' >"$work/bytes.tut"
printf 'ranks 2\0\nrank *\n' >"$work/nul.tut"

# What the statuses say: 0 as it must, 1 otherwise, 2 cannot be read; the worst of all.
expect 0 'ok' $tutti run "$work/good.tut"
expect 1 'culprit 1' $tutti run "$work/bad.tut"
expect 1 'deadlock' $tutti run "$work/expects.tut"
expect 2 'line7.tut:7:16: expected' $tutti run "$work/line7.tut"
expect 2 "'all_gather' is not in this version yet" $tutti run "$work/later.tut"
expect 2 '' $tutti run "$work/good.tut" "$work/line7.tut" "$work/bad.tut"
expect 0 '' $tutti run --quiet "$work/good.tut"

# Files that are none.
expect 2 'empty.tut:1:1:' $tutti run "$work/empty.tut"
expect 2 'bytes.tut:1:' $tutti run "$work/bytes.tut"
expect 2 'nul.tut:1:' $tutti run "$work/nul.tut"
expect 2 'cannot be read' $tutti run "$work/absent.tut"
expect 2 "$work" $tutti run "$work"

# Many schedules, and one of them again.
script early.tut 'ranks 2' 'buffer x f32 4' 'rank *' 'join world nonblocking' 'poll world' \
    'all_reduce x sum' 'sync'
expect 0 '1 classes, complete' $tutti explore "$work/good.tut"
expect 1 'found by plain' $tutti explore "$work/bad.tut"
expect 1 '"complete":' $tutti explore --json "$work/early.tut"
expect 0 '' $tutti explore --quiet --shard 1/2 --walks 10 "$work/good.tut"
expect 0 'even walk: 7 schedules' $tutti explore --classes 0 --sweep 0 --walks 7 "$work/good.tut"
expect 2 'line7.tut:7:16' $tutti explore "$work/line7.tut"
expect 2 'cannot be read' $tutti explore "$work/absent.tut"
expect 2 '--shard' $tutti explore --shard 2/2 "$work/good.tut"
expect 0 'faults: 10' $tutti explore --sweep 10 "$work/good.tut"
expect 2 '--walks' $tutti explore --walks many "$work/good.tut"
expect 2 'expected a script' $tutti explore
expect 1 'misuse' $tutti explore --save "$work/small.tut" "$work/early.tut"
grep -q 'tutti replay' "$work/small.tut" || fail "--save writes no script"
expect 1 'misuse' $tutti explore "$work/small.tut"
expect 2 'cannot be written' $tutti explore --save "$work/absent/small.tut" "$work/early.tut"
expect 0 'ok' $tutti replay "$work/good.tut" --choices ''
expect 0 'ok' $tutti replay "$work/good.tut" --choices r1
expect 1 'divergence' $tutti replay "$work/good.tut" --choices d1
expect 2 'choices:1:1: expected' $tutti replay "$work/good.tut" --choices x
expect 2 'expected --choices' $tutti replay "$work/good.tut"
expect 2 'a schedule is of one script' $tutti replay --choices r1 "$work/good.tut" "$work/bad.tut"
expect 2 'both give the schedule' $tutti replay --choices r1 --seed 2 "$work/good.tut"
expect 1 'tutti replay' $tutti replay "$work/bad.tut" --choices r1

# Options.
expect 0 'run' $tutti --help
expect 0 'FILE' $tutti run --help
expect 0 'tutti' $tutti --version
expect 2 '' $tutti
expect 2 'runn' $tutti runn "$work/good.tut"
expect 2 'not in this version yet' $tutti explain "$work/good.tut"
expect 0 'ok' $tutti run --seed 7 "$work/good.tut"
expect 0 'ok' $tutti run --executor threads "$work/good.tut"
expect 1 'killed' $tutti run --faults 'all_reduce[rank=1]=kill' "$work/good.tut"
expect 2 '--faults:1:1' $tutti run --faults 'x' "$work/good.tut"
expect 1 'missing, culprit 1' $tutti run --faults 'all_reduce[rank=1]=drop' "$work/good.tut"
for bad in '--seed x' '--seed -1' '--seed 99999999999999999999' '--executor fast' '--nonsense'; do
    # shellcheck disable=SC2086
    expect 2 '' $tutti run $bad "$work/good.tut"
done

# The environment's plan is the same text.
TUTTI_FAULTS='all_reduce[rank=1]=kill' expect 1 'killed' $tutti run "$work/good.tut"
TUTTI_FAULTS='join[' expect 2 'TUTTI_FAULTS:1:6' $tutti run "$work/good.tut"

# JSON: one object per script, with what a program needs.
expect 1 '"verdict":"missing","culprits":[1]' $tutti run --json "$work/bad.tut"
expect 1 '"as_expected":false' $tutti run --json "$work/bad.tut"
expect 2 '"line":7' $tutti run --json "$work/line7.tut"
expect 0 '"trace_hash":"' $tutti run --json "$work/good.tut"

# A trace: the same from both executors, and every time.
$tutti run --quiet --trace "$work/one.jsonl" "$work/good.tut" || fail "no trace was written"
$tutti run --quiet --executor threads --trace "$work/two.jsonl" "$work/good.tut"
[ -s "$work/one.jsonl" ] || fail "the trace is empty"
cmp "$work/one.jsonl" "$work/two.jsonl" || fail "two executors, two traces"
expect 2 'trace' $tutti run --trace "$work/absent/trace.jsonl" "$work/good.tut"

# The line that repeats a run does repeat it.
repeat=$($tutti run --verbose --seed 3 --faults 'all_reduce[rank=1]=kill' "$work/good.tut" |
    sed -n 's/^repeat *tutti //p')
first=$($tutti run --json --seed 3 --faults 'all_reduce[rank=1]=kill' "$work/good.tut")
again=$(eval "$tutti $repeat --json")
[ "$first" = "$again" ] || fail "'$repeat' gives something else"

# Names that a shell, an option parser, JSON or a terminal could misread.
odd="$work/it's a b.tut"
cp "$work/bad.tut" "$odd"
repeat=$($tutti run "$odd" | sed -n 's/^repeat *tutti //p')
expect 1 "a b.tut: missing" bash -c "$tutti $repeat"
cp "$work/bad.tut" "$work/-x.tut"
tool=$PWD/$tutti
(cd "$work" && expect 1 'tutti run ./-x.tut' "$tool" run -- -x.tut && exit "$failures") || failures=1
cp "$work/bad.tut" "$work/"$'\377\033[31m.tut'
expect 1 $'\357\277\275\\u001' $tutti run --json "$work/"$'\377\033[31m.tut'
$tutti run "$work/"$'\377\033[31m.tut' | grep -q $'\033' && fail "a name moves the cursor"

# Standard input, once.
[ "$($tutti run - <"$work/good.tut")" = "ok    -: ok" ] || fail "does not read standard input"
expect 2 'can be read once' $tutti run - -

# What is no text, has no end, or is no command.
expect 2 'more than the 16 MiB' $tutti run /dev/zero
expect 2 "did you mean 'run'" $tutti rnu "$work/good.tut"
expect 2 "write 'tutti run' before it" $tutti "$work/good.tut"
expect 2 'neither --json nor --verbose' $tutti run --quiet --json "$work/good.tut"

# A trace replaces what stands there when it is complete, behind a link too, and no script ever.
expect 2 'would be overwritten' $tutti run --trace "$work/good.tut" "$work/good.tut"
[ -s "$work/good.tut" ] || fail "a script was overwritten"
echo old >"$work/real.jsonl"
ln -s real.jsonl "$work/link.jsonl"
expect 0 '' $tutti run --quiet --trace "$work/link.jsonl" "$work/good.tut" "$work/good.tut"
[ -L "$work/link.jsonl" ] || fail "the link was replaced"
cat "$work/one.jsonl" "$work/one.jsonl" | cmp - "$work/real.jsonl" || fail "not both traces"
expect 2 'No space left' $tutti run --quiet --trace /dev/full "$work/good.tut"
expect 0 '"event"' $tutti run --quiet --trace - "$work/good.tut"
for left in "$work"/*.jsonl.*; do [ -e "$left" ] && fail "$left was left behind"; done

# A killed command leaves nothing behind: the trace has no name before it is complete. A filesystem
# without such files is told apart by a name that is there while the command still reads.
mkfifo "$work/endless"
mkdir "$work/killed"
$tutti run --quiet --trace "$work/killed/t.jsonl" "$work/endless" &
pid=$!
exec 3>"$work/endless" # waits until the command reads
kill -9 "$pid"
wait "$pid" 2>/dev/null
exec 3>&-
case $(stat -f -c %T "$work") in
overlayfs | nfs | fuse*) echo "not checked here: whether a killed command leaves its temporary file" ;;
*) [ -z "$(ls "$work/killed")" ] || fail "a killed command left $(ls "$work/killed")" ;;
esac

# A report folder for each script that does not end as it must, and the command in it repeats it.
folders=$work/folders
expect 1 "report folder: $folders/bad" $tutti run --report-folder "$folders" "$work/good.tut" "$work/bad.tut"
[ "$(ls "$folders")" = bad ] || fail "not one folder: $(ls "$folders")"
[ "$(cd "$folders/bad" && echo *)" = "lanes.svg replay.txt report.txt trace.json trace.jsonl waitfor.dot" ] ||
    fail "the report folder holds $(ls "$folders/bad")"
[ "$(wc -l <"$folders/bad/replay.txt")" -eq 1 ] || fail "replay.txt is not one command"
expect 1 'culprit 1' bash -c "PATH=$PWD/tools:\$PATH; $(cat "$folders/bad/replay.txt")"
expect 1 "\"report_folder\":\"$folders/bad\"" $tutti run --json --report-folder "$folders" "$work/bad.tut"
mkdir "$work/sub"
cp "$work/bad.tut" "$work/sub/bad.tut"
expect 1 "$folders/bad~2" $tutti run --report-folder "$folders" "$work/bad.tut" "$work/sub/bad.tut"
echo mine >"$folders/bad/notes"
expect 2 "holds 'notes'" $tutti run --report-folder "$folders" "$work/bad.tut"
[ "$(cat "$folders/bad/notes")" = mine ] || fail "somebody else's file is gone"
expect 2 "$work/good.tut" $tutti run --report-folder "$work/good.tut/x" "$work/bad.tut"
expect 2 'expected a folder' $tutti run --report-folder '' "$work/bad.tut"

# JUnit: every script is a case.
expect 2 '' $tutti run --junit "$work/junit.xml" "$work/good.tut" "$work/bad.tut" "$work/line7.tut"
for text in 'tests="3" failures="1" errors="1"' 'ended as missing, culprit 1, and must end as ok' \
    'line7.tut:7:16: expected'; do
    grep -q -F "$text" "$work/junit.xml" || fail "the JUnit file does not say: $text"
done
expect 2 'would be overwritten' $tutti run --junit "$work/good.tut" "$work/good.tut"
expect 2 '--junit' $tutti run --junit "$work/absent/junit.xml" "$work/good.tut"
expect 2 'needs --quiet' $tutti run --junit - "$work/good.tut"
expect 0 '<testsuites>' $tutti run --quiet --junit - "$work/good.tut"

# Pictures of a trace.
expect 0 'traceEvents' $tutti trace "$work/one.jsonl"
expect 0 '<svg ' $tutti trace "$work/one.jsonl" --format svg --critical 3 --title 'a < b'
expect 0 'digraph' $tutti trace "$work/one.jsonl" --format dot
[[ $($tutti trace --format mermaid - <"$work/one.jsonl") == *sequenceDiagram* ]] || fail "does not read a trace from standard input"
expect 0 '' $tutti trace "$work/one.jsonl" --format svg -o "$work/one.svg"
[ -s "$work/one.svg" ] || fail "no picture was written"
expect 2 'it holds 2 traces' $tutti trace "$work/real.jsonl"
expect 0 'traceEvents' $tutti trace "$work/real.jsonl" --number 2
expect 2 'there is no trace number 3' $tutti trace "$work/real.jsonl" --number 3
expect 2 "good.tut:1:1: expected a trace" $tutti trace "$work/good.tut"
expect 2 'cannot be read' $tutti trace "$work/absent.jsonl"
expect 2 "did you mean 'svg'" $tutti trace "$work/one.jsonl" --format svgg
expect 2 'critical_event' $tutti trace "$work/one.jsonl" --format svg --critical 999
expect 2 'expected a number from 1' $tutti trace "$work/one.jsonl" --number 0
expect 2 'expected a trace' $tutti trace
expect 2 'No space left' $tutti trace "$work/one.jsonl" -o /dev/full
head -c 700 "$work/one.jsonl" >"$work/cut.jsonl"
expect 2 'cut.jsonl:' $tutti trace "$work/cut.jsonl" -o "$work/cut.json"
[ ! -e "$work/cut.json" ] || fail "half a trace became a picture"

# No colours but on a terminal; nothing is lost when nobody listens.
$tutti run --verbose "$work/bad.tut" | grep -q $'\033' && fail "colours in a pipe"
$tutti run "$work/good.tut" >/dev/full 2>/dev/null && fail "a full disk looks like success"

[ "$failures" -eq 0 ]
