"""Scripts of the lab that wait for less long than on a host."""


def changed(text: str, *replacements: tuple[str, str]) -> str:
    """A text with other words in place of some of its own, which are there."""
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text
