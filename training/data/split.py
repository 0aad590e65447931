"""Which frames and values are held out from training, decided by a hash of their text alone.

A frame (one template line) is held out when ``crc32(pool name + line) % 12 == 0``; of a pool of four lines
or more in which this holds out none, the line with the smallest remainder is. A value (a word, a name, a
country, a number of three digits or more) is held out when ``crc32(value) % 16 == 0``. The rule needs no
list and is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

FRAME_PART = 12
SMALLEST = 4
VALUE_PART = 16


def held_frames(pool: str, lines: Sequence[str]) -> set[str]:
    """Which of the template ``lines`` of ``pool`` are kept for evaluation."""
    remainders = {line: crc32(f"{pool}\n{line}".encode()) % FRAME_PART for line in lines}
    least = min(remainders.values(), default=0) if len(lines) >= SMALLEST else 0
    held = {line for line, remainder in remainders.items() if remainder == 0}
    if held or len(lines) < SMALLEST:
        return held if len(held) < len(lines) else set()
    return {min(line for line, remainder in remainders.items() if remainder == least)}


def value_held(value: str) -> bool:
    """Whether ``value`` (compared without case) is kept for evaluation."""
    return crc32(value.lower().encode()) % VALUE_PART == 0
