#!/bin/bash
# Every header compiles alone: a public one as C11 and as C++17, an internal one as C11.
# Argument: the compiler.
. tests/tidy/checks.sh
check_headers "$1"
