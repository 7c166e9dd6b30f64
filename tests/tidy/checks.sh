# shellcheck shell=bash
# The checks of how the project's files look. Each works on the current folder, prints a line for
# everything that it finds, and fails when there is any. Sourced by the tests beside it, which start
# in the workspace's root.

tidy=$PWD/tests/tidy

# The command's output is what was found: none is success.
none_from() {
    local found
    found=$("$@" 2>&1)
    [ -z "$found" ] && return 0
    printf '%s\n' "$found"
    return 1
}

# files FOLDER... -- ENDING...: the files with these endings, sorted.
files() {
    local folders=() tests=()
    while [ "$1" != -- ]; do
        [ -e "$1" ] && folders+=("$1")
        shift
    done
    shift
    [ "${#folders[@]}" -eq 0 ] && return 0
    local ending
    for ending; do tests+=(-o -name "*$ending"); done
    find -L "${folders[@]}" -type f \( "${tests[@]:1}" \) | sed 's,^\./,,' | LC_ALL=C sort
}

# name_pattern LIST: one regular expression for the names in a list such as engine_names.txt.
name_pattern() {
    local line whole="" calls=""
    while read -r line; do
        case $line in
        "#"* | "") ;;
        *"()") calls="$calls|${line%"()"}" ;;
        *) whole="$whole|$line" ;;
        esac
    done <"$1"
    printf '(^|[^A-Za-z0-9_.>:])((std::|::)?(this_thread::)?)(%s)\\(|(^|[^A-Za-z0-9_])(%s)($|[^A-Za-z0-9_])' \
        "${calls:1}" "${whole:1}"
}

# uses_of LIST FILE...: the lines of code with a name that the list forbids.
uses_of() {
    local pattern
    pattern=$(name_pattern "$1")
    shift
    awk -f "$tidy/code.awk" "$@" | sed -E 's/^([^:]*:[0-9]+:)/\1 /' | grep -E "^[^:]*:[0-9]+:.*($pattern)"
    return 0
}

check_forbidden_names() {
    local sources
    mapfile -t sources < <(files src drivers/emu tests fuzz -- .c .h .cc)
    if [ "${#sources[@]}" -eq 0 ]; then
        echo "no sources were found"
        return 1
    fi
    none_from uses_of "$tidy/forbidden_names.txt" "${sources[@]}"
}

too_long() {
    awk -v most=800 '
        FNR == most + 1 { print FILENAME ":" FNR ": more than " most " lines; give each idea a file" }
    ' "$@"
}

check_length() {
    local sources
    mapfile -t sources < <(
        files . -- .c .h .cc .sh .awk .py .bzl .bazel .md .tut bazelw run | grep -v '^third_party/'
    )
    if [ "${#sources[@]}" -eq 0 ]; then
        echo "no sources were found"
        return 1
    fi
    none_from too_long "${sources[@]}"
}

# One word from a document: says what is wrong with it.
judge_word() {
    local file=$1 line=$2 kind=$3 word=$4 path
    if [ "$kind" = link ]; then
        case $word in
        "" | "#"* | *://* | mailto:*) return 0 ;;
        esac
        path=${word%%#*}
        case $path in
        /*) path=.$path ;;
        *) path=$(dirname "$file")/$path ;;
        esac
    else
        path=${word#./}
        case $path in
        *"*"* | *FOO* | *NAME* | *...* | *…*) return 0 ;;
        //*)
            path=${path#//}
            path=${path%%:*}
            path=${path:+$path/}BUILD.bazel
            ;;
        include/* | src/* | drivers/* | tests/* | fuzz/* | docs/* | examples/* | bench/* | tools/* | \
            third_party/* | .ci/* | bazelw) ;;
        tutti/*.h) path=include/$path ;;
        *) return 0 ;;
        esac
    fi
    [ -e "$path" ] || echo "$file:$line: names $word, and there is no ${path#./}"
}

lost_words() {
    local file line kind word
    awk -f "$tidy/document_words.awk" "$@" | while IFS=: read -r file line kind word; do
        judge_word "$file" "$line" "$kind" "$word"
    done
}

check_documents() {
    local documents
    mapfile -t documents < <(files README.md docs examples tools bench fuzz tests -- .md)
    if [ ! -e README.md ]; then
        echo "README.md is missing"
        return 1
    fi
    none_from lost_words "${documents[@]}"
}

# compile_alone COMPILER LANGUAGE STANDARD HEADER INCLUDED-AS
compile_alone() {
    local output
    output=$(printf '#include "%s"\nextern int only_this_header;\n' "$5" |
        "$1" -x "$2" "-std=$3" -fsyntax-only -I include -I . \
            -Wall -Wextra -Wpedantic -Wundef -Werror -Wno-unused-function - 2>&1) && return 0
    printf '%s: does not compile alone as %s:\n%s\n' "$4" "$3" "$output"
    return 1
}

# check_headers COMPILER: public headers as C and as C++, internal ones as C.
check_headers() {
    local failed=0 count=0 header
    while read -r header; do
        count=$((count + 1))
        # It needs GoogleTest; an example includes it first.
        [ "$header" != include/tutti/testing.h ] || continue
        compile_alone "$1" c c11 "$header" "${header#include/}" || failed=1
        case $header in
        include/*) compile_alone "$1" c++ c++17 "$header" "${header#include/}" || failed=1 ;;
        esac
    done < <(files include src drivers/emu tools -- .h)
    if [ "$count" -eq 0 ]; then
        echo "no header was found"
        return 1
    fi
    return "$failed"
}

# with_headers FILE...: the files, and all of the project's headers that they include.
with_headers() {
    local waiting=("$@") seen=" " file name candidate
    while [ "${#waiting[@]}" -gt 0 ]; do
        file=${waiting[0]}
        waiting=("${waiting[@]:1}")
        case $seen in *" $file "*) continue ;; esac
        seen="$seen$file "
        echo "$file"
        while read -r name; do
            for candidate in "$(dirname "$file")/$name" "include/$name" "$name"; do
                [ -e "$candidate" ] && waiting+=("$candidate") && break
            done
        done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$file")
    done
}

foreign_includes() {
    local file line name
    grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' "$@" /dev/null | while IFS=: read -r file line name; do
        name=${name#*<}
        name=${name%%>*}
        grep -qxF "$name" "$tidy/engine_includes.txt" ||
            echo "$file:$line: includes <$name>, which the engine may not"
    done
}

# check_engine_sources FILE...: the files of the engine.
check_engine_sources() {
    local sources failed=0
    if [ $# -eq 0 ]; then
        echo "no file is listed as the engine's"
        return 1
    fi
    mapfile -t sources < <(with_headers "$@")
    none_from uses_of "$tidy/engine_names.txt" "${sources[@]}" || failed=1
    none_from foreign_includes "${sources[@]}" || failed=1
    return "$failed"
}

# archive FOLDER NAME: the archive of a cc_library; .pic where the compiler makes such apart.
archive() {
    local path=$1/lib$2.a
    [ -e "$path" ] || path=$1/lib$2.pic.a
    echo "$path"
}

needed_symbols() {
    local engine=$1
    nm -A --format=posix "$@" | awk -v allowed_file="$tidy/engine_symbols.txt" -v engine="$engine" \
        -f "$tidy/engine_symbols.awk" "$tidy/engine_symbols.txt" -
}

# Data that is not constant: another run in the same process would find what this one left.
mutable_data() {
    nm -A --format=sysv "$1" | awk -F'|' '
        { section = $7; gsub(/ /, "", section) }
        section ~ /^\.(data|bss|tdata|tbss)/ && section !~ /^\.data\.rel\.ro/ &&
            $1 !~ /_(asan|tsan|ubsan|sancov|gcov|llvm|unnamed|prof)[_.]|__gcov|__llvm/ {
            gsub(/ /, "", $1)
            print $1 ": is data that changes; the engine keeps all of its state in its cluster"
        }'
}

# check_engine_symbols ENGINE-ARCHIVE ARCHIVE...: what the objects of the first need from outside of
# all.
check_engine_symbols() {
    local failed=0
    if [ ! -e "$1" ]; then
        echo "$1: there is no such archive"
        return 1
    fi
    none_from needed_symbols "$@" || failed=1
    none_from mutable_data "$1" || failed=1
    return "$failed"
}
