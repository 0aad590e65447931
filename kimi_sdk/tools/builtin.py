"""The fifteen tools that come with the package, gathered. Each lives with what it is about.

The bundled model was trained on these names and arguments: changing one is changing the model's world.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from typing import Any

from kimi_sdk.tools.arithmetic import calculate
from kimi_sdk.tools.dates import clock, day_of_week, days_between, shift_date, shift_time
from kimi_sdk.tools.facts import country_facts, define_word
from kimi_sdk.tools.files import Folder
from kimi_sdk.tools.notes import Notes
from kimi_sdk.tools.tool import Tool, tool
from kimi_sdk.tools.units import convert_units


def builtin_tools(
    root: str | os.PathLike[str] = ".", *, now: Callable[[], datetime] = datetime.now
) -> list[Tool[..., Any]]:
    """The built-in tools. Each call makes its own, empty store of notes.

    Args:
        root: the folder that the file tools may read; nothing outside of it can be reached.
        now: the clock that ``current_time`` reads.

    Raises:
        ConfigError: ``root`` is not a folder.
    """
    notes, folder = Notes(), Folder(root)
    once: list[Callable[..., Any]] = [
        calculate,
        convert_units,
        shift_date,
        days_between,
        day_of_week,
        shift_time,
        clock(now),
        country_facts,
        define_word,
        folder.read_file,
        folder.list_files,
        folder.search_files,
        notes.read_note,
        notes.list_notes,
    ]
    repeatable = tool(idempotent=True)
    made = {made.name: made for made in map(repeatable, once)}
    made["save_note"] = tool(sequential=True)(notes.save_note)
    return [made[name] for name in ORDER]


ORDER = (
    "calculate",
    "convert_units",
    "shift_date",
    "days_between",
    "day_of_week",
    "shift_time",
    "current_time",
    "country_facts",
    "define_word",
    "save_note",
    "read_note",
    "list_notes",
    "read_file",
    "list_files",
    "search_files",
)
