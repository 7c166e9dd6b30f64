# Finds what the engine needs from outside. Reads the allowed symbols (one regular expression a
# line, `#` starts a comment), then `nm -A --format=posix` of archives. `engine` is the name of the
# engine's archive: all of its objects count, and of other archives those that they pull in, as a
# linker would. Prints a line for each symbol that nobody defines and that is not allowed.
function follow(object, count, names, n, definer) {
    count = split(needs[object], names, " ")
    for (n = 1; n <= count; n++) {
        definer = defined_in[names[n]]
        if (definer == "")
            report(object, names[n])
        else if (!(definer in reached)) {
            reached[definer] = 1
            queue[++queued] = definer
        }
    }
}

function report(object, name, n) {
    # What sanitizers and coverage put into every object is not the engine's doing.
    if (name ~ /^_*(asan|tsan|ubsan|sanitizer|sancov|start_|stop_|gcov|llvm)_/)
        return
    for (n = 1; n <= allowed_count; n++)
        if (name ~ ("^(" allowed[n] ")$"))
            return
    print object ": needs " name \
        (name ~ /^(emu|tutti)_/ ? ", which no file of the engine has" : ", which the engine may not use")
}

FILENAME == allowed_file {
    sub(/#.*/, "")
    if (NF)
        allowed[++allowed_count] = $1
    next
}

{
    object = $1
    sub(/:$/, "", object)
    if ($3 == "U" || $3 == "v" || ($3 == "w" && NF < 4))
        needs[object] = needs[object] " " $2
    else if ($3 ~ /[A-Z]/)
        defined_in[$2] = object
    if (index(object, engine "[") == 1 && !(object in reached)) {
        reached[object] = 1
        queue[++queued] = object
    }
}

END {
    if (!queued)
        print engine ": no object of the engine was found"
    for (next_one = 1; next_one <= queued; next_one++)
        follow(queue[next_one])
}
