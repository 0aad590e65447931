"""How people ask: carriers around a core, politeness, context sentences, slips of the keyboard.

A core says what is wanted in one of four moods: ``imp`` ("convert 3 miles to km"), ``ask`` ("how many km are
3 miles"), ``thing`` ("3 miles in km") and ``clause`` ("how many km 3 miles are"). Carriers turn any core of
a mood into a message, so that frames multiply.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from training.data import words
from training.data.frames import Pool, Slot, fill
from training.data.situations import SITUATIONS
from training.data.situations_more import FREE_LINES

CARRIERS = {
    "imp": Pool(
        "carrier.imp",
        """
        {core}[.|]
        {core}[.|]
        {core}, please[.|]
        [please|pls] {core}[.|]
        [can|could|would|will] you [please |]{core}?
        [can|could] you {core} [for me|please|for me please]?
        [hi|hello|hey][,|!|] {core}[.|]
        [hi|hello|hey][,| there,] [can|could] you {core}?
        I [need|want] you to {core}[.|]
        I'd like you to {core}[.|]
        [I would|I'd] like to {core}[.|]
        I [need|want|have] to {core}[.|]
        help me [to |]{core}[.|]
        [go ahead and|now|ok, now|okay,|next,|then] {core}[.|]
        would you mind helping me {core}?
        [quick one|quick task|small task|task|todo]: {core}[.|]
        [is it possible to|are you able to] {core}?
        [could|can] I ask you to {core}?
        [let's|let us] {core}[.|]
        [kindly|just|simply] {core}[.|]
        [be so kind and|do me a favour and|do me a favor and] {core}[.|]
        my [boss|teacher|friend|sister|brother|colleague] wants me to {core}[.|]
        how [do|can] I {core}?
        [I was wondering if|I wonder if] you could {core}[.|]
        {core} [thanks|thank you|thx]
        {core}[.| -] [thanks|thank you|cheers][!|.|]
        [for my homework|for a report|for work|for a friend][,|] {core}[.|]
        you should {core}[ now|][.|]
        what I need: {core}[.|]
        [when you have a moment|if you can|if possible], {core}[.|]
        {core} [right now|quickly|asap|when you can]
        [it'd be great if you could|it would help if you could|I'd appreciate it if you could] {core}[.|]
        """,
    ),
    "ask": Pool(
        "carrier.ask",
        """
        {core}?
        {core}?
        {core}
        [hi|hello|hey][,|!|] {core}?
        [quick|simple|short|one more|another] question[:| -|,] {core}?
        [so|ok so|well|now|and|okay,|um,|right,] {core}?
        {core}, [please|do you know|any idea]?
        [please tell me|tell me|please say|just tell me]: {core}?
        [I have a question|question|here is a question|my question][:|.|,] {core}?
        {core}? [thanks|thank you|thx|please]
        {core}? I [really |]need to know[.|]
        {core}? I [forgot|can't remember|have no idea|am not sure][.|]
        [excuse me|sorry to bother you|pardon me], {core}?
        [someone|my son|my daughter|a friend|my boss|a customer] [asked|asks|wants to know][:|,] {core}?
        [what would you say|can you answer this]: {core}?
        [remind me|help me out|help][,|:] {core}?
        [just curious|I'm curious|out of curiosity][,|:| -] {core}?
        {core} [exactly|again|by the way|anyway]?
        [for a quiz|for my homework|in a test they ask][:|,] {core}?
        """,
    ),
    "thing": Pool(
        "carrier.thing",
        """
        [what is|what's|whats] {core}?
        [what is|what's] {core}?
        {core}[?|]
        {core}, please[.|?|]
        [please |]tell me {core}[.|]
        [please |]give me {core}[.|]
        [can|could|would] you [please |]tell me {core}?
        [can|could] you [give|find|get] me {core}[ please|]?
        I [need|want|'d like] [to know |]{core}[.|]
        [do you know|do you happen to know|any idea about|got any idea about] {core}?
        [please |][find|get|look up|find out|fetch] {core}[.|]
        [can|could] you [look up|find out|find|check] {core} [for me|please|for me please]?
        I'm [looking for|trying to find|interested in|after] {core}[.|]
        [hi|hello|hey][,|!|] [what is|what's] {core}?
        [hi|hello|hey][,|!|] I need {core}[.|]
        [remind me of|let me know|let me have|show me] {core}[.|]
        [quick question|question|question for you][:|,| -] [what is|what's] {core}?
        what would {core} be?
        [I'd like to|I want to|I need to|I have to] [find out|know|learn|check] {core}[.|]
        [help me find|help me get|I can't find|I forgot|I don't remember] {core}[.|]
        [looking for|need|wanted|want to know]: {core}
        [wondering about|question about|curious about] {core}[.|]
        {core} = ?
        [so|now|ok|and] what is {core}?
        [does anyone know|who knows|do we know] {core}?
        my [boss|teacher|friend|mother|colleague] [wants|needs|asked for] {core}[.|]
        """,
    ),
    "clause": Pool(
        "carrier.clause",
        """
        [please |]tell me {core}[.|]
        [can|could|would] you [please |]tell me {core}[ please|]?
        I [want|need|would like|'d like] to know {core}[.|]
        [do you know|do you happen to know|any idea|any clue] {core}?
        [I was wondering|I wonder|I'm wondering|I am curious|I keep asking myself] {core}[.|]
        [find out|work out|figure out|check|see] {core}[, please|][.|]
        [can|could] you [find out|work out|figure out|check|say] {core}?
        [help me find out|help me work out|help me understand|help me see] {core}[.|]
        [I don't know|I forgot|I can't remember|I'm not sure|no idea] {core}[.|]
        [let me know|remind me|explain|say] {core}[.|]
        [hi|hello|hey][,|!|] [can you tell me|do you know|I want to know] {core}?
        [I'd love to know|I'm trying to find out|I'm trying to work out|we need to know] {core}[.|]
        my [boss|teacher|friend|father|colleague|neighbour] [asked me|wants to know] {core}[.|]
        [is it clear|does anyone know|who can tell me] {core}?
        [question is|the question is|what I want to know is] {core}[.|]
        """,
    ),
}

BEFORE = Pool(
    "context.before",
    """
    I'm [planning|preparing|thinking about] [a trip|a party|a project|my holidays|a report|dinner|the weekend].
    [We are|I am|My friend is] in {city} [right now|this week|today|at the moment].
    My [friend|brother|sister|boss|neighbour|cousin] {name} [asked me something|needs help|is waiting|called me].
    I have {small} [kids|cats|books|minutes|friends|apples|meetings today].
    [Good morning|Good evening|Good afternoon|Hi there|Hello again|Greetings][!|.|,]
    I'm [writing|reading|working on] [a book|an essay|a letter|my homework|a blog post] about {word}.
    It's [raining|sunny|late|early|cold|hot|quiet] here.
    [Sorry|Apologies], [I'm in a hurry|this is probably easy|one more thing].
    My name is {name}.
    [Yesterday|Today|Last week] I [saw|bought|found|read about] a {word}.
    [I'm new here|I am a student|I work at {city}|I'm a nurse|I teach maths].
    [This is important|This matters|I need this quickly|No rush].
    [The {word} is broken|The {word} is ready|Our {word} arrived].
    [You are good at this|I trust you|You helped me last time].
    {name} and I [have a bet|disagree|are cooking|are studying|play a game].
    I [like|love|hate] {word}.
    """,
)
AFTER = Pool(
    "context.after",
    """
    [Thanks|Thank you|Thanks a lot|Cheers|Many thanks][!|.]
    [It's for|This is for] [my homework|a friend|{name}|work|a report|a quiz].
    I [really |]need it [today|now|soon|for tomorrow].
    [Keep it short|Be brief|A short answer is fine|One sentence is enough|Just the answer].
    [Don't|No need to] [explain|hurry|show the steps].
    {name} [is waiting|wants to know|asked me].
    [I can't remember|I forgot|I have no idea|I'm not sure].
    [I hope you can help|Hope that's ok|That would be great].
    [My {word} depends on it|I bet it's easy|I'm curious].
    """,
)
FILLERS = (
    "um",
    "well",
    "like",
    "just",
    "actually",
    "basically",
    "really",
    "so",
    "maybe",
    "eh",
    "kindly",
    "now",
)
DROPPABLE = frozenset(["the", "a", "an", "please", "me", "for", "of", "is", "to", "just", "you", "can"])


class Intent:
    """All the ways to ask for one thing: a pool of cores for each mood it can be asked in."""

    def __init__(self, name: str, **moods: str) -> None:
        self.name = name
        for more in (SITUATIONS, FREE_LINES):
            if name in more:
                moods["free"] = moods.get("free", "") + "\n" + more[name]
        self.pools = {mood: Pool(f"{name}.{mood}", lines) for mood, lines in moods.items()}
        self._train = [mood for mood, pool in self.pools.items() for _ in range(2 + len(pool.train))]
        self._held = [mood for mood, pool in self.pools.items() for _ in pool.held]

    @property
    def has_held(self) -> bool:
        """Whether any core of this intent is held out."""
        return bool(self._held)

    def say(self, rng: random.Random, slots: Mapping[str, str], held: bool = False) -> str:
        """A message that asks for it, with ``slots`` filled in literally."""
        moods = self._held if held and self._held else self._train
        mood = moods[int(rng.random() * len(moods))]
        core = self.pools[mood].pieces(rng, held)
        if mood == "free":
            pieces: Sequence[str] = core
        else:
            pieces = []
            for piece in CARRIERS[mood].pieces(rng, held and rng.random() < 0.5):
                pieces.extend(core) if type(piece) is Slot else pieces.append(piece)
        return style(rng, pieces, slots, held)


def style(rng: random.Random, pieces: Sequence[str], slots: Mapping[str, str], held: bool = False) -> str:
    """The message as typed by somebody: case, slips, dropped and inserted words, sentences around it."""
    roll = rng.random()
    if roll < 0.12:
        pieces = slip(rng, pieces)
    text = fill(pieces, slots)
    case = rng.random()
    if case < 0.68:
        first = pieces[0] if pieces else ""
        if first and type(first) is not Slot:
            text = text[:1].upper() + text[1:]
    elif case > 0.86:
        text = fill([p if type(p) is Slot else p.lower() for p in pieces], slots)
        if case > 0.93:
            text = text.rstrip(".!?")
    if "  " in text:
        text = text.replace("  ", " ")
    around = rng.random()
    if around < 0.1:
        text = f"{aside(rng, BEFORE, held)} {text}"
    elif around < 0.17:
        text = f"{text if text[-1:] in '.?!' else text + '.'} {aside(rng, AFTER, held)}"
    return text


def aside(rng: random.Random, pool: Pool, held: bool = False) -> str:
    """A sentence beside the point."""
    slots = {
        "name": words.first_name(rng, held),
        "city": words.city(rng, held),
        "word": words.word(rng, held),
        "small": str(2 + int(rng.random() * 9)),
    }
    return pool.text(rng, slots, held)


def slip(rng: random.Random, pieces: Sequence[str]) -> list[str]:
    """Drops, inserts or misspells one or two literal words; slots stay.

    Beside a slot nothing is dropped or inserted, and little misspelled: where the slot ends must stay clear.
    """
    out: list[str] = []
    budget = 1 + (rng.random() < 0.4)
    for index, piece in enumerate(pieces):
        if type(piece) is Slot or budget == 0:
            out.append(piece)
            continue
        parts = piece.split(" ")
        at = int(rng.random() * len(parts))
        token = parts[at]
        kind = rng.random()
        after = index > 0 and type(pieces[index - 1]) is Slot and at <= 1
        before = index + 1 < len(pieces) and type(pieces[index + 1]) is Slot and at >= len(parts) - 2
        if (after or before) and (kind < 0.55 or rng.random() < 0.7):
            out.append(piece)
            continue
        if kind < 0.35 and token.lower() in DROPPABLE and len(parts) > 1:
            if 0 < at < len(parts) - 1:
                del parts[at]
                budget -= 1
        elif kind < 0.55 and at > 0:
            parts.insert(at, FILLERS[int(rng.random() * len(FILLERS))])
            budget -= 1
        elif len(token) >= 4 and token.isalpha():
            parts[at] = misspell(rng, token)
            budget -= 1
        out.append(" ".join(parts))
    return out


def misspell(rng: random.Random, token: str) -> str:
    """``token`` with two letters swapped, one lost or one doubled."""
    at = 1 + int(rng.random() * (len(token) - 2))
    kind = int(rng.random() * 3)
    if kind == 0:
        return token[:at] + token[at + 1] + token[at] + token[at + 2 :]
    if kind == 1:
        return token[:at] + token[at + 1 :]
    return token[:at] + token[at] + token[at:]
