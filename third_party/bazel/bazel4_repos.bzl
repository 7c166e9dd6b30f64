"""Repositories for Bazel 4 (WORKSPACE), none of which needs the network.

Bazel 4 downloads @rules_cc, @rules_java and @remote_coverage_tools for any
cc_test, even where BUILD files use only native rules. The stand-ins below hold
the few symbols that Bazel 4's own packages and this workspace load.
"""

load("//third_party/bazel:cuda_configure.bzl", "cuda_configure")

_CC_RULES = [
    "cc_binary",
    "cc_import",
    "cc_library",
    "cc_test",
    "cc_toolchain",
    "cc_toolchain_suite",
    "fdo_prefetch_hints",
    "fdo_profile",
    "objc_library",
]

_JAVA_RULES = [
    "java_binary",
    "java_import",
    "java_library",
    "java_runtime",
    "java_toolchain",
]

# Joins LCOV reports; the real tool is a Java program that Bazel 4 downloads.
_MERGE_SH = """\
#!/bin/sh
for arg; do
  case "$arg" in
  --coverage_dir=*) dir="${arg#*=}" ;;
  --output_file=*) out="${arg#*=}" ;;
  --reports_file=*) reports="${arg#*=}" ;;
  esac
done
if [ -n "$reports" ]; then
  xargs cat <"$reports" >"$out"
else
  # A shell test leaves none.
  find "$dir" -name '*.dat' -exec cat {} + >"$out"
fi
"""

def _stub_repo_impl(ctx):
    for path, content in ctx.attr.files.items():
        ctx.file(path, content, executable = path.endswith(".sh"))

_stub_repo = repository_rule(
    implementation = _stub_repo_impl,
    attrs = {"files": attr.string_dict()},
)

def _native(rules):
    return "".join(["%s = native.%s\n" % (rule, rule) for rule in rules])

def bazel4_repos(googletest_path = "/usr/src/googletest"):
    """Defines every repository that this workspace needs under Bazel 4.

    Args:
      googletest_path: GoogleTest's sources (Debian package googletest).
    """
    cc_files = {
        "cc/BUILD.bazel": "",
        "cc/defs.bzl": _native(_CC_RULES),
    }
    for rule in _CC_RULES:
        cc_files["cc/%s.bzl" % rule] = _native([rule])

    _stub_repo(
        name = "rules_cc",
        files = cc_files,
    )
    _stub_repo(
        name = "rules_java",
        files = {
            "java/BUILD.bazel": "",
            "java/defs.bzl": _native(_JAVA_RULES),
        },
    )
    _stub_repo(
        name = "remote_coverage_tools",
        files = {
            "BUILD.bazel": "".join([
                "sh_binary(name = \"%s\", srcs = [\"merge.sh\"], visibility = [\"//visibility:public\"])\n" % name
                for name in ["coverage_report_generator", "lcov_merger"]
            ]),
            "merge.sh": _MERGE_SH,
        },
    )
    _stub_repo(
        name = "rules_shell",
        files = {
            "shell/BUILD.bazel": "",
            "shell/sh_binary.bzl": _native(["sh_binary"]),
            "shell/sh_test.bzl": _native(["sh_test"]),
        },
    )
    native.new_local_repository(
        name = "googletest",
        path = googletest_path,
        build_file = str(Label("//third_party/bazel:googletest.BUILD")),
    )
    cuda_configure(name = "local_cuda")
