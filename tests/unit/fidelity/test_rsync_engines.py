"""What each rsync can keep, from what it says itself."""

from support.paths import LINUX_CAPTURES, MACOS_CAPTURES

from lab.fidelity.copiers import NOT_BUILT, THERE, UNKNOWN, UNTOLD, Engine, list_options, parse_engine

VERSION = (LINUX_CAPTURES / "rsync-version-3.5.txt").read_text()
HELP = (LINUX_CAPTURES / "rsync-help-3.5.txt").read_text()
# written by hand, of the synopsis in Apple's manual page of openrsync
OPENRSYNC_HELP = """\
usage: openrsync [-0468BCDEFHILOPRSTWVabcdefghklnopqrtuvxy] [-e program]
\t[-f filter] [--address=sourceaddr] [--cache | --no-cache] [--numeric-ids] source ... directory
"""
# written by hand, as 2.6.9 and 3.1 print their lists, with the options of MacPorts' patches
PATCHED_HELP = """\
Options
 -v, --verbose               increase verbosity
 -H, --hard-links            preserve hard links
 -A, --acls                  preserve ACLs (implies --perms)
 -X, --xattrs                preserve extended attributes
 -N, --crtimes               preserve create times (newness)
 -x, --one-file-system       don't cross filesystem boundaries
     --fileflags             preserve file-flags (aka chflags)
     --force-change          affect user/system immutable files/dirs
 -S, --sparse                handle sparse files efficiently
"""


def engine(version: str, usage: str) -> Engine:
    return parse_engine("client", "/usr/bin/rsync", version, usage)


def test_debians_keeps_lists_and_attributes_and_refuses_the_line_of_2015() -> None:
    debians = engine(VERSION, HELP)
    assert (debians.version, debians.keeping) == ("rsync 3.5.0, protocol 32", ("-HAXUS",))
    assert debians.options["N"] == NOT_BUILT
    words = "--fileflags (no such option), --force-change (no such option)"
    assert debians.answer == f"refuses it: -N (built without it), {words}"


def test_options_that_a_description_names_are_none_of_its_own() -> None:
    """`--archive, -a  archive mode is -rlptgoD (no -A,-X,-U,-N,-H)`."""
    line = next(line for line in HELP.splitlines() if line.startswith("--archive"))
    assert list_options(line) == ({"a"}, {"archive"})


def test_openrsync_refuses_nearly_all_of_the_line() -> None:
    openrsync = engine((MACOS_CAPTURES / "rsync-version-15.4.txt").read_text(), OPENRSYNC_HELP)
    assert (openrsync.version, openrsync.keeping) == ("openrsync, protocol 29", ("-HSE",))
    assert openrsync.options["E"] == THERE
    unknown = {option for option, why in openrsync.options.items() if why == UNKNOWN}
    assert unknown == {"N", "A", "X", "U", "fileflags", "force-change"}


def test_e_is_an_option_of_apples_engines_and_another_one_in_3() -> None:
    old = engine("rsync  version 2.6.9  protocol version 29\n", " -E, --extended-attributes  copy\n -H, --hard-links\n")
    assert (old.options["E"], old.keeping) == (THERE, ("-HE",))
    new = engine("rsync  version 3.4.1  protocol version 32\n", "--executability, -E   copy\n--hard-links, -H\n")
    assert (new.options["E"], new.keeping) == (UNKNOWN, ("-H",))


def test_a_patched_build_takes_all_of_the_line() -> None:
    patched = engine("rsync  version 3.1.0  protocol version 31\nCapabilities: ACLs, xattrs\n", PATCHED_HELP)
    keeping = ("-HAXNS", "--fileflags", "--force-change")
    assert (patched.answer, patched.keeping) == ("takes all of it", keeping)


def test_one_that_says_nothing_is_taken_for_nothing() -> None:
    silent = engine("", "")
    assert (silent.version, silent.keeping, set(silent.options.values())) == ("says nothing", (), {UNTOLD})
