# Prints the code of C and C++ files as FILE:LINE:TEXT, without comments and without what string
# and character literals hold, so that a name in prose is not taken for a use.
FNR == 1 {
    in_comment = 0
}

{
    text = ""
    quote = ""
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                i++
            }
        } else if (quote != "") {
            if (c == "\\") {
                i++
            } else if (c == quote) {
                text = text c
                quote = ""
            }
        } else if (two == "/*") {
            in_comment = 1
            text = text " "
            i++
        } else if (two == "//") {
            break
        } else {
            # A digit before it makes it a separator of digits: 1'000.
            if (c == "\"" || (c == "'" && text !~ /[0-9]$/))
                quote = c
            text = text c
        }
    }
    if (text ~ /[^ \t]/)
        print FILENAME ":" FNR ":" text
}
