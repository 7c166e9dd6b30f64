"""A folder of tests: whatever file is added to it is picked up."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load("@rules_shell//shell:sh_test.bzl", "sh_test")
load("//src:copts.bzl", "CC_COPTS", "C_COPTS")

def test_folder(data = [], deps = []):
    """Makes a test of every FOO_test.cc, FOO_test.c and FOO_test.sh of the calling folder.

    A test's target has its file's name without the ending. A .c test brings its own main, a .cc
    test uses //tests/harness:main. All other .c, .cc and .h files are compiled once, as `support`
    (whole: a suite in it registers itself), for the tests of the folder. All files that are no
    sources lie beside the test when it runs, which starts in the workspace's root.

    Args:
      data: further files and programs to lie there.
      deps: what the sources use besides Tutti, the harness and GoogleTest.
    """
    all_deps = [
        "//:tutti",
        "//tests/harness",
        "@googletest//:gtest",
    ] + deps
    all_data = data + native.glob(
        ["**"],
        allow_empty = True,
        exclude = ["BUILD.bazel", "*.c", "*.cc", "*.h", "*_test.sh"],
    )

    cc_library(
        name = "support_c",
        testonly = True,
        srcs = native.glob(["*.c"], allow_empty = True, exclude = ["*_test.c"]),
        hdrs = native.glob(["*.h"], allow_empty = True),
        alwayslink = True,
        copts = C_COPTS,
        linkstatic = True,
        deps = ["//:tutti"] + deps,
    )
    cc_library(
        name = "support",
        testonly = True,
        srcs = native.glob(["*.cc"], allow_empty = True, exclude = ["*_test.cc"]),
        hdrs = native.glob(["*.h"], allow_empty = True),
        alwayslink = True,
        copts = CC_COPTS,
        linkstatic = True,
        deps = all_deps + [":support_c"],
    )
    for source in native.glob(["*_test.cc"], allow_empty = True):
        cc_test(
            name = source[:-len(".cc")],
            size = "small",
            timeout = "short",
            srcs = [source],
            copts = CC_COPTS,
            data = all_data,
            deps = all_deps + [
                ":support",
                "//tests/harness:main",
            ],
        )
    for source in native.glob(["*_test.c"], allow_empty = True):
        cc_test(
            name = source[:-len(".c")],
            size = "small",
            timeout = "short",
            srcs = [source],
            copts = C_COPTS,
            data = all_data,
            deps = ["//:tutti", ":support_c"] + deps,
        )
    for source in native.glob(["*_test.sh"], allow_empty = True):
        sh_test(
            name = source[:-len(".sh")],
            size = "small",
            timeout = "short",
            srcs = [source],
            data = all_data,
        )
    native.filegroup(
        name = "files",
        srcs = native.glob(["**"]),
        visibility = ["//visibility:public"],
    )
