"""Lark text under construction: rules, shared terminals, and K3's special tokens in it."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from kimi_sdk.errors import SchemaError
from kimi_sdk.protocol.tokenizer import Tokenizer

# Integers of more digits, and exponents of more, would leave what Python and a double can hold.
INTEGER = r"/-?(?:0|[1-9][0-9]{0,99})/"
NUMBER = r"/-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,2})?/"
NO_TEXT = "no text satisfies it"
TEXT = r"/(?s:.*)/"


class Rules:
    """A grammar's rules; special tokens stand in it by their ids, so no text can ever spell one."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.sep = f"<[{tokenizer.sep_id}]>"
        self.end = f"<[{tokenizer.end_of_msg_id}]>"
        self._open = f"<[{tokenizer.open_id}]>"
        self._close = f"<[{tokenizer.close_id}]>"
        self._rules: dict[str, str] = {}
        self._terminals: dict[str, str] = {}

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
        lines = [f"{name}: {body}" for name, body in self._rules.items()]
        lines += [f"{name}: {body}" for body, name in self._terminals.items()]
        return "\n".join(lines)


def literal(text: str) -> str:
    """A text as a Lark string."""
    return json.dumps(text, ensure_ascii=False)


def attribute(name: str, value: str) -> str:
    """An attribute as it is spelled in a marker, blank first."""
    escaped = value.replace("&", "&amp;").replace('"', "&quot;")
    return f' {name}="{escaped}"'


def regex(pattern: str, at: str = "") -> str:
    """A pattern of the matcher's dialect as a Lark regular expression.

    Raises:
        SchemaError: the matcher does not know it.
    """
    from llguidance import regex_to_lark

    body = f"/{regex_to_lark(pattern, '')}/"
    if message := error_of(f"start: T\nT: {body}"):
        reason = next(
            (line for line in message.splitlines() if line.startswith("error:")), message.splitlines()[0]
        )
        raise SchemaError(
            f"The pattern {pattern!r} at {at or '/'!r} cannot be enforced as it is written: {reason}.",
            pointer=at,
            keyword="pattern",
        )
    return body


@lru_cache(maxsize=1024)
def error_of(lark: str) -> str:
    """The matcher's message about a small grammar; ``""`` if it is sound and has at least one text."""
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(lark), log_level=0)
    if matcher.is_error():
        return re.sub(r"^at \d+\(\d+\): (failed to compile JSON schema: )?", "", str(matcher.get_error()))
    mask = bytearray(matcher.compute_bitmask())
    mask[tokenizer.eos_token // 8] &= ~(1 << tokenizer.eos_token % 8)
    return "" if any(mask) or matcher.is_accepting() else NO_TEXT
