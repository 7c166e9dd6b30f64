# shellcheck shell=sh
# Finds which of the machine's packages are missing, and installs them. Sourced by bazelw and
# .ci/run; POSIX sh. Everything it says goes to stderr.

missing_packages=""

say() {
    printf '%s\n' "$0: $*" >&2
}

# need PACKAGE PROBE: notes that PACKAGE has to be installed, unless PROBE is there. A probe with
# a leading slash is a file; any other is a command.
need() {
    case $2 in
    /*) [ -e "$2" ] && return 0 ;;
    *) command -v "$2" >/dev/null 2>&1 && return 0 ;;
    esac
    missing_packages="$missing_packages $1"
}

# The prefix that makes a command root's, in $as_root. Fails where there is no way that needs no
# answer from a person who is not there.
find_root() {
    as_root=""
    [ "$(id -u)" -eq 0 ] && return 0
    as_root="sudo"
    command -v sudo >/dev/null 2>&1 || return 1
    sudo -n true 2>/dev/null || [ -t 0 ]
}

# What to type where this script may not, or could not, do it.
say_what_to_type() {
    say "Please type the following, or install the same things in another way, and try again:"
    say "    sudo apt-get update && sudo apt-get install -y$missing_packages"
}

offered() {
    LC_ALL=C apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'
}

# Not every release of Debian and Ubuntu has Bazel, and not each under the same name.
pick_bazel_package() {
    case " $missing_packages " in
    *" bazel-bootstrap "*) ;;
    *) return 0 ;;
    esac
    offered bazel-bootstrap && return 0
    others=$(printf '%s' "$missing_packages" | sed 's/ bazel-bootstrap//')
    if offered bazel; then
        missing_packages="$others bazel"
        return 0
    fi
    say "This system's package sources offer no Bazel (looked for: bazel-bootstrap, bazel)."
    say "Install Bazelisk, https://github.com/bazelbuild/bazelisk, for example with one of"
    say "    npm install -g @bazel/bazelisk"
    say "    go install github.com/bazelbuild/bazelisk@latest"
    say "and see that 'bazelisk' is on PATH. It downloads Bazel when it is first used."
    missing_packages="$others"
    [ -z "$others" ] || say_what_to_type
    return 1
}

apt_get() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q "$@" \
        </dev/null >&2
}

# Installs what need() noted. Returns non-zero, having said what to type, where it cannot.
install_missing() {
    [ -n "$missing_packages" ] || return 0
    say "These packages are missing here:$missing_packages"
    if ! command -v apt-get >/dev/null 2>&1; then
        say "There is no apt-get here. The names above are Debian's; install what they hold in this"
        say "system's own way (Bazel 4 or later, GoogleTest's sources, a C and C++ compiler, Jansson)."
        return 1
    fi
    if ! find_root; then
        say "They can only be installed by root, and there is no sudo that works without asking."
        say_what_to_type
        return 1
    fi
    say "Installing them with ${as_root:+$as_root }apt-get."
    apt_get update || say "The package lists could not be refreshed; trying with those that are here."
    pick_bazel_package || return 1
    # Word splitting is what makes a list of names of it.
    # shellcheck disable=SC2086
    if ! apt_get install -y --no-install-recommends $missing_packages; then
        say "The installation failed; the lines above say why."
        say_what_to_type
        return 1
    fi
    missing_packages=""
}
