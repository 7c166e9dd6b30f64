"""Fuzz targets: searched by libFuzzer with --config=fuzz, replayed over their corpus as tests."""

load("@rules_cc//cc:defs.bzl", "cc_test")
load("//src:copts.bzl", "CC_COPTS", "C_COPTS")

def fuzz_target(name, src, corpus, deps = []):
    """Makes a target of a source that defines LLVMFuzzerTestOneInput (see fuzz/entry.h).

    As a test it tries every file of its corpus once. With --config=fuzz it searches:
    bazelw build --config=fuzz :NAME, then run the program with a folder for new inputs first, and
    the corpus after it.

    Args:
      name: of the test.
      src: the source.
      corpus: the folder of inputs, in the calling package. A folder without a file fails.
      deps: what the source uses besides Tutti.
    """
    package = native.package_name()
    folder = (package + "/" if package else "") + corpus
    cc_test(
        name = name,
        size = "small",
        timeout = "short",
        srcs = [src],
        args = select({
            "//fuzz:libfuzzer": ["-runs=0"],
            "//conditions:default": [],
        }) + [folder],
        copts = C_COPTS if src.endswith(".c") else CC_COPTS,
        data = native.glob([corpus + "/**"]),
        linkopts = select({
            "//fuzz:libfuzzer": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        deps = [
            "//:tutti",
            "//fuzz:entry",
        ] + deps + select({
            "//fuzz:libfuzzer": [],
            "//conditions:default": ["//fuzz:replay"],
        }),
    )
