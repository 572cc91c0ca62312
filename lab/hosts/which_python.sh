# shellcheck shell=sh
# On a Mac without perl print the path of the python3 of its Command Line Tools or Xcode, where it has them; else print
# nothing. Root chooses which of them xcode-select names; DEVELOPER_DIR, with which an account could, is taken away.
[ "$(uname)" = Darwin ] && [ ! -x /usr/bin/perl ] && unset DEVELOPER_DIR && tools=$(xcode-select -p 2>/dev/null) &&
    [ -x "$tools/usr/bin/python3" ] && echo "$tools/usr/bin/python3"
:
