"""What the matcher says about a small grammar, asked byte by byte and before any token is spent."""

from __future__ import annotations

import re
from functools import lru_cache

NO_TEXT = "no text satisfies it"


@lru_cache(maxsize=1024)
def error_of(lark: str) -> str:
    """The matcher's message about a grammar; ``""`` if it is sound and has at least one text."""
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(lark), log_level=0)
    if matcher.is_error():
        return re.sub(r"^at \d+\(\d+\): (failed to compile JSON schema: )?", "", str(matcher.get_error()))
    mask = bytearray(matcher.compute_bitmask())
    mask[tokenizer.eos_token // 8] &= ~(1 << tokenizer.eos_token % 8)
    return "" if any(mask) or matcher.is_accepting() else NO_TEXT


def sentence(message: str) -> str:
    """The line of a matcher's message that says what is wrong, without advice on the matcher's options."""
    lines = message.splitlines() or [""]
    told = next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), lines[0])
    return re.sub(r"\. Enable '.*", "", told)


def is_empty(message: str) -> bool:
    """Whether a message of the matcher says that nothing satisfies the grammar."""
    return message == NO_TEXT or "Unsatisfiable" in message
