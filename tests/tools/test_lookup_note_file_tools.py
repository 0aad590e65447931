"""Facts and words from the packaged data, notes, and files under one root."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from kimi_sdk.errors import ConfigError, Retry
from kimi_sdk.tools.facts import country_facts, define_word
from kimi_sdk.tools.files import Folder
from kimi_sdk.tools.notes import Notes


@pytest.mark.parametrize(
    ("country", "fact", "text"),
    [
        ("France", "capital", "Paris"),
        ("france", "currency", "euro (EUR)"),
        ("  FRANCE ", "languages", "French"),
        ("USA", "capital", "Washington D.C."),
        ("U.S.A.", "currency", "United States dollar (USD)"),
        ("the United States", "borders", "Canada, Mexico"),
        ("UK", "capital", "London"),
        ("the netherlands", "capital", "Amsterdam"),
        ("Cote d'Ivoire", "region", "Sub-Saharan Africa, Africa"),
        ("sao tome & principe", "capital", "São Tomé"),
        ("Czechia", "capital", "Prague"),
        ("Japan", "borders", "Japan has no land borders."),
        ("Japan", "population", "127080000"),
        ("Japan", "area", "377930 square km"),
        ("Switzerland", "languages", "German, French, Italian"),
        ("Republic of Korea", "capital", "Seoul"),
        ("Macao", "capital", "Macau"),
    ],
)
def test_country_facts(country: str, fact: str, text: str) -> None:
    assert country_facts(country, fact) == text  # type: ignore[arg-type]


def test_unknown_countries() -> None:
    with pytest.raises(Retry, match="Did you mean France"):
        country_facts("Frnace", "capital")
    with pytest.raises(Retry, match=r"no country 'Atlantis' in the data\.$"):
        country_facts("Atlantis", "capital")
    with pytest.raises(Retry, match="no country ''"):
        country_facts("", "capital")
    with pytest.raises(Retry, match="area of French Guiana is not known"):
        country_facts("French Guiana", "area")


@pytest.mark.parametrize(
    ("word", "start"),
    [
        ("gravity", "noun: (physics) the force of attraction"),
        ("Gravity ", "noun: (physics)"),
        ("quickly", "adverb: "),
        ("happy", "adjective: "),
        ("eat", "verb: take in solid food"),
        ("mice", "mouse, noun: "),
        ("children", "child, noun: "),
        ("went", "go, verb: "),
        ("cities", "city, noun: "),
        ("telescopes", "telescope, noun: "),
        ("ice cream", "noun: frozen dessert"),
        ("ice-cream", "ice cream, noun: "),
    ],
)
def test_definitions(word: str, start: str) -> None:
    assert define_word(word).startswith(start)


def test_unknown_words() -> None:
    with pytest.raises(Retry, match="Did you mean 'telescope'"):
        define_word("telescpe")
    with pytest.raises(Retry, match="has no word 'qqqqq'"):
        define_word("qqqqq")
    with pytest.raises(Retry, match="empty"):
        define_word(" ")


def test_notes() -> None:
    notes = Notes()
    assert notes.list_notes() == "There are no notes yet."
    with pytest.raises(Retry, match="no notes yet"):
        notes.read_note("x")
    assert notes.save_note(" Groceries ", "milk") == "Saved."
    assert notes.save_note("groceries", "milk and bread") == "Saved."
    notes.save_note("Plan", "")
    assert notes.read_note("GROCERIES") == "milk and bread"
    assert notes.list_notes() == "groceries\nPlan"
    with pytest.raises(Retry, match="Did you mean 'groceries'"):
        notes.read_note("grocerie")
    with pytest.raises(Retry, match="needs a title"):
        notes.save_note("  ", "x")
    with pytest.raises(Retry, match="at most"):
        notes.save_note("x", "y" * 100_001)
    copy = pickle.loads(pickle.dumps(notes))  # noqa: S301
    assert copy.read_note("plan") == ""
    for number in range(998):
        notes.save_note(str(number), "")
    with pytest.raises(Retry, match="1000 notes already"):
        notes.save_note("one more", "")
    assert notes.save_note("7", "known titles may still change") == "Saved."


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / ".hidden").mkdir()
    (root / "a.txt").write_text("Alpha\nbeta Gamma\n", "utf-8")
    (root / "sub" / "b.md").write_text("gamma ray\n", "utf-8")
    (root / "sub" / "bin").write_bytes(b"ga\0mma")
    (root / ".hidden" / "c.txt").write_text("gamma\n", "utf-8")
    (tmp_path / "secret.txt").write_text("gamma secret\n", "utf-8")
    (root / "out").symlink_to(tmp_path / "secret.txt")
    (root / "outside").symlink_to(tmp_path)
    (root / "in").symlink_to(root / "a.txt")
    (root / "loop").symlink_to(root / "loop")
    return Folder(root)


def test_reading(folder: Folder) -> None:
    assert folder.read_file("a.txt") == "Alpha\nbeta Gamma\n"
    assert folder.read_file("sub/../in") == "Alpha\nbeta Gamma\n"
    assert folder.read_file(str(folder.root / "sub" / "b.md")) == "gamma ray\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("../secret.txt", "outside"),
        ("/etc/passwd", "outside"),
        ("out", "outside"),
        ("outside/secret.txt", "outside"),
        ("sub/../../secret.txt", "outside"),
        ("nope.txt", "There is no file 'nope.txt'"),
        ("sub", "is a folder"),
        ("", "is a folder"),
        ("sub/bin", "not a text file"),
        ("a\0b", "not a usable path"),
        ("x" * 5000, "not a usable path|no file"),
        ("loop", "not a usable path|no file"),
        ("a.txt/x", "no file|not a usable"),
    ],
)
def test_refused_reading(folder: Folder, path: str, text: str) -> None:
    with pytest.raises(Retry, match=text):
        folder.read_file(path)


def test_long_files_are_cut(folder: Folder) -> None:
    (folder.root / "long.txt").write_text("é" * 150_000, "utf-8")
    text = folder.read_file("long.txt")
    assert text.endswith("\n[cut: the first 200,000 of 300,000 bytes]")
    assert text.startswith("é" * 100_000 + "\n")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files(folder: Folder) -> None:
    (folder.root / "a.txt").chmod(0)
    with pytest.raises(Retry, match="cannot be read"):
        folder.read_file("a.txt")


def test_listing(folder: Folder) -> None:
    assert folder.list_files().splitlines() == [".hidden/", "a.txt", "in", "sub/"]
    assert folder.list_files("sub") == "b.md\nbin\ndeep/"
    assert folder.list_files("sub/deep") == "The folder is empty."
    for path, text in (
        ("..", "outside"),
        ("nope", "no folder"),
        ("a.txt", "is a file"),
        ("outside", "outside"),
    ):
        with pytest.raises(Retry, match=text):
            folder.list_files(path)
    for number in range(600):
        (folder.root / "sub" / "deep" / f"{number:03}").touch()
    assert folder.list_files("sub/deep").splitlines()[-1] == "[cut: 500 of 600 names]"


def test_searching(folder: Folder) -> None:
    assert folder.search_files("GAMMA").splitlines() == [
        "a.txt:2: beta Gamma",
        "in:2: beta Gamma",
        "sub/b.md:1: gamma ray",
    ]
    assert folder.search_files("gamma", "sub") == "sub/b.md:1: gamma ray"
    assert folder.search_files("alpha", "a.txt") == "a.txt:1: Alpha"
    assert folder.search_files("nowhere") == "No line contains 'nowhere'."
    for query, path, text in (("", ".", "empty"), ("x", "..", "outside"), ("x", "nope", "no file or folder")):
        with pytest.raises(Retry, match=text):
            folder.search_files(query, path)
    (folder.root / "many.txt").write_text("gamma\n" * 80, "utf-8")
    lines = folder.search_files("gamma").splitlines()
    assert len(lines) == 51
    assert lines[-1] == "[cut: the first 50 lines found]"


def test_the_root_must_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        Folder(tmp_path / "nope")
