"""The inside of a marker, between ``<|open|>`` or ``<|close|>`` and ``<|sep|>``: a tag name and attributes.

Says when such text can still become a tag, when it is one, and what its attributes are.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

BARE_TAGS = frozenset({"think", "response", "tools"})
TAGS = BARE_TAGS | {"call", "argument", "json", "message"}
# A longer text is no header: the bound keeps a stream without separators from being held for ever.
LONGEST = 8_192

_NAME = r"[^\s=\"<>]+"
_ATTRIBUTE = rf'{_NAME}\s*=\s*"[^"]*"'
_ATTRIBUTES = re.compile(rf"(?:\s*{_ATTRIBUTE})*\s*")
_PARTIAL = re.compile(rf'(?:\s*{_ATTRIBUTE})*\s*(?:{_NAME}\s*(?:=\s*(?:"[^"]*)?)?)?')
_EACH = re.compile(rf'({_NAME})\s*=\s*"([^"]*)"')
_WORD = re.compile(r"[a-z]*")


@dataclass(frozen=True, slots=True)
class Header:
    """A tag that was opened or closed; ``text`` is how it was spelled."""

    tag: str
    attributes: dict[str, str]
    text: str


def read(text: str, tags: Set[str] = TAGS) -> Header | None:
    """The header that ``text`` spells, ``None`` when it is not one, or not yet."""
    name, rest = _split(text)
    if name not in tags or (name in BARE_TAGS and rest.strip()):
        return None
    if name not in BARE_TAGS and (
        not _ATTRIBUTES.fullmatch(rest) or (rest.strip() and not rest[0].isspace())
    ):
        return None
    return Header(name, {key: unescape(value) for key, value in _EACH.findall(rest)}, text)


def viable(text: str, tags: Set[str] = TAGS) -> bool:
    """Whether more text could make a header of ``text``."""
    if len(text) > LONGEST:
        return False
    name, rest = _split(text)
    if not rest:
        return any(tag.startswith(name) for tag in tags)
    if name not in tags or not rest[0].isspace():
        return False
    return not rest.strip() if name in BARE_TAGS else _PARTIAL.fullmatch(rest) is not None


def viable_length(text: str, tags: Set[str] = TAGS) -> int:
    """Length of the longest start of ``text`` that could still become a header."""
    low, high = 0, min(len(text), LONGEST + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if viable(text[:middle], tags):
            low = middle
        else:
            high = middle - 1
    return low


def unescape(value: str) -> str:
    """An attribute's value; the order matters: ``&amp;quot;`` stands for ``&quot;``."""
    return value.replace("&quot;", '"').replace("&amp;", "&")


def _split(text: str) -> tuple[str, str]:
    text = text.lstrip()
    match = _WORD.match(text)
    end = match.end() if match else 0
    return text[:end], text[end:]
