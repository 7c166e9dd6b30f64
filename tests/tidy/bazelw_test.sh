#!/bin/bash
# What bazelw does on machines that lack things, played on a PATH with stand-ins for apt-get, sudo
# and Bazel.
set -u
failed=0
workspace=$TEST_TMPDIR/workspace
bin=$TEST_TMPDIR/bin
log=$TEST_TMPDIR/log
mkdir -p "$workspace/tools"
cp bazelw "$workspace/"
cp tools/packages.sh "$workspace/tools/"

complain() {
    printf '%s: %s\n--- output:\n%s\n--- calls:\n%s\n' "$case_name" "$1" "$output" "$calls"
    failed=1
}

# stand_in NAME BODY: a program on the machine's PATH.
stand_in() {
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

# A machine with apt and root, without Bazel.
machine() {
    case_name=$1
    rm -rf "$bin" "$log"
    mkdir "$bin"
    local tool
    for tool in cat chmod dirname env grep sed; do ln -s "$(command -v "$tool")" "$bin/$tool"; done
    touch "$log"
    stand_in id 'echo 0'
    stand_in gcc ''
    stand_in g++ ''
    stand_in apt-cache "echo '  Candidate: 1.0'"
    stand_in apt-get "echo apt-get \$* >>$log
case \$* in
*' install '*) printf '#!/bin/sh\necho bazel ran with \$*\n' >$bin/bazel; chmod +x $bin/bazel ;;
esac"
}

run_bazelw() {
    output=$(cd "$workspace" && env -i HOME=/ PATH="$bin" ./bazelw "$@" 2>&1 </dev/null)
    status=$?
    calls=$(cat "$log")
}

says() {
    [[ $output == *"$1"* ]] || complain "was to say: $1"
}

did() {
    [[ $calls == *$1* ]] || complain "was to do: $1"
}

succeeds() {
    [ "$status" -eq 0 ] || complain "ended with $status"
}

fails() {
    [ "$status" -ne 0 ] || complain "was to fail"
}

machine "everything is there"
stand_in bazel 'case $1 in --version) echo bazel 9.0.0 ;; *) echo "bazel ran with $*" ;; esac'
run_bazelw test "//..."
succeeds
[ "$output" = "bazel ran with test //..." ] || complain "was to say nothing of its own"
[ -z "$calls" ] || complain "was to install nothing"

machine "only Bazelisk is there"
stand_in bazelisk 'case $1 in --version) echo bazel 9.0.0 ;; *) echo "bazelisk ran with $*" ;; esac'
run_bazelw info
succeeds
says "bazelisk ran with info"
[ -z "$calls" ] || complain "was to install nothing"

machine "no Bazel, and root"
run_bazelw test "//..."
succeeds
says "bazel ran with test //..."
did "apt-get -o DPkg::Lock::Timeout=300 -q update*apt-get -o DPkg::Lock::Timeout=300 -q install -y --no-install-recommends *bazel-bootstrap"

machine "no compiler, and root"
rm "$bin/gcc" "$bin/g++"
run_bazelw version
did "bazel-bootstrap gcc g++"

machine "no Bazel, sudo"
stand_in id 'echo 1000'
stand_in sudo "echo sudo \$* >>$log; [ \"\$1\" = -n ] || exec \"\$@\""
run_bazelw version
succeeds
says "bazel ran with version"
did "sudo env DEBIAN_FRONTEND=noninteractive apt-get*update*sudo*apt-get*install*bazel-bootstrap"

machine "no Bazel, a sudo that asks for a password"
stand_in id 'echo 1000'
stand_in sudo 'exit 1'
run_bazelw version
fails
says "sudo apt-get update && sudo apt-get install -y bazel-bootstrap"
[ -z "$calls" ] || complain "was to call nothing"

machine "no Bazel, neither root nor sudo"
stand_in id 'echo 1000'
run_bazelw version
fails
says "sudo apt-get update && sudo apt-get install -y bazel-bootstrap"

machine "a release with Bazel under its own name"
stand_in apt-cache "[ \"\$2\" != bazel-bootstrap ] && echo '  Candidate: 8.0'"
run_bazelw version
succeeds
did "install -y --no-install-recommends *bazel"

machine "a release without Bazel"
stand_in apt-cache "echo '  Candidate: (none)'"
run_bazelw version
fails
says "offer no Bazel"
says "npm install -g @bazel/bazelisk"
[[ $calls != *install* ]] || complain "was to install nothing"

machine "an installation that fails"
stand_in apt-get 'echo E: no space left; exit 100'
run_bazelw version
fails
says "E: no space left"
says "sudo apt-get update && sudo apt-get install -y bazel-bootstrap"

machine "a system without apt"
rm "$bin/apt-get"
run_bazelw version
fails
says "no apt-get here"
says "bazel-bootstrap"

machine "called from elsewhere"
stand_in bazel 'case $1 in --version) echo bazel 9.0.0 ;; *) pwd -P ;; esac'
output=$(cd / && env -i HOME=/ PATH="$bin" "$workspace/bazelw" info 2>&1)
calls=""
[ "$output" = "$(cd "$workspace" && pwd -P)" ] || complain "was to run in its own workspace"

exit "$failed"
