"""Template lines and pools of them.

A line such as ``[convert|change] {v} {a} [to|into] {b}`` holds alternations in square brackets (an empty
branch is allowed, nesting too) and slots in braces. Sampling a line gives pieces: literal strings and
``Slot`` values, so that noise can be put on the literal words without touching what must be copied.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from training.data.split import held_frames

BREAK = "⏎"
"""Stands for a line break inside a template line."""


class Slot(str):
    """The name of a slot; distinct from literal text by its type."""

    __slots__ = ()


Piece = str
Node = "str | Slot | tuple[Node, ...] | list[Node]"


def compile_line(line: str) -> tuple[object, ...]:
    """The line as a tree: tuples are sequences, lists are alternations."""
    tree, end = _sequence(line.replace(BREAK, "\n"), 0, top=True)
    if end != len(line):
        raise ValueError(f"Unbalanced bracket at {end} in template {line!r}.")
    return tree


def _sequence(line: str, at: int, *, top: bool = False) -> tuple[tuple[object, ...], int]:
    nodes: list[object] = []
    text = ""
    while at < len(line):
        char = line[at]
        if char == "[":
            if text:
                nodes.append(text)
                text = ""
            branches: list[object] = []
            while True:
                branch, at = _sequence(line, at + 1)
                branches.append(branch)
                if at >= len(line):
                    raise ValueError(f"Missing ']' in template {line!r}.")
                if line[at] == "]":
                    break
            nodes.append(branches)
            at += 1
        elif char == "{":
            if text:
                nodes.append(text)
                text = ""
            end = line.index("}", at)
            nodes.append(Slot(line[at + 1 : end]))
            at = end + 1
        elif char in "|]" and not top:
            break
        else:
            text += char
            at += 1
    if text:
        nodes.append(text)
    return tuple(nodes), at


def draw(tree: tuple[object, ...], rng: random.Random, out: list[str]) -> None:
    """Appends one sampling of ``tree`` to ``out``."""
    for node in tree:
        if isinstance(node, str):
            out.append(node)
        elif isinstance(node, list):
            draw(node[int(rng.random() * len(node))], rng, out)
        else:
            draw(node, rng, out)  # type: ignore[arg-type]


def fill(pieces: Sequence[str], slots: Mapping[str, str]) -> str:
    """The text of ``pieces`` with every slot replaced by its value."""
    return "".join([slots[piece] if type(piece) is Slot else piece for piece in pieces])


class Pool:
    """Lines that say the same thing, divided into those for training and those held out.

    ``train`` and ``held`` are compiled lines. A pool whose held-out part is empty serves both sides with
    its training lines (small pools of connecting words do that; intents must not, and a test says so).
    """

    def __init__(self, name: str, lines: str | Sequence[str]) -> None:
        self.name = name
        listed = lines.splitlines() if isinstance(lines, str) else list(lines)
        self.lines = [line for line in (entry.strip("\n") for entry in listed) if line.strip()]
        self.lines = [line.strip() if isinstance(lines, str) else line for line in self.lines]
        held = held_frames(name, self.lines)
        self.held = [compile_line(line) for line in self.lines if line in held]
        self.train = [compile_line(line) for line in self.lines if line not in held]

    def pieces(self, rng: random.Random, held: bool = False) -> list[str]:
        """One sampling of one line; from the held-out lines when ``held`` and there are any."""
        lines = self.held if held and self.held else self.train
        out: list[str] = []
        draw(lines[int(rng.random() * len(lines))], rng, out)
        return out

    def text(self, rng: random.Random, slots: Mapping[str, str] | None = None, held: bool = False) -> str:
        """One sampling as text."""
        return fill(self.pieces(rng, held), slots or {})
