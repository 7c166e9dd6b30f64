#!/bin/bash
# The emulator and its tests neither sleep nor throw dice, and no file is too long to be read.
. tests/tidy/checks.sh
failed=0
check_forbidden_names || failed=1
check_length || failed=1
exit "$failed"
