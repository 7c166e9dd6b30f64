#include "fuzz/programs/shorten.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "tutti/script.h"

namespace tutti_test {

namespace {

using Lines = std::vector<std::string>;

enum { kTriesMax = 4000 };

std::string joined(const Lines &lines) {
    std::string text;
    for (const std::string &line : lines)
        text += line + "\n";
    return text;
}

bool can_be_read(const std::string &text) {
    tutti_script *script = nullptr;
    const tutti_status status =
        tutti_script_parse("shorter.tut", text.data(), text.size(), &script, nullptr);
    tutti_script_free(script);
    return status == TUTTI_OK;
}

Lines without(const Lines &lines, size_t first, size_t count) {
    Lines rest(lines.begin(), lines.begin() + static_cast<long>(first));
    rest.insert(rest.end(),
                lines.begin() + static_cast<long>(std::min(first + count, lines.size())),
                lines.end());
    return rest;
}

} // namespace

std::string shorten(const std::string &text,
                    const std::function<bool(const std::string &)> &is_bad) {
    Lines lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    if (!is_bad(text)) return text;
    int tries = 0;
    for (size_t piece = lines.size() / 2; piece > 0; piece /= 2) {
        for (size_t first = 0; first < lines.size() && tries < kTriesMax; tries++) {
            const Lines rest = without(lines, first, piece);
            const std::string shorter = joined(rest);
            if (can_be_read(shorter) && is_bad(shorter))
                lines = rest;
            else
                first += piece;
        }
    }
    return joined(lines);
}

} // namespace tutti_test
