"""Asking to keep, read and list notes."""

from __future__ import annotations

from kimi_sdk.tools.notes import Notes
from training.data import words
from training.data.frames import Pool
from training.data.speech import Intent, misspell
from training.data.world import World

SAVE = Intent(
    "note.save",
    imp="""
    save a note [called|named|titled|with the title] {t}[:| that says| saying| with the text| with] {x}
    [save|store|keep|write|put|record|add] {x} [in|into|under|as] [a |the |]note [called |named |titled |]{t}
    [make|create|write|add] a note [called|named|titled] {t}[:| with the text| saying| that says| containing] {x}
    [make|create|add] a note {t} [with|saying] {x}
    note down {x} [under|as] {t}
    [write|put] {x} in my note {t}
    [save|store|keep] {x} under [the title |]{t}
    remember {x} [under|as] {t}
    [save|store] [this|the following] as {t}: {x}
    [save|store] [this|the following] under the title {t}: {x}
    jot down {x} as {t}
    write a note. Title: {t}. Text: {x}
    keep a note [about|on] {t}: {x}
    """,
    free="""
    note [called |named |]{t}: {x}
    new note {t}: {x}
    title {t}, text {x}[. Save it.| - save that please|, save this note]
    {x} - [save|keep|store] [that|this] as {t}[ please|]
    [I don't want to forget|Don't let me forget] this: {x}. [Save it as|Put it under|Call the note] {t}.
    [Please |]remember for later: {x}. [Call it|The title is|Name it] {t}.
    """,
)
READ = Intent(
    "note.read",
    imp="""
    [read|open|show|get|fetch|display] [me |]the note [called |named |titled |about |]{t}
    [read|open|show|get] [me |]my note [called |named |titled |about |on |]{t}
    [read|tell me|show me] what I [wrote|saved|noted|put] [in|under|about|as] {t}
    [read|print] the note {t} [out loud|aloud|to me|back to me]
    [look|check] in my notes [for|under] {t}
    [look up|find] [the|my] note {t}
    """,
    ask="""
    what does [my|the] note {t} say
    what does [my|the] note [called|named|titled|about] {t} say
    what [did I|have I] [write|written|save|noted|note] [in|under|about|as] {t}
    what is [in|written in] [my|the] note [called |named |titled |]{t}
    what is [saved|stored|written|kept] under {t}
    what was in the note {t}
    """,
    thing="""
    [my|the] note [called |named |titled |about |]{t}
    the [text|content|contents] of [my|the] note {t}
    what I [saved|wrote|noted] [under|as|in] {t}
    """,
    clause="what my note {t} says\nwhat I [wrote|saved|noted] [in|under|as] {t}\nwhat is in [my|the] note {t}",
    free="read {t}\nmy note {t}?\nnote {t} please\n[I forgot|I can't remember] what [is in|I wrote in] the note {t}.",
)
LIST = Intent(
    "note.list",
    imp="[list|show|show me|display] [all |]my notes\n[list|show] the titles of [all |]my notes\n[list|tell me] all the notes [there are|I have|I saved]",
    ask="""
    what notes do I have
    which notes [are there|do I have|did I save|have I saved|exist]
    what [have I|did I] [saved|noted|save|note] [so far|until now|]
    do I have any notes
    how many notes do I have
    what are the titles of my notes
    """,
    thing="[all my notes|a list of my notes|the list of [my |]notes|my notes|the titles of my notes]\nan overview of my notes",
    clause="[which|what] notes [I have|there are|are saved|exist]",
    free="my notes?\nnotes list\nall notes please\nnote titles?",
)
TEXTS = Pool(
    "note.text",
    """
    buy {w}, {v} and {u}
    buy {n} {w} and {m} {v}
    call {p} at {t}
    call {p} [tomorrow|on {d}|next week|tonight]
    meet {p} [in {c}|at {t}|in {c} at {t}]
    {p}'s birthday is [on |]{d}
    {p}'s [phone number|number] is {n}{m}
    the [code|password|pin|key] is {k}
    {k}
    the [wifi|door|locker|safe] [code|password] is {k}
    [pay|send] {n} [euros|dollars] to {p}
    [pay|send] the {w} [bill|invoice] before {d}
    {w} {v} {u}
    {w} and {v}
    [bring|take|fetch|return] the {w} [to|from] {c}
    [dentist|doctor|interview|meeting|train|flight] on {d} at {t}
    [train|flight|bus] to {c} at {t}
    {p} lives [in {c}|at {n} {w} street]
    {p} likes {w} and {v}
    [water|feed|clean|paint|repair] the {w}
    the {w} [is|was] {v}
    ask {p} about [the |]{w}
    {n} {w}, {m} {v}
    [remember|don't forget] the {w}
    order number {k}
    room {n}, floor {m}
    {w} costs {n} [euros|dollars]
    [we|I|they] need {n} more {w}
    """,
)


def text(world: World) -> str:
    """What a person may want to keep."""
    rng, held = world.rng, world.held
    if rng.random() < 0.15:
        return words.phrase(rng, held, 6)
    slots = {
        "w": words.word(rng, held),
        "v": words.word(rng, held),
        "u": words.word(rng, held),
        "p": words.first_name(rng, held),
        "c": words.city(rng, held),
        "k": words.code(rng, held),
        "t": words.clock(rng, held),
        "d": words.spell_day(rng, words.day(rng, held)),
        "n": str(words.integer(rng, held, 2, 999)),
        "m": str(words.integer(rng, held, 2, 99)),
    }
    made = TEXTS.text(rng, slots)
    return made[:1].upper() + made[1:] if rng.random() < 0.15 else made


def quoted(world: World, value: str, chance: float = 0.35) -> str:
    """``value``, at times in quotation marks, which are not part of it."""
    roll = world.rng.random()
    if roll > chance:
        return value
    return f"'{value}'" if roll < chance / 2 else f'"{value}"'


def save_call(world: World, title: str, body: str, say: bool = True) -> None:
    """Stores a note and confirms it."""
    (result,) = world.call(
        f"Keep a note: title '{title}', text '{body}'. Use {world.title('save_note')}.",
        ("save_note", {"title": title, "text": body}),
    )
    kept = world.facts.setdefault("notes", {})
    if not world.errors[0]:
        kept[title] = body
    if say:
        world.reply(
            result
            if world.errors[0]
            else world.rng.choice((f"I saved the note '{title}'.", f"Saved as '{title}'."))
        )


def keep(world: World, title: str, body: str) -> None:
    """A note that is there before anybody asks."""
    world.facts.setdefault("store", Notes()).save_note(title, body)
    world.facts.setdefault("notes", {})[title] = body


def save(world: World) -> None:
    rng = world.rng
    title, body = words.title(rng, world.held), text(world)
    if rng.random() < 0.5:
        shown = {"t": quoted(world, title, 1.0), "x": quoted(world, body)}
    else:
        shown = {"t": title, "x": quoted(world, body, 0.5)}
    world.user(SAVE.say(rng, shown, world.held))
    save_call(world, title, body)


def read_call(world: World, title: str) -> str:
    """Reads a note, under the title that the tool suggests if there is none of this one."""
    call = {"title": title}
    (result,) = world.call(f"Read the note '{title}': {world.title('read_note')}.", ("read_note", call))
    again = world.retry("read_note", call, "title")
    return result if again is None else again[0]


def read(world: World) -> None:
    """Reads a note that exists, or one that does not."""
    rng = world.rng
    stored = world.facts.get("notes", {})
    if not stored and rng.random() < 0.8:
        keep(world, words.title(rng, world.held), text(world))
        stored = world.facts["notes"]
    title = rng.choice(list(stored)) if stored and rng.random() < 0.85 else words.title(rng, world.held)
    if rng.random() < 0.06 and len(title) > 6:
        title = misspell(rng, title)
    world.user(READ.say(rng, {"t": quoted(world, title)}, world.held))
    result = read_call(world, title)
    world.reply(
        result
        if world.errors[0]
        else rng.choice((f"Your note '{title}' says: {result}", f"It says: {result}"))
    )


def titles(world: World) -> None:
    world.user(LIST.say(world.rng, {}, world.held))
    (result,) = world.call(f"List the notes: {world.title('list_notes')}.", ("list_notes", {}))
    if world.errors[0] or not world.facts.get("notes"):
        world.reply(result)
        return
    world.reply(f"Your notes: {', '.join(result.splitlines())}.")
