"""Regular expressions and string formats of JSON Schema in the dialect of the matcher.

A translated pattern never matches more than Python's ``re`` does, so that what was enforced also passes
validation: ``\\d`` is ASCII where it is wanted and all digits where it is excluded, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kimi_sdk.errors import SchemaError

ANY = r"(?s:.*)"

# Narrow meanings (wanted characters) and wide ones (excluded characters) of the class escapes.
_NARROW: Mapping[str, str] = MappingProxyType({"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\x0b\x0c\r\x20"})
_WIDE: Mapping[str, str] = MappingProxyType(
    {"d": r"\p{N}", "w": r"\p{L}\p{M}\p{N}\p{Pc}", "s": r"\s\x1c-\x1f\x85\x{feff}"}
)
_ESCAPES: Mapping[str, str] = MappingProxyType({"<": "<", ">": ">", "0": r"\x00", "/": "/"})


def translate(pattern: str) -> str:
    """``pattern`` with class escapes spelled out and without operators that only the matcher knows."""
    out: list[str] = []
    at, inside, negated = 0, False, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            out.append(_escape(pattern[at + 1], inside, negated))
            at += 2
            continue
        if not inside and char == "[":
            inside, negated = True, pattern[at + 1 : at + 2] == "^"
            start = "[^" if negated else "["
            at += len(start)
            if pattern[at : at + 1] == "]":
                start, at = start + r"\]", at + 1
            out.append(start)
            continue
        if inside and char == "]":
            inside = False
        elif inside and (char in "[&~" or (char == "-" and pattern[at - 1] == "-")):
            char = "\\" + char
        out.append(char)
        at += 1
    return "".join(out)


def _escape(char: str, inside: bool, negated: bool) -> str:
    lower = char.lower()
    if lower not in _NARROW:
        if inside and char == "b":
            return r"\x08"
        return _ESCAPES.get(char, "\\" + char)
    if char == lower:
        members = (_WIDE if negated else _NARROW)[lower]
        return members if inside else f"[{members}]"
    return f"[^{(_NARROW if negated else _WIDE)[lower]}]"


def full(pattern: str, *, search: bool) -> str:
    """A pattern that must match a whole text.

    Args:
        pattern: translated, with ``^`` and ``$`` only at the ends of its alternatives.
        search: whether ``pattern`` may be found anywhere in the text (JSON Schema), or is the whole text.

    Raises:
        SchemaError: it has flags that change what ``^``, ``$`` or blanks mean.
    """
    flags, body = "", pattern
    if body.startswith("(?") and (end := body.find(")")) > 2 and body[2:end].isalpha():
        flags, body = body[: end + 1], body[end + 1 :]
        if set(flags) & set("mx"):
            raise SchemaError(
                f"The flags {flags!r} of the pattern {pattern!r} cannot be enforced.", keyword="pattern"
            )
    parts = []
    for part in _alternatives(body):
        head = part.startswith("^")
        tail = part.endswith("$") and not _escaped(part, len(part) - 1)
        inner = part[head : len(part) - tail]
        before, after = ("" if head or not search else ANY), ("" if tail or not search else ANY)
        parts.append(f"{before}(?:{inner}){after}")
    return flags + "|".join(parts)


def _escaped(text: str, at: int) -> bool:
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _alternatives(pattern: str) -> list[str]:
    parts, depth, inside, start, at = [], 0, False, 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif inside:
            # Nested classes come from class escapes only and hold no nested class themselves.
            if char == "[":
                at = pattern.find("]", at)
            inside = char != "]"
        elif char == "[":
            inside = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*parts, pattern[start:]]


def _ipv6() -> str:
    group = "[0-9a-fA-F]{1,4}"
    forms = [f"(?:{group}:){{7}}{group}", f"(?:{group}:){{1,7}}:", f":(?::{group}){{1,7}}", "::"]
    forms += [f"(?:{group}:){{1,{7 - n}}}(?::{group}){{1,{n}}}" for n in range(1, 7)]
    return "|".join(forms)


_YEAR = r"(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    rf"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    rf"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_CLOCK}:[0-5][0-9](?:\.[0-9]{{1,6}})?(?:Z|[+-]{_CLOCK})"
_SPAN = r"T(?:[0-9]{1,3}H(?:[0-9]{1,3}M)?(?:[0-9]{1,3}S)?|[0-9]{1,3}M(?:[0-9]{1,3}S)?|[0-9]{1,3}S)"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,28}[A-Za-z0-9])?"
_PLAIN_LABEL = r"[a-z][a-z0-9]{0,29}(?:-[a-z0-9]{1,15}){0,2}"
_ATOM = r"[A-Za-z0-9_+-]{1,30}"
_PATH = r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*"
_HEX = "[0-9a-fA-F]"
_BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
_VARIANT = rf"{_HEX}{{3}}-[89abAB]{_HEX}{{3}}"

# What a format demands; each is at most what its specification and pydantic both accept.
FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "date": _DATE,
        "date-time": rf"{_DATE}T{_TIME}",
        "time": _TIME,
        "duration": rf"P(?:[0-9]{{1,4}}W|[0-9]{{1,5}}D(?:{_SPAN})?|{_SPAN})",
        "email": rf"{_ATOM}(?:\.{_ATOM})?@(?:{_PLAIN_LABEL}\.){{1,3}}[a-z]{{2,10}}",
        "hostname": rf"(?:{_LABEL}\.){{0,7}}{_LABEL}",
        "ipv4": rf"(?:{_BYTE}\.){{3}}{_BYTE}",
        "ipv6": _ipv6(),
        "uri": rf"[a-z][a-z0-9+.-]{{0,15}}://(?:{_PLAIN_LABEL}\.){{0,5}}{_PLAIN_LABEL}(?::[1-9][0-9]{{0,3}})?"
        rf"(?:/{_PATH})?(?:\?{_PATH})?(?:#{_PATH})?|(?:mailto|urn|tel|geo):{_PATH}",
        "uuid": rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}",
        **{f"uuid{n}": rf"{_HEX}{{8}}-{_HEX}{{4}}-{n}{_VARIANT}-{_HEX}{{12}}" for n in range(1, 9)},
        "base64": _BASE64,
        "base64url": _BASE64.replace("+/", "_-"),
        "byte": _BASE64,
    }
)  # fmt: skip

# Formats that any string satisfies.
FREE_FORMATS = frozenset({"binary", "password", "path", "file-path", "directory-path"})
