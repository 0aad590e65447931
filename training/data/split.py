"""Which frames and values are held out from training, decided by a hash of their text alone.

A frame (one template line) is held out when ``crc32(pool name + line) % 12 == 0``; a value (a word, a
name, a country, a number of three digits or more) when ``crc32(value) % 16 == 0``. The rule needs no list,
never moves when lines are added, and is the same on every machine.
"""

from __future__ import annotations

from zlib import crc32

FRAME_PART = 12
VALUE_PART = 16


def frame_held(pool: str, line: str) -> bool:
    """Whether the template ``line`` of ``pool`` is kept for evaluation."""
    return crc32(f"{pool}\n{line}".encode()) % FRAME_PART == 0


def value_held(value: str) -> bool:
    """Whether ``value`` (compared without case) is kept for evaluation."""
    return crc32(value.lower().encode()) % VALUE_PART == 0
