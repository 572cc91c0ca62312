# shellcheck shell=sh
# Run a text by the python3 of a Mac's Command Line Tools or Xcode. Root runs it, too, so it is none that an account can
# change, as Homebrew's; nor that of /usr/bin, which without the tools opens a window that asks for them. Root chooses
# which tools xcode-select names; DEVELOPER_DIR, with which an account could, is taken away.
# usage: … [TEXT [WORD …]]; without a text it is only looked for
unset DEVELOPER_DIR
tools=$(xcode-select -p 2>/dev/null) && [ -x "$tools/usr/bin/python3" ] || exit 72 # EX_OSFILE
[ $# -eq 0 ] || exec "$tools/usr/bin/python3" -IBS -c "$@"
