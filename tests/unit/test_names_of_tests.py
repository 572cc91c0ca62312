"""Files of tests have names of their own: pytest takes two of one name in two folders for the same module."""

from collections import Counter

from support.paths import TESTS


def test_no_two_files_of_tests_have_one_name() -> None:
    names = Counter(path.name for path in TESTS.rglob("test_*.py"))
    assert len(names) > 100
    assert [name for name, count in names.items() if count > 1] == []
