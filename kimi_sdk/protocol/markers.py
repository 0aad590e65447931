"""Finds literal marker spellings in streamed text, however it is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


class MarkerSplitter:
    """Tells text from markers and holds back an end that may become one."""

    def __init__(self, spellings: Sequence[str]) -> None:
        self._find = re.compile("|".join(map(re.escape, sorted(spellings, key=len, reverse=True))))
        self._prefixes = {spelling[:n] for spelling in spellings for n in range(1, len(spelling))}
        self._longest = max(map(len, spellings)) - 1
        self.pending = ""

    def push(self, text: str) -> Iterator[tuple[bool, str]]:
        """Pairs of (whether it is a marker, its text)."""
        text = self.pending + text
        self.pending = ""
        begin = 0
        for match in self._find.finditer(text):
            if match.start() > begin:
                yield False, text[begin : match.start()]
            yield True, match.group()
            begin = match.end()
        end = len(text)
        for length in range(min(self._longest, end - begin), 0, -1):
            if text[end - length :] in self._prefixes:
                self.pending = text[end - length :]
                end -= length
                break
        if end > begin:
            yield False, text[begin:end]
