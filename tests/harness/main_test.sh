#!/bin/sh
# The alarm works: a program without any test fails, and says why.
set -u
program=tests/harness/no_tests
if output=$("$program" 2>&1); then
    echo "$program succeeded without a test"
    exit 1
fi
case $output in
*"no test is linked"*) ;;
*)
    echo "$program failed without saying why: $output"
    exit 1
    ;;
esac
