#!/bin/bash
# Each check sees what it is there for: one planted fault for each, and one file that only looks as
# if it were at fault. Argument: the compiler.
. tests/tidy/checks.sh
compiler=$1
canary_archive=$(archive "$PWD/tests/tidy" canary_engine)
failed=0

# expect_complaint TEXT CHECK...: the check fails and says TEXT.
expect_complaint() {
    local text=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "$*: found nothing, and was to say: $text"
        failed=1
    elif [[ $output != *"$text"* ]]; then
        printf '%s: was to say: %s\nbut said: %s\n' "$*" "$text" "$output"
        failed=1
    fi
}

expect_silence() {
    local output
    if ! output=$("$@" 2>&1) || [ -n "$output" ]; then
        printf '%s: was to find nothing, but said: %s\n' "$*" "$output"
        failed=1
    fi
}

# A tree without a fault.
plant() {
    rm -rf "$TEST_TMPDIR/tree"
    mkdir -p "$TEST_TMPDIR/tree"/{include/tutti,src,drivers/emu,tests,docs}
    cd "$TEST_TMPDIR/tree" || exit 1
    cat >drivers/emu/engine.c <<'END'
#include <stddef.h>
#include "drivers/emu/engine.h"
/* It will never sleep(1), ask time(NULL) or
 * printf("%d", rand()); nor do strings: */
static const char *text = "usleep(3) \" rand()"; // time(NULL)
size_t step(struct engine *engine) {
    engine->sleep(text[1'0]);
    return engine_time(engine) + engine->clock;
}
END
    echo 'struct engine;' >drivers/emu/engine.h
    echo '#include <stddef.h>' >include/tutti/a.h
    echo 'See [a](docs/a.md#top), `src/`, `//src:x`, `tutti/a.h` and `tests/FOO.c`.' >README.md
    echo 'Back to [the start](../README.md) and to <https://example.org>.' >docs/a.md
    touch src/BUILD.bazel
}

plant
expect_silence check_forbidden_names
expect_silence check_length
expect_silence check_documents
expect_silence check_headers "$compiler"
expect_silence check_engine_sources drivers/emu/engine.c

plant
echo 'void f(void) { usleep(5); }' >tests/a.c
expect_complaint "tests/a.c:1:" check_forbidden_names
echo 'int g(void) { return 1 + rand(); }' >tests/a.c
expect_complaint "tests/a.c:1:" check_forbidden_names
echo 'void h() { std::this_thread::sleep_for(d); }' >tests/a.cc
expect_complaint "tests/a.cc:1:" check_forbidden_names

plant
yes 'int x;' | head -n 801 >src/long.c
expect_complaint "src/long.c:801: more than 800 lines" check_length

plant
echo '[b](b.md)' >docs/a.md
expect_complaint "docs/a.md:1: names b.md" check_documents
printf 'one\n```sh\n./bazelw run //lost:program\n```\n' >docs/a.md
expect_complaint "docs/a.md:3: names //lost:program, and there is no lost/BUILD.bazel" check_documents
echo 'Read `docs/lost.md`.' >docs/a.md
expect_complaint "docs/a.md:1: names docs/lost.md" check_documents
rm README.md
expect_complaint "README.md is missing" check_documents

plant
echo 'size_t count(void);' >include/tutti/a.h
expect_complaint "include/tutti/a.h: does not compile alone as c11" check_headers "$compiler"
echo 'int *class_of(int *class);' >include/tutti/a.h
expect_complaint "include/tutti/a.h: does not compile alone as c++17" check_headers "$compiler"
plant
echo 'static size_t zero;' >drivers/emu/engine.h
expect_complaint "drivers/emu/engine.h: does not compile alone" check_headers "$compiler"

plant
echo 'static pthread_mutex_t lock;' >drivers/emu/engine.h
expect_complaint "drivers/emu/engine.h:1:" check_engine_sources drivers/emu/engine.c
echo '#include <time.h>' >drivers/emu/engine.h
expect_complaint "drivers/emu/engine.h:1: includes <time.h>" check_engine_sources drivers/emu/engine.c
echo 'long now(void) { return time(0); }' >drivers/emu/engine.c
expect_complaint "drivers/emu/engine.c:1:" check_engine_sources drivers/emu/engine.c
expect_complaint "no file is listed" check_engine_sources

expect_complaint "needs puts, which the engine may not use" check_engine_symbols "$canary_archive"
expect_complaint "steps: is data that changes" check_engine_symbols "$canary_archive"
expect_complaint "there is no such archive" check_engine_symbols "$PWD/lost.a"

exit "$failed"
