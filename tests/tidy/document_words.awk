# Prints FILE:LINE:KIND:WORD for what a Markdown file says about files: KIND is "link" for the
# target of a link, "code" for a word in a code span or a code block.
function emit_words(text, count, words, n) {
    count = split(text, words, /[ \t"'=,;()<>|]+/)
    for (n = 1; n <= count; n++) {
        sub(/[.:]+$/, "", words[n])
        if (words[n] != "")
            print FILENAME ":" FNR ":code:" words[n]
    }
}

FNR == 1 {
    in_block = 0
}

/^[ \t]*(```|~~~)/ {
    in_block = !in_block
    next
}

in_block {
    emit_words($0)
    next
}

{
    line = $0
    while (match(line, /`[^`]*`/)) {
        emit_words(substr(line, RSTART + 1, RLENGTH - 2))
        line = substr(line, 1, RSTART - 1) "code" substr(line, RSTART + RLENGTH)
    }
    if (match(line, /^ *\[[^]]*\]:[ \t]*[^ \t]+/)) {
        target = substr(line, RSTART, RLENGTH)
        sub(/^ *\[[^]]*\]:[ \t]*/, "", target)
        print FILENAME ":" FNR ":link:" target
    }
    while (match(line, /\]\([^)]*\)/)) {
        target = substr(line, RSTART + 2, RLENGTH - 3)
        sub(/[ \t].*/, "", target)
        print FILENAME ":" FNR ":link:" target
        line = substr(line, RSTART + RLENGTH)
    }
}
