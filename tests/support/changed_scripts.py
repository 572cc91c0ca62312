"""Changes to scripts of the lab, mostly so that they wait for a shorter time."""


def changed(text: str, *replacements: tuple[str, str]) -> str:
    """Replace parts of a text; each part must be there."""
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text
