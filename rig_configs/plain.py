"""Text that leaves, made harmless for its destination: screens, comments, strings, TOML, file names.

Names of our own files are checked when they are read (`rig_configs.names`); those of EEPROMs, ESI files,
logs and foreign run folders cannot be, so they are escaped here. HTML is escaped by its templates.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST_FILE_NAME = 64
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
PICTURES = 0x2400  # of control characters, in their order
DELETE = 0x7F


def is_shown(character: str) -> bool:
    """Tell a character that is seen where it stands from a control, direction mark, surrogate or line break."""
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def shown(text: str) -> str:
    """`text` for a screen: as long as before, with each control and direction character as a picture.

    Line breaks and tabs stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or is_shown(c) else _picture(c) for c in text)


def line(text: str, most: int = 200) -> str:
    """`text` as one line for a screen, cut to `most` characters."""
    flat = shown(text.replace("\n", "\N{SYMBOL FOR NEWLINE}").replace("\t", " "))
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def comment(text: str) -> str:
    """`text` as a part of a comment, docstring or plain string in C, Python, Cython or TOML.

    Nothing in it ends or continues any of them.
    """
    ascii_only = "".join(c if " " <= c <= "~" else "." for c in text)
    harmless = ascii_only.translate({ord('"'): "'", ord("\\"): "/"})
    return re.sub(r"(?<=[*])/|(?<=/)[*]|(?<=[?])[?]|(?<=')'", r" \g<0>", harmless)


def c_string(text: str) -> str:
    """A string literal of C with the bytes of `text`."""
    made = []
    for byte in text.encode("utf-8", errors="replace"):
        character = chr(byte)
        if character in '"\\?':
            made.append("\\" + character)
        elif " " <= character <= "~":
            made.append(character)
        else:
            made.append(f"\\{byte:03o}")
    return '"' + "".join(made) + '"'


def toml_string(text: str) -> str:
    """A basic string of TOML that reads back as `text`."""
    made = []
    for character in text:
        if character in '"\\':
            made.append("\\" + character)
        elif "\ud800" <= character <= "\udfff":
            made.append(REPLACEMENT)
        elif is_shown(character):
            made.append(character)
        else:
            code = ord(character)
            made.append(f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")
    return '"' + "".join(made) + '"'


def toml_key(text: str) -> str:
    """A key of TOML, quoted where it has to be."""
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else toml_string(text)


def json_text(text: str) -> str:
    """JSON whose strings hold no character that a screen obeys: escaped as JSON escapes them."""
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(
        c if c in "\n\t" or is_shown(c) else "".join(f"\\u{u:04x}" for u in _utf16(c)) for c in text
    )


def file_name(text: str, otherwise: str = "unnamed") -> str:
    """A name for a file or folder that stays in its folder, on every file system."""
    kept = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("._-")[:LONGEST_FILE_NAME].rstrip("._-")
    return kept or otherwise


def math_free(text: str) -> str:
    """`text` for matplotlib, which reads what stands between two $ as TeX."""
    return shown(text).replace("$", r"\$")


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(PICTURES + code)
    return "\N{SYMBOL FOR DELETE}" if code == DELETE else REPLACEMENT


def _utf16(character: str) -> list[int]:
    raw = character.encode("utf-16-be", errors="surrogatepass")
    return [int.from_bytes(raw[k : k + 2], "big") for k in range(0, len(raw), 2)]
