"""Asking about files: reading, listing, searching in a small folder made for the conversation."""

from __future__ import annotations

import random
from pathlib import Path

from training.data import words
from training.data.memory import quoted
from training.data.memory import text as note_text
from training.data.speech import Intent
from training.data.world import World

READ = Intent(
    "file.read",
    imp="""
    [read|open|show|print|display|load] [me |]{p}
    [read|open|show|print|display] [me |]the file {p}
    [show|give|tell] me the [content|contents|text] of {p}
    [take a look|look] [at|into|inside] {p}
    [read|tell me] what {p} [says|contains]
    open {p} and tell me what [it says|is in it]
    [cat|dump] {p}
    """,
    ask="""
    what [is|does it say] in {p}
    what does [the file |]{p} [say|contain|hold]
    what is [written |stored |]in [the file |]{p}
    what [text|content] does {p} have
    what's in [the file |]{p}
    what can I read in {p}
    """,
    thing="the [content|contents|text] of [the file |]{p}\nwhat [the file |]{p} says\nthe file {p}",
    clause="what [the file |]{p} [says|contains]\nwhat is in [the file |]{p}",
    free="{p}?\nread: {p}\nfile {p} please\ncontent of {p}?",
)
LIST = Intent(
    "file.list",
    imp="""
    list [the files|all files|the content|everything] in {p}
    [show|show me|tell me] [the files|all files|what is] in {p}
    [show|list] [the folder|the directory] {p}
    look [into|inside] the [folder|directory] {p}
    ls {p}
    """,
    ask="""
    [what|which] files are [there |]in {p}
    what is in the [folder|directory] {p}
    [what|which] files does the [folder|directory] {p} [have|contain|hold]
    what does the [folder|directory] {p} contain
    """,
    thing="[the|a list of the|all] files in {p}\nthe content of the [folder|directory] {p}",
    clause="[what|which] files are in {p}\nwhat the [folder|directory] {p} [contains|holds]",
    free="files in {p}?\nfolder {p}?\nls {p}",
)
LIST_HERE = Intent(
    "file.list_here",
    imp="""
    list [the files|all files|my files|everything here]
    [show|show me|tell me] [the files|all files|what files there are]
    list the [current|working|main] [folder|directory]
    look around in the [current|working] [folder|directory]
    """,
    ask="[what|which] files are [here|there|in this folder|in the current folder]\nwhat is in [this|the current|the working] [folder|directory]\n[what|which] files do [I|we|you] have",
    thing="[the|all|my] files[ here|]\na list of [all|the|my] files\na listing of [this|the current] [folder|directory]",
    clause="[what|which] files [there are|are here|I have]\nwhat is in this folder",
    free="files?\nls\ndir\nfiles here?",
)
SEARCH = Intent(
    "file.search",
    imp="""
    search [the files|my files|all files|everything] for {q}
    search for {q}[ in the files| in my files|]
    [find|locate] {q} in [the|my|all] files
    [find|show me|tell me|list] [the|all] [lines|places] [with|containing|that mention|that contain] {q}
    look for {q} in [the|my|all] files
    grep [for |]{q}
    [find|check|tell me] [which files mention|where it says|which file contains] {q}
    """,
    ask="""
    [which|what] [file|files] [contain|contains|mention|mentions|has|have] {q}
    where [do|does] [the|my] files [mention|say|contain] {q}
    in which file [is|do I find|does it say] {q}
    where is {q} mentioned
    where can I find {q} in [the|my] files
    is there a file [with|that mentions|that contains] {q}
    """,
    thing="[the|all] lines [with|containing] {q}\nthe [file|place|line] [that mentions|with] {q}\n[all|every] [mention|mentions] of {q} in the files",
    clause="[which|what] file [mentions|contains|has] {q}\nwhere {q} is [mentioned|written]\nif any file [mentions|contains] {q}",
    free="search: {q}\n{q} - [which file|where is it]?\nfind {q}\ngrep {q}",
)
SUFFIXES = (".txt", ".md", ".txt", ".csv", ".log", ".json", ".py", ".cfg")
FOLDERS = ["docs", "data", "notes", "src", "logs", "reports", "drafts", "archive"]


def furnish(world: World) -> None:
    """Writes a few files with random names and texts into the conversation's folder."""
    rng = world.rng
    root: Path = world.facts["root"]
    files: dict[str, str] = {}
    folders = [""] if rng.random() < 0.35 else ["", file_word(world), rng.choice(FOLDERS)]
    for _ in range(rng.randint(2, 5)):
        folder = rng.choice(folders)
        name = file_word(world) + rng.choice(SUFFIXES)
        files[f"{folder}/{name}" if folder else name] = content(world)
    for path, body in files.items():
        place = root / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(body, encoding="utf-8")
    world.facts["files"] = files


def put(world: World, path: str, body: str) -> None:
    """One more file."""
    (world.facts["root"] / path).write_text(body, encoding="utf-8")
    world.facts.setdefault("files", {})[path] = body


def file_word(world: World) -> str:
    rng = world.rng
    name = words.word(rng, world.held)
    if rng.random() < 0.25:
        name += rng.choice("_-") + words.word(rng, world.held)
    return name if rng.random() < 0.85 else name + str(rng.randint(1, 99))


def content(world: World) -> str:
    return "\n".join(note_text(world) for _ in range(world.rng.choice((1, 1, 2, 2, 3, 4))))


def files(world: World) -> dict[str, str]:
    """The files there are; made on first use."""
    if "files" not in world.facts:
        furnish(world)
    made: dict[str, str] = world.facts["files"]
    return made


def read_call(world: World, path: str) -> str:
    (result,) = world.call(
        f"Read the file '{path}': {world.title('read_file')}.", ("read_file", {"path": path})
    )
    return result


def read(world: World) -> None:
    rng = world.rng
    known = files(world)
    path = rng.choice(list(known)) if rng.random() < 0.85 else file_word(world) + rng.choice(SUFFIXES)
    world.user(READ.say(rng, {"p": quoted(world, path, 0.25)}, world.held))
    result = read_call(world, path)
    if world.errors[0]:
        world.reply(result)
    else:
        world.reply(f"{path} says:\n{result}" if "\n" in result else f"{path} says: {result}")


def listing(world: World) -> None:
    rng = world.rng
    folders = sorted({path.rsplit("/", 1)[0] for path in files(world) if "/" in path})
    if folders and rng.random() < 0.6:
        folder = rng.choice(folders)
        world.user(LIST.say(rng, {"p": quoted(world, folder, 0.2)}, world.held))
        (result,) = world.call(
            f"List the folder '{folder}': {world.title('list_files')}.", ("list_files", {"path": folder})
        )
    else:
        folder = "."
        world.user(LIST_HERE.say(rng, {}, world.held))
        (result,) = world.call(
            f"List the files here: {world.title('list_files')}.", ("list_files", {"path": "."})
        )
    world.reply(result if world.errors[0] else f"Files: {', '.join(result.splitlines())}.")


def query(world: World) -> str:
    """Something that stands in one of the files, or (rarely) in none."""
    rng = world.rng
    if rng.random() < 0.15:
        return words.word(rng, world.held)
    line = rng.choice(rng.choice(list(files(world).values())).splitlines())
    parts = line.split(" ")
    size = rng.choice((1, 1, 2))
    start = rng.randrange(max(1, len(parts) - size + 1))
    return " ".join(parts[start : start + size]).strip(",.:'\"") or parts[0]


def search(world: World) -> None:
    rng = world.rng
    files(world)
    wanted = query(world)
    world.user(SEARCH.say(rng, {"q": quoted(world, wanted, 0.5)}, world.held))
    result = search_call(world, wanted)
    lines = result.splitlines()
    if world.errors[0] or not lines or ":" not in lines[0]:
        world.reply(result)
    elif len(lines) == 1:
        path, number, found = lines[0].split(":", 2)
        world.reply(f"{path}, line {number}: {found.strip()}")
    else:
        world.reply(f"Found in {len(lines)} lines:\n{result}")


def search_call(world: World, wanted: str) -> str:
    (result,) = world.call(
        f"Search the files for '{wanted}': {world.title('search_files')}.",
        ("search_files", {"query": wanted}),
    )
    return result


def shuffled(rng: random.Random, values: list[str]) -> list[str]:
    return rng.sample(values, len(values))
