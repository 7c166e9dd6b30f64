"""How our sources are compiled, everywhere. Bazel's own default is a C++ older than ours."""

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wshadow",
    "-Wundef",
    "-Wvla",
]

# Asserts stay on in every mode: they find our own bugs, and cost less than a wrong answer.
_ASSERTS = ["-UNDEBUG"]

C_COPTS = ["-std=c11"] + _WARNINGS + [
    "-Wmissing-prototypes",
    "-Wstrict-prototypes",
] + _ASSERTS

CC_COPTS = ["-std=c++17"] + [w for w in _WARNINGS if w != "-Wconversion"] + _ASSERTS
