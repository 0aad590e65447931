"""Lark text under construction: rules, shared terminals, and K3's special tokens in it."""

from __future__ import annotations

import json

from kimi_sdk.errors import SchemaError
from kimi_sdk.protocol.pattern import full
from kimi_sdk.protocol.probe import error_of, sentence
from kimi_sdk.protocol.tokenizer import Tokenizer

# Integers of more digits, and exponents of more, would leave what Python and a double can hold.
INTEGER = r"/-?(?:0|[1-9][0-9]{0,99})/"
NUMBER = r"/-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,2})?/"
TEXT = r"/(?s:.*)/"


class Rules:
    """A grammar's rules; special tokens stand in it by their ids, so no text can ever spell one.

    Attributes:
        delicate: whether some terminal is an intersection that may end without looking like an end. The
            matcher fails where it would force a special token after such a one, so it must not force any.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.sep = f"<[{tokenizer.sep_id}]>"
        self.end = f"<[{tokenizer.end_of_msg_id}]>"
        self._open = f"<[{tokenizer.open_id}]>"
        self._close = f"<[{tokenizer.close_id}]>"
        self._rules: dict[str, str] = {}
        self._terminals: dict[str, str] = {}
        self.delicate = False

    def rule(self, name: str, body: str) -> str:
        """Adds a rule and gives its name."""
        self._rules[name] = body
        return name

    def terminal(self, body: str) -> str:
        """The name of the terminal with this body."""
        return self._terminals.setdefault(body, f"T{len(self._terminals)}")

    def opening(self, tag: str) -> str:
        """The marker that opens an element without attributes."""
        return f"{self.begin(literal(tag))} {self.sep}"

    def begin(self, head: str) -> str:
        """The beginning of a marker; ``head`` is a Lark expression for what stands in it first."""
        return f"{self._open} {head}"

    def closing(self, tag: str) -> str:
        """The marker that closes ``tag``."""
        return f"{self._close} {literal(tag)} {self.sep}"

    def element(self, tag: str, inside: str) -> str:
        """An element without attributes."""
        return f"{self.opening(tag)} {inside} {self.closing(tag)}"

    def lark(self) -> str:
        """The whole grammar."""
        lines = ['%llguidance {"no_forcing": true}'] if self.delicate else []
        lines += [f"{name}: {body}" for name, body in self._rules.items()]
        lines += [f"{name}: {body}" for body, name in self._terminals.items()]
        return "\n".join(lines)


def literal(text: str) -> str:
    """A text as a Lark string."""
    return json.dumps(text, ensure_ascii=False)


def attribute(name: str, value: str) -> str:
    """An attribute as it is spelled in a marker, blank first."""
    escaped = value.replace("&", "&amp;").replace('"', "&quot;")
    return f' {name}="{escaped}"'


def regex(pattern: str, at: str, *, search: bool) -> str:
    """A translated pattern as a Lark regular expression.

    Args:
        pattern: in the matcher's dialect.
        at: JSON pointer of the pattern.
        search: whether it may be found anywhere in the text, or must be the whole text.

    Raises:
        SchemaError: the matcher does not know it.
    """
    from llguidance import regex_to_lark

    body = f"/{regex_to_lark(full(pattern, search=search), '')}/"
    if message := error_of(f"start: T\nT: {body}"):
        raise SchemaError(
            f"The pattern {pattern!r} at {at or '/'!r} cannot be enforced as it is written: "
            f"{sentence(message)}.",
            pointer=at,
            keyword="pattern",
        )
    return body
