#!/bin/sh
# Installs what is missing and nothing else: system packages by apt, Python packages into .venv.
# usage: setup.sh check|unit|docs|fuzz|audit|demo|test|test-all|test-release|faults
# `check`, `unit`, `docs`, `fuzz` and `audit` need no root and no system packages
set -eu
cd "$(dirname "$0")/.."
purpose=$1

stop() { echo "make $purpose: $1" >&2; exit 2; }

case $purpose in check|unit|docs|fuzz|audit) needs_lab= ;; *) needs_lab=yes ;; esac
case $purpose in test|test-all|test-release) everything=yes ;; *) everything= ;; esac
case $purpose in test-all|test-release|faults) needs_compiler=yes ;; *) needs_compiler= ;; esac
if [ -n "$needs_lab" ]; then
    [ "$(uname -s)" = Linux ] || stop "the local lab needs Linux; on a Mac follow docs/how-to/measure-two-machines.md"
    [ "$(id -u)" = 0 ] || stop "the local lab needs root for its namespaces and mounts: run 'sudo make $purpose'"
fi

find_python() {
    for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo "$name"; return; fi
    done
}

has_venv() { [ -n "$1" ] && "$1" -c 'import ensurepip, venv' 2>/dev/null; }

install_packages() {
    command -v apt-get >/dev/null || stop "needs $*: install them with this system's package manager"
    echo "Installing with apt: $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1 && return
    apt-get update >/dev/null
    apt-get install -y --no-install-recommends "$@" # says by itself what is wrong
}

python=$(find_python)
missing=
if [ -n "$needs_lab" ]; then
    for pair in mmdebstrap:mmdebstrap ip:iproute2 mke2fs:e2fsprogs ssh:openssh-client nsenter:util-linux unshare:util-linux; do
        command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair##*:}"
    done
    if [ -n "$everything" ]; then # a login shell may be any of these
        for shell in csh fish ksh tcsh zsh; do command -v "$shell" >/dev/null || missing="$missing $shell"; done
        # a NAS has little else (tests/support/nas.py); busybox-static takes its own programs, whatever is in the PATH
        if ! command -v busybox || ! busybox --list | grep -x top || busybox sh -c 'PATH=/none; command -v top'; then
            missing="$missing busybox"
        fi >/dev/null 2>&1
        command -v dropbear >/dev/null || missing="$missing dropbear-bin" # the SSH of OpenWrt
        command -v Rscript >/dev/null || missing="$missing r-base-core" # reads an exported table
        for pair in dbus-run-session:dbus gnome-keyring-daemon:gnome-keyring; do # a keyring of the tests' own
            command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair##*:}"
        done
        # the report is looked at in it; Ubuntu's package is but a snap, without which those tests are skipped
        if grep -q '^ID=debian' /etc/os-release; then command -v chromium >/dev/null || missing="$missing chromium"; fi
    fi
    # the clocks of hosts that share a kernel are set by a library
    if [ -n "$needs_compiler" ]; then [ -e /usr/include/time.h ] && command -v cc >/dev/null || missing="$missing gcc libc6-dev"; fi
    # Debian's signing keys: there on Debian, not on Ubuntu
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing="$missing debian-archive-keyring"
    has_venv "$python" || missing="$missing python3 python3-venv"
    # shellcheck disable=SC2086
    [ -z "$missing" ] || install_packages $missing
    python=$(find_python)
fi
[ -n "$python" ] || stop "needs Python 3.11 or later"
has_venv "$python" || stop "needs Python's venv module: apt-get install python3-venv"

wanted=$(cat requirements-dev.txt pyproject.toml | cksum)
if [ "$(cat .venv/installed 2>/dev/null || :)" != "$wanted" ]; then
    echo "Installing Python packages into .venv"
    "$python" -m venv .venv
    # twice quiet: a newer pip tells what setuptools says of links in lab/shipped, at length, though nothing is wrong
    .venv/bin/python -m pip install -qq --disable-pip-version-check -r requirements-dev.txt
    echo "$wanted" >.venv/installed
fi
if [ "$purpose" = docs ] && ! cmp -s requirements-docs.txt .venv/installed-docs; then
    echo "Installing Sphinx into .venv"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt
    cp requirements-docs.txt .venv/installed-docs
fi
tables=$(cat requirements-tables.txt pyproject.toml | cksum)
if [ -n "$everything" ] && [ "$(cat .venv/installed-tables 2>/dev/null || :)" != "$tables" ]; then
    echo "Installing DuckDB and polars into .venv"
    .venv/bin/python -m pip install -qq --disable-pip-version-check -r requirements-tables.txt
    echo "$tables" >.venv/installed-tables
fi
if [ -n "$everything" ] && ! cmp -s requirements-browser.txt .venv/installed-browser; then
    echo "Installing Playwright into .venv"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-browser.txt
    cp requirements-browser.txt .venv/installed-browser
fi
