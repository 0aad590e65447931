"""Tasks of several calls about notes and files."""

from __future__ import annotations

import re
from collections.abc import Callable

from training.data import arithmetic, folder, lookups, memory, units, words
from training.data.chain_frames import (
    CAPITAL_DEFINE,
    FILE_CALC,
    FILE_NOTE,
    NOTE_CALC,
    RESULT_NOTE,
    SEARCH_READ,
)
from training.data.world import World


def settle(world: World, call: tuple[str, dict[str, object]], think: str, fail: bool = True) -> str | None:
    """One call of a chain; on an error says so and gives ``None``."""
    (result,) = world.call(think, call)
    if world.errors[0]:
        if fail:
            world.reply(result, "The tool reports a problem; tell the user.")
        return None
    return result


def result_note(world: World) -> None:
    """A result is kept as a note."""
    rng = world.rng
    title = words.title(rng, world.held)
    kinds: list[Callable[[], tuple[str, tuple[str, dict[str, object]], str]]] = []
    if world.has("calculate"):
        typed, exact = arithmetic.spelled_expression(world)
        verb = rng.choice(("calculate", "compute", "work out"))
        kinds.append(lambda: (f"{verb} {typed}", ("calculate", {"expression": exact}), f"calculate {exact}"))
    if world.has("country_facts"):
        country, fact = lookups.country(world), rng.choice(("capital", "currency", "population", "area"))
        find = rng.choice(("find", "look up", "get"))
        kinds.append(
            lambda: (
                f"{find} the {fact} of {country}",
                ("country_facts", {"country": country, "fact": fact}),
                f"the {fact} of {country}",
            )
        )
    if world.has("convert_units"):
        dimension, source, target = units.pair(world)
        spelled, number = units.value(world, dimension)
        kinds.append(
            lambda: (
                f"convert {spelled} {source} to {target}",
                ("convert_units", {"value": number, "from_unit": source, "to_unit": target}),
                f"convert {spelled} {source} to {target}",
            )
        )
    if world.has("define_word"):
        term = words.english(rng, world.held)
        kinds.append(
            lambda: (
                f"{rng.choice(('define', 'look up'))} {term}",
                ("define_word", {"word": term}),
                f"the meaning of '{term}'",
            )
        )
    request, call, plan = rng.choice(kinds)()
    world.user(RESULT_NOTE.say(rng, {"x": request, "t": memory.quoted(world, title, 0.6)}, world.held))
    first = settle(world, call, f"First {plan}, then keep it as '{title}'.")
    if first is None:
        return
    world.call(f"Now save '{first}' as '{title}'.", ("save_note", {"title": title, "text": first}))
    world.facts.setdefault("notes", {})[title] = first
    world.reply(f"The result is {first.rstrip('.')}. I saved it as '{title}'.")


def note_calc(world: World) -> None:
    """A note holds a number or a word that the next call needs."""
    rng = world.rng
    title = words.title(rng, world.held)
    use_word = world.has("define_word") and (rng.random() < 0.4 or not world.has("calculate"))
    body = words.english(rng, world.held) if use_word else str(words.number(rng, world.held, negative=0))
    if world.has("save_note") and rng.random() < 0.5:
        world.user(memory.SAVE.say(rng, {"t": title, "x": body}, world.held))
        memory.save_call(world, title, body)
    else:
        memory.keep(world, title, body)
    shown = memory.quoted(world, title)
    if use_word:
        world.user(CAPITAL_DEFINE.say(rng, {"t": shown}, world.held))
        first = settle(
            world, ("read_note", {"title": title}), f"First read the note '{title}', then define its word."
        )
        if first is None:
            return
        last = settle(world, ("define_word", {"word": first}), f"Now the meaning of '{first}'.")
        if last is not None:
            world.reply(f"{first}: {last}")
        return
    count = rng.randint(2, 60)
    world.user(NOTE_CALC.say(rng, {"t": shown, "n": str(count)}, world.held))
    first = settle(
        world, ("read_note", {"title": title}), f"First read the note '{title}', then times {count}."
    )
    if first is None:
        return
    last = settle(
        world, ("calculate", {"expression": f"{first} * {count}"}), f"Now calculate {first} * {count}."
    )
    if last is not None:
        world.reply(f"{first} * {count} = {last}.")


def file_chain(world: World) -> None:
    """A file's content goes into the next call."""
    rng = world.rng
    known = folder.files(world)
    if world.has("calculate") and (rng.random() < 0.5 or not world.has("save_note")):
        _, exact = arithmetic.spelled_expression(world)
        path = folder.file_word(world) + ".txt"
        folder.put(world, path, exact)
        world.user(FILE_CALC.say(rng, {"t": path}, world.held))
        first = settle(
            world, ("read_file", {"path": path}), f"First read '{path}', then calculate what it says."
        )
        if first is None:
            return
        last = settle(world, ("calculate", {"expression": first}), f"Now calculate {first}.")
        if last is not None:
            world.reply(f"{first} = {last}.")
        return
    short = [path for path, body in known.items() if "\n" not in body] or list(known)
    path, title = rng.choice(short), words.title(rng, world.held)
    world.user(FILE_NOTE.say(rng, {"p": path, "t": memory.quoted(world, title)}, world.held))
    first = settle(
        world, ("read_file", {"path": path}), f"First read '{path}', then keep its text as '{title}'."
    )
    if first is None:
        return
    world.call(f"Now save the text as '{title}'.", ("save_note", {"title": title, "text": first}))
    world.facts.setdefault("notes", {})[title] = first
    world.reply(f"I saved the text of {path} as '{title}'.")


def search_read(world: World) -> None:
    """Find which file holds a text, then read that file."""
    rng = world.rng
    folder.files(world)
    for _ in range(6):
        wanted = folder.query(world)
        hits = [path for path, body in folder.files(world).items() if wanted.lower() in body.lower()]
        if len(hits) == 1:
            break
    else:
        return
    world.user(SEARCH_READ.say(rng, {"q": memory.quoted(world, wanted, 0.5)}, world.held))
    first = settle(
        world, ("search_files", {"query": wanted}), f"First search for '{wanted}', then read that file."
    )
    if first is None or ":" not in first:
        return
    path = re.split(r":\d+: ", first)[0]
    text = folder.read_call(world, path)
    world.reply(f"{path} says:\n{text}" if "\n" in text else f"{path} says: {text}")
