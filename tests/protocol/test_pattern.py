"""Patterns and formats: what the matcher enforces, Python's re and pydantic accept as well."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from kimi_sdk.protocol.pattern import FORMATS, full, translate
from kimi_sdk.schema import byte_matcher

PATTERNS = [
    "^[a-z]+$",
    "abc",
    "^a|b$",
    r"\d+",
    r"^\D+$",
    r"\w-\W",
    r"^[\w.-]+$",
    r"^[^\W]+$",
    r"^[^\d]$",
    r"\s\S",
    r"^[\S ]$",
    r"a\|b",
    r"^(a|b)c$",
    r"(?i)x",
    r"[[a]",
    r"[]a]",
    r"^\<a\>$",
    r"[a&&b]",
    r"\.\$",
    "^$",
    r"\/x",
    r"é|漢",
    r"^.$",
]


def matcher(pattern: str, *, search: bool) -> object:
    from llguidance import regex_to_lark

    body = regex_to_lark(full(translate(pattern), search=search), "")
    return byte_matcher({"grammars": [{"lark_grammar": f"start: T\nT: /{body}/"}]}, "pattern")


MATCHERS = {pattern: matcher(pattern, search=True) for pattern in PATTERNS}


@given(pattern=st.sampled_from(PATTERNS), text=st.text("abcxXé漢 -_.1٣|$/<>[]&\n\u2028\x1c", max_size=4))
def test_enforced_patterns_match_in_python(pattern: str, text: str) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        found = re.search(pattern, text) is not None
    enforced = MATCHERS[pattern](text)  # type: ignore[operator]
    assert found or not enforced
    if text.isascii() and "\x1c" not in text and "\n" not in text and "&&" not in pattern:
        assert enforced == found


@pytest.mark.parametrize(
    ("name", "python", "good", "bad"),
    [
        (
            "date",
            "datetime.date",
            ["2024-02-29", "0001-12-31", "2000-02-29"],
            ["2023-02-29", "1900-02-29", "2024-04-31"],
        ),
        (
            "date-time",
            "datetime.datetime",
            ["2024-01-01T00:00:00Z", "2024-01-01T23:59:59.5+05:30"],
            ["2024-01-01"],
        ),
        ("time", "datetime.time", ["00:00:00Z"], ["24:00:00Z", "00:00:60Z"]),
        ("duration", "datetime.timedelta", ["P3DT4H", "PT5M", "P2W"], ["P", "PT", "3D"]),
        ("uuid", "uuid.UUID", ["6f9619ff-8b86-d011-b42d-00cf4fc964ff"], ["6f9619ff8b86d011b42d00cf4fc964ff"]),
        ("ipv4", "ipaddress.IPv4Address", ["0.0.0.0", "255.1.20.3"], ["256.1.1.1", "1.2.3", "01.2.3.4"]),
        (
            "ipv6",
            "ipaddress.IPv6Address",
            ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "a::b"],
            ["1:2", ":::", "1::2::3"],
        ),
        ("uri", "pydantic.AnyUrl", ["https://a.b-c/d?e#f", "mailto:x@y"], ["a b", "https://"]),
        ("base64", "pydantic.Base64Bytes", ["", "QQ==", "QUI=", "QUJD"], ["Q", "QQ=", "QR=="]),
    ],
)
def test_formats(name: str, python: str, good: list[str], bad: list[str]) -> None:
    import importlib

    module, _, attribute = python.rpartition(".")
    adapter: TypeAdapter[object] = TypeAdapter(getattr(importlib.import_module(module), attribute))
    matches = matcher(f"^(?:{FORMATS[name]})$", search=True)
    for text in good:
        assert matches(text), text  # type: ignore[operator]
        adapter.validate_python(text)
    for text in bad:
        assert not matches(text), text  # type: ignore[operator]
