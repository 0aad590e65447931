"""The built-in tools as conversations declare and run them: under their own names, or renamed."""

from __future__ import annotations

import atexit
import itertools
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from kimi_sdk.errors import Retry
from kimi_sdk.tools.builtin import ORDER, builtin_tools
from kimi_sdk.tools.facts import _countries, _words
from kimi_sdk.tools.files import Folder
from kimi_sdk.tools.notes import Notes
from kimi_sdk.tools.tool import Tool
from training.data import words
from training.data.world import Declared, World

STATELESS = (
    "calculate",
    "convert_units",
    "shift_date",
    "days_between",
    "day_of_week",
    "shift_time",
    "country_facts",
    "define_word",
)
_number = itertools.count()


@cache
def country_names() -> list[str]:
    """English names of all countries that the tool knows."""
    return [name for name in _countries()[0] if name.isascii() and len(name) < 34]


@cache
def dictionary_entries() -> list[tuple[str, str]]:
    """``(word, definition)`` of the packaged dictionary."""
    return [(word, text) for word, (_, text) in _words()[0].items()]


@cache
def shipped_tools() -> dict[str, tuple[Tool[..., Any], Mapping[str, Any]]]:
    """Every built-in tool with its declaration, in product order."""
    return {tool.name: (tool, tool.declaration) for tool in builtin_tools(".")}


@cache
def _workplace() -> Path:
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None  # memory, not disk, where there is one
    place = Path(tempfile.mkdtemp(prefix="k3-mini-", dir=base))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def new_root() -> Path:
    """An empty folder for one conversation's files."""
    root = _workplace() / f"{os.getpid()}-{next(_number)}"
    root.mkdir()
    return root


def _function(world: World, key: str) -> Callable[..., Any]:
    if key in STATELESS:
        return shipped_tools()[key][0].function
    if key.endswith(("note", "notes")):
        notes: Notes = world.facts.setdefault("store", Notes())
        return getattr(notes, key)  # type: ignore[no-any-return]
    if key == "current_time":
        now = world.facts.get("now")
        if now is None:
            now = world.facts["now"] = datetime(2024, 1, 1) + timedelta(
                minutes=int(world.rng.random() * 5_000_000)
            )
        return lambda: now.strftime("%Y-%m-%d %H:%M")
    return getattr(Folder(world.facts["root"]), key)  # type: ignore[no-any-return]


def runner(
    world: World, key: str, back: Mapping[str, str]
) -> Callable[[Mapping[str, Any]], tuple[str, bool]]:
    """Runs a built-in tool for real; ``back`` maps declared argument names to its own."""

    def run(arguments: Mapping[str, Any]) -> tuple[str, bool]:
        try:
            return str(
                _function(world, key)(**{back.get(name, name): value for name, value in arguments.items()})
            ), False
        except Retry as refusal:
            return str(refusal), True

    return run


def declare_shipped(world: World, keys: Sequence[str], renamed: bool = False) -> None:
    """Declares built-in tools in the order of ``keys``."""
    for key in keys:
        if key.endswith(("file", "files")) and "root" not in world.facts:
            world.facts["root"] = new_root()
        if renamed:
            world.declare(key, rename(world, key))
        else:
            world.declare(key, Declared(key, shipped_tools()[key][1], runner(world, key, {})))


def close(world: World) -> None:
    """Removes the conversation's folder."""
    root = world.facts.pop("root", None)
    if root is not None:
        shutil.rmtree(root, ignore_errors=True)


def rename(world: World, key: str) -> Declared:
    """A built-in tool under another name, with other argument names and another description."""
    rng = world.rng
    names, descriptions, arguments = RENAMED[key]
    declaration = shipped_tools()[key][1]["function"]
    name = rng.choice(names.split()) if rng.random() < 0.55 else tool_name(rng, world.held)
    while any(tool.name == name for tool in world.tools.values()):
        name = tool_name(rng, world.held)
    mapping: dict[str, str] = {}
    properties: dict[str, Any] = {}
    for own, schema in declaration["parameters"]["properties"].items():
        choices = arguments[own].split()
        declared = rng.choice(choices) if rng.random() < 0.75 else words.word(rng, world.held)
        while declared in properties:
            declared = words.word(rng, world.held)
        mapping[own] = declared
        properties[declared] = schema
    parameters = {**declaration["parameters"], "properties": properties}
    if "required" in parameters:
        parameters["required"] = [mapping[own] for own in declaration["parameters"]["required"]]
    made = {
        "type": "function",
        "function": {
            "name": name,
            "description": rng.choice(descriptions.strip().split("\n")).strip(),
            "parameters": parameters,
        },
    }
    return Declared(
        name, made, runner(world, key, {declared: own for own, declared in mapping.items()}), mapping
    )


def tool_name(rng: random.Random, held: bool) -> str:
    """A name that says nothing about the tool."""
    roll = rng.random()
    if roll < 0.4:
        return words.word(rng, held)
    if roll < 0.8:
        return f"{words.word(rng, held)}_{words.word(rng, held)}"
    return f"{words.word(rng, held)}{rng.randint(1, 99)}"


RENAMED: dict[str, tuple[str, str, dict[str, str]]] = {
    "calculate": (
        "calculator calc compute evaluate math do_math arithmetic solve eval_expression run_math reckon sum_up",
        """Evaluate a math expression.
        Work out an arithmetic formula.
        A calculator for numbers.
        Computes the value of a formula.
        Does sums, products and divisions.
        Solve arithmetic.
        Returns the number that an expression equals.""",
        {"expression": "expression formula expr input problem term text calculation"},
    ),
    "convert_units": (
        "unit_converter convert change_units units converter measure to_unit conversion unit_convert exchange_units",
        """Change a measurement into another unit.
        Convert between units of length, weight, volume or temperature.
        Unit conversion.
        Expresses a quantity in a different unit.
        Translate a measure from one unit to another.
        Recalculate an amount for another unit.""",
        {
            "value": "value amount quantity number x size n",
            "from_unit": "from_unit source unit from_ unit_in start_unit old_unit given",
            "to_unit": "to_unit target wanted to unit_out end_unit new_unit goal",
        },
    ),
    "shift_date": (
        "add_to_date date_add move_date date_shift calendar_add date_plus date_after later_date offset_date",
        """Move a date forward or back.
        Add days, weeks, months or years to a date.
        Date arithmetic: a date plus or minus a span.
        Find the date some time before or after another.
        Computes a later or earlier date.""",
        {
            "date": "date start day base from_date when",
            "amount": "amount count number n offset delta steps",
            "unit": "unit period kind span measure step",
        },
    ),
    "days_between": (
        "date_diff count_days day_count days_apart date_distance days_from_to difference_in_days span_days",
        """Number of days from one date to another.
        How many days lie between two dates.
        Difference of two dates in days.
        Counts days between a first and a last date.""",
        {
            "start": "start first from_date begin date1 a since",
            "end": "end last to_date finish date2 b until",
        },
    ),
    "day_of_week": (
        "weekday get_weekday which_day weekday_of name_day day_name calendar_day",
        """Which weekday a date is.
        Tells the day of the week of a date.
        Weekday for a calendar date.
        Monday, Tuesday or another: the weekday of a date.""",
        {"date": "date day when input d calendar_date"},
    ),
    "shift_time": (
        "add_minutes time_add move_time clock_add later_time time_plus clock_shift",
        """Add minutes to a clock time.
        The time some minutes before or after another.
        Move a time of day by minutes.
        Clock arithmetic in minutes.""",
        {"time": "time start clock from_time when t", "minutes": "minutes offset amount delta mins count"},
    ),
    "current_time": (
        "now get_time clock today what_time time_now get_date datetime_now",
        """The current date and time.
        Reads the clock.
        Returns the present time.
        What time and date it is now.""",
        {},
    ),
    "country_facts": (
        "country_info country_lookup nation_facts get_country geo_facts countries country_data land_info atlas",
        """Facts about countries.
        Look up a country's capital, population and more.
        Information on a country.
        An atlas: one fact about a country.
        Tells a property of a nation.""",
        {
            "country": "country nation name state land place",
            "fact": "fact field topic property what key item",
        },
    ),
    "define_word": (
        "dictionary lookup_word word_meaning define meaning glossary lexicon word_info explain_word",
        """The meaning of a word.
        Dictionary lookup.
        Explains an English word.
        Gives the definition of a word.
        Look a word up.""",
        {"word": "word term entry query lemma w"},
    ),
    "save_note": (
        "add_note store_note write_note remember note_save memo_write put_note create_memo new_note keep",
        """Store a note under a title.
        Keep a text for later.
        Writes a memo.
        Remember a text by its title.
        Create a note.""",
        {"title": "title name key label subject heading", "text": "text content body note value message"},
    ),
    "read_note": (
        "get_note open_note recall note_read memo_read show_note fetch_note load_note",
        """Get the text of a note.
        Read a memo back.
        Returns what was stored under a title.
        Open a note by its title.""",
        {"title": "title name key label subject heading"},
    ),
    "list_notes": (
        "all_notes notes note_titles memo_list show_notes get_notes overview",
        """All note titles.
        Shows which notes exist.
        List the memos.
        Titles of everything stored.""",
        {},
    ),
    "read_file": (
        "open_file cat get_file file_read load_file show_file file_content view",
        """Show the text of a file.
        Get a file's content.
        Open a file and return its text.
        Returns what a file says.""",
        {"path": "path file filename name location"},
    ),
    "list_files": (
        "ls dir files show_files directory list_dir folder_content",
        """Names of the files in a folder.
        Show a directory.
        What a folder contains.
        Directory listing.""",
        {"path": "path folder directory dir location where"},
    ),
    "search_files": (
        "grep find_text search find_in_files file_search text_search look_for",
        """Search files for a text.
        Find the lines with some text in them.
        Which files mention a text.
        Full text search.""",
        {"query": "query text pattern needle term what", "path": "path folder directory dir where"},
    ),
}
assert set(RENAMED) == set(ORDER)
