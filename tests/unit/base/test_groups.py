"""Values by key keep their order."""

from lab.base.groups import grouped


def test_keys_and_values_keep_the_order_in_which_they_come() -> None:
    groups = grouped([("b", 1), ("a", 2), ("b", 3)])
    assert list(groups.items()) == [("b", [1, 3]), ("a", [2])]


def test_no_pairs_give_no_groups() -> None:
    assert grouped(()) == {}
