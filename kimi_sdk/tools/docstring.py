"""Texts of a docstring: what the function does, and what each argument means.

Google, NumPy and Sphinx styles, read by griffe. A docstring without sections needs no griffe.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import griffe

Style = Literal["google", "numpy", "sphinx"]

STYLES: tuple[tuple[Style, re.Pattern[str]], ...] = (
    (
        "sphinx",
        re.compile(r"^\s*:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?)\b", re.M),
    ),
    (
        "numpy",
        re.compile(
            r"^\s*(Parameters|Other Parameters|Returns|Yields|Raises|Notes|Examples)\s*\n\s*-{3,}\s*$", re.M
        ),
    ),
    (
        "google",
        re.compile(
            r"^\s*(Args|Arguments|Params|Parameters|Keyword Args|Keyword Arguments|Other Parameters|Returns?"
            r"|Yields?|Raises|Exceptions|Notes?|Examples?|Attributes|Warns?|Warnings?):\s*$",
            re.M | re.I,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Texts:
    """``description`` is the text outside of sections; ``arguments`` maps names to their texts."""

    description: str
    arguments: dict[str, str]


def describe(docstring: str, names: Sequence[str]) -> Texts:
    """Take the texts out of a docstring.

    Args:
        docstring: with its indentation removed.
        names: the function's parameters; texts about anything else are left out.
    """
    style = next((style for style, pattern in STYLES if pattern.search(docstring)), None)
    if style is None:
        return Texts(docstring.strip(), {})
    paragraphs: list[str] = []
    arguments: dict[str, str] = {}
    for section in _sections(docstring, style):
        if section.kind.value == "text":
            paragraphs.append(str(section.value).strip())
        elif section.kind.value in ("parameters", "other parameters"):
            for item in section.value:
                name = str(item.name).lstrip("*").split(" ")[0]
                text = str(item.description).strip()
                if name in names and text:
                    arguments[name] = text
    return Texts("\n\n".join(paragraphs), arguments)


def _sections(docstring: str, style: Style) -> list[griffe.DocstringSection]:
    import griffe

    text = griffe.Docstring(docstring)
    match style:
        case "google":
            return griffe.parse_google(text, warnings=False)
        case "numpy":
            return griffe.parse_numpy(text, warnings=False)
        case "sphinx":
            return griffe.parse_sphinx(text, warnings=False)
