"""The tools that look things up in the packaged data: ``country_facts`` and ``define_word``.

The files and their sources are described in data/README.md; each is read on first use.
"""

from __future__ import annotations

import difflib
import functools
import gzip
import json
import unicodedata
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import Field

from kimi_sdk.errors import Retry


def country_facts(
    country: Annotated[str, Field(description="Name in English")],
    fact: Literal["capital", "population", "area", "currency", "languages", "region", "borders"],
) -> str:
    """Look up one fact about a country."""
    name, entry = _country(country)
    value = entry[fact]
    match fact:
        case "borders" if not value:
            return f"{name} has no land borders."
        case "area" if value:
            return f"{value} square km"
        case _ if not value:
            raise Retry(f"The {fact} of {name} is not known.")
    return ", ".join(value) if isinstance(value, list) else str(value)


def define_word(word: Annotated[str, Field(description="English word")]) -> str:
    """Define a word in a few words."""
    wanted = " ".join(word.casefold().replace("_", " ").split())
    if not wanted:
        raise Retry("The word is empty.")
    entries, irregular = _words()
    for form in _forms(wanted, irregular):
        if form in entries:
            kind, text = entries[form]
            return f"{kind}: {text}" if form == wanted else f"{form}, {kind}: {text}"
    near = difflib.get_close_matches(wanted, [w for w in entries if w[0] == wanted[0]], n=1, cutoff=0.8)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise Retry(f"The dictionary has no word {word.strip()[:60]!r}.{hint}")


def _read(name: str) -> bytes:
    return resources.files("kimi_sdk").joinpath("data", name).read_bytes()


def _folded(name: str) -> str:
    """A name without case, accents, dots, dashes and a leading "the"."""
    plain = unicodedata.normalize(
        "NFKD", name.casefold().replace("'", "").replace("’", "").replace("&", " and ")
    )
    letters = "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c) and c != ".")
    words = letters.split()
    return " ".join(words[1:] if words[:1] == ["the"] and len(words) > 1 else words)


@functools.cache
def _countries() -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Entries by name, and names by every folded spelling. A country's own name wins over aliases."""
    entries: dict[str, Any] = json.loads(_read("countries.json"))
    names: dict[str, str] = {_folded(name): name for name in entries}
    for name, entry in entries.items():
        for alias in entry["aliases"]:
            names.setdefault(_folded(alias), name)
    return entries, names


def _country(asked: str) -> tuple[str, Any]:
    entries, names = _countries()
    folded = _folded(asked)
    if folded in names:
        return names[folded], entries[names[folded]]
    near = difflib.get_close_matches(folded, names, n=1, cutoff=0.75)
    hint = f" Did you mean {names[near[0]]}?" if near else ""
    raise Retry(f"There is no country {asked.strip()[:60]!r} in the data.{hint}")


@functools.cache
def _words() -> tuple[Mapping[str, tuple[str, str]], Mapping[str, str]]:
    """Kind and definition by word, and words by irregular form."""
    entries: dict[str, tuple[str, str]] = {}
    irregular: dict[str, str] = {}
    for line in gzip.decompress(_read("words.txt.gz")).decode().splitlines():
        word, *rest = line.split("\t")
        if word.startswith("="):
            irregular[word[1:]] = rest[0]
        else:
            entries[word] = (rest[0], rest[1])
    return entries, irregular


# An ending, and what to put in its place to reach the form that a dictionary lists.
ENDINGS = (
    ("ies", "y"), ("es", ""), ("es", "e"), ("s", ""), ("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""),
    ("ing", "e"), ("est", ""), ("est", "e"), ("er", ""), ("er", "e"),
)  # fmt: skip


def _forms(word: str, irregular: Mapping[str, str]) -> Iterator[str]:
    yield word
    yield word.replace("-", " ")
    if word in irregular:
        yield irregular[word]
    for ending, instead in ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word[: -len(ending)]
            yield stem + instead
            if not instead and stem[-1] == stem[-2:-1]:  # "running": "runn", "run"
                yield stem[:-1]
