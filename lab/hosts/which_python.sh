# shellcheck shell=sh
# On a Mac without perl print the path of the python3 of its Command Line Tools or Xcode, where it has them; else nothing.
# Which ones is up to root there, and to no variable of this account.
[ "$(uname)" = Darwin ] && [ ! -x /usr/bin/perl ] && unset DEVELOPER_DIR && tools=$(xcode-select -p 2>/dev/null) &&
    [ -x "$tools/usr/bin/python3" ] && echo "$tools/usr/bin/python3"
:
