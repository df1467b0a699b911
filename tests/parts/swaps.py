"""Texts of rigs and devices with other parts in them."""


def swapped(text, *changes):
    """Return a text with each old part replaced; every one of them is there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text
