"""The words of an error, line by line."""


def says_each(error, *parts):
    """Assert that each part is in a line of an error; return the lines."""
    lines = str(error).splitlines()
    for part in parts:
        assert any(part in line for line in lines), (part, lines)
    return lines
