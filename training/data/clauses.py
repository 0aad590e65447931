"""Sentences composed of clauses: who did what, where, when, for how much; any order, any verb, many carriers.

A ``Scene`` is a domain of one sentence: it has the ``kinds``, ``keys`` and ``lines`` of ``extraction.Domain``,
but its line is put together from a verb's arguments and adjuncts, so that where a name or a title ends is
learnt from the words around it and not from a known line.
"""

from __future__ import annotations

import random
from typing import Any, Protocol

from training.data.frames import Slot, compile_line, draw, fill
from training.data.speech import slip
from training.data.values import Kind, Value

# Verbs; what the doer is called; the rest of the clause; what its own slots are called.
ACTS: tuple[tuple[str, str, tuple[str, ...], dict[str, str]], ...] = (
    (
        "bought|ordered|purchased|picked up|asked for|needs|wants|chose|paid for",
        "buyer|customer|client|who",
        (" {q} {i}", " {q} {i} from {b}", " the {i}", " {i}", " some {i} from {b}"),
        {"b": "seller|shop|company|store"},
    ),
    (
        "sold|offered|rented|promised|showed|sent|mailed|shipped|gave|handed|brought|lent|forwarded|returned",
        "sender|giver|from_person|who",
        (" {q} {i} to {o}", " the {i} to {o}", " {o} {q} {i}", " {i} to {o}", " {o} the {i}"),
        {"o": "recipient|receiver|to_person|given_to"},
    ),
    (
        "lost|found|dropped|forgot|left|noticed|broke|hid|stored|counted|collected|photographed",
        "person|name|who|reported_by",
        (" {q} {i}", " the {i}", " {i}", " a {l} {i}"),
        {},
    ),
    (
        "repaired|painted|cleaned|checked|fixed|built|designed|tested|installed|replaced|measured",
        "worker|technician|done_by|name",
        (" the {i}", " {q} {i}", " the {l} {i}", " the {i} of {o}", " {o}'s {i}"),
        {"o": "owner|customer|belongs_to"},
    ),
    (
        "met|called|phoned|interviewed|visited|invited|thanked|helped|asked|greeted|warned|recommended|hired",
        "first_person|caller|who|subject",
        (" {o}", " {o} about {t}", " {o} and talked about {t}"),
        {"o": "second_person|other|partner|called_person", "t": "topic|about|matter"},
    ),
    (
        "travelled|flew|drove|moved|cycled|sailed|hurried|walked|ran|returned|drives|travels|flies",
        "traveler|passenger|driver|name",
        (" from {f} to {g}", " to {g}", " to {g} from {f}", " from {f} via {v} to {g}"),
        {},
    ),
    (
        "published|reviewed|translated|recorded|presented|edited|finished|recommended|performed|started",
        "author|by|creator|name",
        (" '{t}'", ' "{t}"', " {t}", " the book {t}", " the song '{t}'", " a report called {t}"),
        {"t": "title|work|called"},
    ),
    (
        "booked|cancelled|confirmed|changed|took|requested",
        "guest|booked_by|name|customer",
        (" a room for {q} guests", " the {t} for {q} people", " {q} seats", " a room at {b}", " {q} beds in {b}"),
        {"b": "hotel|house|where_to", "t": "event|title|occasion"},
    ),
    (
        "joined|founded|manages|runs|advises|owns|represents|works for|worked for|left",
        "employee|person|name|member",
        (" {b}", " {b} as a {j}", " the company {b}"),
        {"b": "company|employer|firm|organization"},
    ),
    (
        "teaches|explains|studies|leads|attends|organizes|hosts|planned|prepared|opened",
        "host|teacher|organizer|name",
        (" {t}", " the {t}", " the course {t}", " {t} with {q} students", " the {t} for {q} people"),
        {"t": "event|title|course|subject"},
    ),
)  # fmt: skip
ROLES: dict[str, tuple[str, str]] = {
    "n": ("person", "name"),
    "i": ("item", "item|product|article|thing|what"),
    "q": ("count", "quantity|count|number|how_many|amount"),
    "b": ("brand", "company"),
    "o": ("person", "other"),
    "t": ("title", "title"),
    "l": ("colour", "color|colour"),
    "j": ("job", "job|position|profession|role"),
    "f": ("city", "origin|from|start|from_city"),
    "g": ("city", "destination|to|goal|to_city"),
    "c": ("city", "city|place|location|town|where"),
    "v": ("city", "via|stop|through"),
    "d": ("date", "date|day|when|on"),
    "h": ("clock", "time|hour|at|clock"),
    "p": ("money", "price|cost|total|sum|paid"),
    "k": ("code", "reference|id|code|ticket|case_number"),
    "e": ("email", "email|mail|contact_email"),
    "a": ("age", "age|years|age_years"),
}
ADJUNCTS: dict[str, tuple[str, ...]] = {
    "c": (" [in|near|outside|around] {c}", " [here |over there |]in {c}", " [at|by] the [station|market|hotel] [in|of] {c}"),
    "d": (" [on|before|after|until|around] {d}", " [on the|on] {d}", " [this was|it was] {d}", ", {d}"),
    "h": (" at {h}", " [around|before|shortly after|by] {h}", ", {h}", " at {h} [sharp|already|or so]"),
    "p": (" for {p}", " [and paid|and got|which cost|at a price of|worth] {p}", ", {p}[ in all| in total|]"),
    "k": (" ([reference|ticket|case|no.] {k})", ", [reference|case|ticket|number] {k}", " under [number|code] {k}"),
    "l": (" [in the colour|painted in] {l}",),
}  # fmt: skip
FLAGS: tuple[tuple[str, str], ...] = (
    ("has paid/has not paid", "paid|has_paid"),
    ("was satisfied/was not satisfied", "satisfied|happy"),
    ("came alone/did not come alone", "alone"),
    ("is a member/is not a member", "member|is_member"),
    ("wants a receipt/wants no receipt", "receipt|wants_receipt"),
    ("was late/was on time", "late|was_late"),
    ("speaks English/does not speak English", "english|speaks_english"),
    ("will come back/will not come back", "returns|comes_back"),
    ("was insured/had no insurance", "insured|is_insured"),
    ("agreed/refused", "agreed|accepted"),
    ("passed/failed", "passed|success"),
    ("is active/is inactive", "active|is_active"),
)
LEADS = (
    "", "", "", "", "[Yesterday|Last week|As planned|It seems that|I heard that|We know that|As you know,] ",
    "[Note|News|Update|Reminder|FYI|Log]: ", "[Hi|Dear team|Hello], ", "[Then|So|Finally|Later] ",
    "[For your information|According to the report|In short|To be clear], ",
)  # fmt: skip
BETWEEN = (
    "",
    "",
    "",
    "",
    "",
    " [also|just|already|finally|never|often|gladly|recently|quickly|again|probably]",
)
TAILS = (
    ".", ".", ".", ".", "", "!", " [yesterday|again|too|by mistake|last week|as agreed|in the end].",
    ". [Everybody was glad|That's all|More later|We will see|Please note|Nothing else].",
)  # fmt: skip
ASIDES = (
    ", who is {a},", " ({a})", ", aged {a},", " ({e})", ", reachable at {e},", ", {a},",
    " [from|of] {c}", ", who lives in {c},",
)  # fmt: skip


class Telling(Protocol):
    """What has lines with slots and knows how each slot is valued."""

    lines: Any
    kinds: dict[str, Kind]


class Scene:
    """One composed sentence, as a domain (see ``extraction.Domain``)."""

    def __init__(self, rng: random.Random) -> None:
        verbs, doer, objects, names = rng.choice(ACTS)
        line, used = self._line(rng, rng.choice(verbs.split("|")), rng.choice(objects))
        self.flag = rng.choice(FLAGS) if rng.random() < 0.25 else None
        if self.flag:
            line = line.rstrip(".!")
            joint = (
                ". [She|He] {y}."
                if "." in line
                else rng.choice((". [She|He] {y}.", "; [she|he] {y}.", " and {y}."))
            )
            line += joint
        self._tree = compile_line(line)
        self.name = rng.choice(("record", "entry", "message", "event", "fact"))
        # What is asked for but not said must be of a kind that the sentence has none of.
        said = {ROLES[slot][0] for slot in used}
        free = [slot for slot, (kind, _) in ROLES.items() if kind not in said and slot not in "nobtfgv"]
        self.kinds = {slot: Kind(ROLES[slot][0]) for slot in ROLES if slot in used or slot in free}
        self.keys = {slot: (names.get(slot) or ROLES[slot][1]).split("|") for slot in self.kinds}
        self.keys["n"] = doer.split("|")
        if self.flag:
            self.kinds["y"], self.keys["y"] = Kind(f"yes({self.flag[0]})"), self.flag[1].split("|")
        self.lines = self

    def _line(self, rng: random.Random, verb: str, rest: str) -> tuple[str, set[str]]:
        """The template line, and the slots in it."""
        used = {slot for slot in ROLES if f"{{{slot}}}" in rest} | {"n"}
        doer = "{n}"
        if rng.random() < 0.2:
            aside = rng.choice(ASIDES)
            slot = aside[aside.index("{") + 1]
            if slot not in used:
                doer, used = doer + aside, used | {slot}
        extra = [
            slot for slot in rng.sample(list(ADJUNCTS), rng.choice((0, 1, 1, 2, 2, 3))) if slot not in used
        ]
        extra = [slot for slot in extra if slot != "l" or "i" in used]
        after = [rng.choice(ADJUNCTS[slot]) for slot in extra]
        used |= set(extra)
        front = ""
        if extra and extra[0] in "cdh" and rng.random() < 0.35:
            front = {"c": "[In|Near] {c}", "d": "[On|Before|After] {d}", "h": "[At|Around] {h}"}[extra[0]]
            front += rng.choice((", ", " "))
            after = after[1:]
        body = f"{doer}{rng.choice(BETWEEN)} {verb}{rest}"
        if not front and rng.random() < 0.06:
            body = f"It was {doer} who {verb}{rest}"
        start = front or rng.choice(LEADS)
        return start + body + "".join(after) + rng.choice(TAILS), used

    def pieces(self, rng: random.Random, held: bool = False) -> list[str]:
        """The line's pieces; its alternations are drawn anew every time."""
        out: list[str] = []
        draw(self._tree, rng, out)
        return out


def told_by(domain: Telling, rng: random.Random, held: bool) -> tuple[str, dict[str, Value]]:
    """A sentence of ``domain``, and the values that stand in it by slot."""
    pieces = domain.lines.pieces(rng, held)
    told = {
        str(piece): domain.kinds[piece].value(rng, held)
        for piece in dict.fromkeys(p for p in pieces if type(p) is Slot)
    }
    if rng.random() < 0.08:
        pieces = slip(rng, pieces)
    return fill(pieces, {slot: value[0] for slot, value in told.items()}), told
