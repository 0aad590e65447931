"""Asking for facts of countries and for the meaning of words."""

from __future__ import annotations

from collections.abc import Callable

from kimi_sdk.errors import Retry
from kimi_sdk.tools.facts import country_facts, define_word
from training.data import words
from training.data.shipped import country_names
from training.data.speech import Intent, misspell
from training.data.split import value_held
from training.data.world import FAILED, World

FACTS = {
    "capital": Intent(
        "fact.capital",
        imp="name the capital [city |]of {c}\n[find|look up|check|get] the capital [city |]of {c}\nname {c}'s capital",
        ask="""
        what is the capital [city |]of {c}
        [which|what] city is the capital of {c}
        what is {c}'s capital
        [which|what] is the capital [city |]of {c}
        what capital does {c} have
        where is the government [seat |]of {c}
        what do you call the capital of {c}
        how is the capital of {c} called
        """,
        thing="the capital [city |]of {c}\n{c}'s capital[ city|]\nthe capital for {c}\nthe name of the capital of {c}",
        clause="what the capital [city |]of {c} is\nwhich city is the capital of {c}\nwhat {c}'s capital is [called|named]",
        free="capital of {c}?\n{c} capital\n{c}: capital city?\nI'm flying to the capital of {c}. [What is it called|Which city is that]?",
    ),
    "population": Intent(
        "fact.population",
        imp="[find|look up|check|get] the population of {c}\n[find out|tell me] how many people live in {c}",
        ask="""
        what is the population of {c}
        how many [people|inhabitants|persons|residents|citizens] [live in|are there in|are in] {c}
        how many inhabitants does {c} have
        how big is the population of {c}
        how populous is {c}
        what is {c}'s population
        how many people call {c} home
        """,
        thing="the population of {c}\nthe number of [people|inhabitants|residents] [in|of] {c}\n{c}'s population\nthe headcount of {c}",
        clause="how many [people|inhabitants] [live in {c}|{c} has|there are in {c}]\nhow large the population of {c} is\nwhat the population of {c} is",
        free="population of {c}?\n{c} population\n{c}: how many people?\ninhabitants of {c}?",
    ),
    "area": Intent(
        "fact.area",
        imp="[find|look up|check|get] the area of {c}\n[find out|tell me] how [big|large] {c} is",
        ask="""
        what is the [area|size|surface] of {c}
        how [big|large] is {c}
        how many square kilometers does {c} [cover|have]
        what area does {c} [cover|have|occupy]
        how much land does {c} [cover|have]
        what is {c}'s area
        """,
        thing="the [area|size|surface area|land area] of {c}\n{c}'s [area|size]\nthe square kilometers of {c}",
        clause="how [big|large] {c} is\nwhat the area of {c} is\nhow many square kilometers {c} covers",
        free="area of {c}?\n{c} area\n{c}: how big?\nsize of {c} in km2?",
    ),
    "currency": Intent(
        "fact.currency",
        imp="name the currency of {c}\n[find|look up|check|get] the currency [of|in] {c}",
        ask="""
        what is the currency [of|in] {c}
        [which|what] currency [is used in|does {c} use|do they use in|is used by|do people in {c} use]
        [what|which] money [is used in|do they use in|do people pay with in] {c}
        what do people pay with in {c}
        what [money|currency] do I need in {c}
        what is {c}'s currency
        """,
        thing="the currency [of|in|used in] {c}\n{c}'s currency\nthe money [used in|of] {c}\nthe official currency of {c}",
        clause="[which|what] currency {c} [has|uses]\nwhat they pay with in {c}\nwhat money [is used in|I need in] {c}",
        free="currency of {c}?\n{c} currency\n{c}: which money?\nI'm travelling to {c}. [Which money do I need|What's the currency|What do they pay with]?",
    ),
    "languages": Intent(
        "fact.languages",
        imp="name the languages [of|spoken in] {c}\n[find|look up|check|list] the languages [of|in|spoken in] {c}",
        ask="""
        [which|what] language[s|] [is|are] spoken in {c}
        [which|what] language[s|] do [people|they] speak in {c}
        what are the [official |]languages [of|in] {c}
        what is the language of {c}
        [which|what] language[s|] does {c} [have|use]
        what do people speak in {c}
        """,
        thing="the [official |]language[s|] [of|in|spoken in] {c}\n{c}'s [official |]languages\nthe tongues spoken in {c}",
        clause="[which|what] language[s|] [they|people] speak in {c}\nwhat is spoken in {c}\nwhich languages {c} has",
        free="languages of {c}?\n{c} language\n{c}: which languages?\nI'm moving to {c}. Which language should I learn?",
    ),
    "region": Intent(
        "fact.region",
        imp="[find|look up|check|tell me] [which|what] [region|part of the world|continent] {c} is in\nlocate {c}[ in the world|]",
        ask="""
        where is {c}[ located|]
        [which|what] [region|continent|part of the world] is {c} in
        in which [region|continent|part of the world] is {c}
        [which|what] [region|continent] does {c} belong to
        where in the world is {c}
        where can I find {c} on the map
        """,
        thing="the [region|continent|part of the world|location] of {c}\n{c}'s [region|continent]",
        clause="where {c} is[ located|]\nwhich [region|continent] {c} [is in|belongs to|is part of]",
        free="region of {c}?\n{c} continent\n{c}: where is it?\nlocation of {c}?",
    ),
    "borders": Intent(
        "fact.borders",
        imp="name the neighbours of {c}\n[find|look up|check|list] the [neighbours|neighbors|neighbouring countries|borders] of {c}",
        ask="""
        [which|what] countries [border|touch|are next to|surround|share a border with] {c}
        [which|what] countries does {c} border
        [who|which] are the [neighbours|neighbors] of {c}
        [which|what] [neighbours|neighbors] does {c} have
        what are {c}'s [neighbours|neighbors|neighbouring countries]
        what borders {c}
        """,
        thing="the [neighbours|neighbors|neighbouring countries|borders] of {c}\n{c}'s [neighbours|neighbors]\nthe countries [around|next to|bordering] {c}",
        clause="[which|what] countries [border {c}|{c} borders|are next to {c}]\nwho the neighbours of {c} are",
        free="neighbours of {c}?\n{c} borders\n{c}: which neighbours?\nbordering countries of {c}?",
    ),
}
AGAIN = Intent(
    "fact.again",
    free="""
    [and|what about|how about|and for|same for|and of|and in] {c}?
    {c}?
    [and|now] {c}[, please|?|.]
    [the same for|do the same for|also for] {c}[.|, please.|?]
    [now tell me|tell me also|I also need it] for {c}[.|]
    """,
)
FACT_AGAIN = Intent(
    "fact.other",
    free="""
    [and|what about|how about] [its|the] {f}?
    [and|now] the {f}[?|, please|.]
    [what is|tell me|give me] [its|the] {f}[ too| as well|]?
    """,
)
FACT_ANSWERS = {
    "capital": "The capital of {c} is {r}.",
    "population": "{c} has {r} inhabitants.",
    "area": "The area of {c} is {r}.",
    "currency": "The currency of {c} is {r}.",
    "languages": "Languages of {c}: {r}.",
    "region": "{c} lies in {r}.",
    "borders": "{c} borders {r}.",
}
DEFINE = Intent(
    "define",
    imp="""
    define {w}
    define the word {w}
    [explain|describe] [the word |the term |the meaning of |]{w}
    [look up|find|check] [the word |the meaning of |the definition of |]{w}[ in the dictionary|]
    [give|write] [a|the] definition [of|for] {w}
    [tell me|say|explain] what {w} means
    use the dictionary [for|on] {w}
    """,
    ask="""
    what does {w} mean
    what does the [word|term] {w} mean
    what is [the meaning|the definition|a definition] of {w}
    what is meant by {w}
    what is [a|an|] {w}
    what does {w} stand for as a word
    how is {w} defined
    how would a dictionary [define|explain] {w}
    what do people mean [by|when they say] {w}
    what does one call {w}
    does the dictionary know {w}
    """,
    thing="""
    the [meaning|definition|sense] of {w}
    the [meaning|definition] of the [word|term] {w}
    a [short |]definition [of|for] {w}
    the dictionary entry [for|of] {w}
    """,
    clause="""
    what {w} means
    what the [word|term] {w} means
    what is meant by {w}
    how {w} is defined
    what [a|an|] {w} is
    """,
    free="""
    {w}?
    {w} meaning
    {w} definition
    define: {w}
    [I read|I heard|I came across|My teacher used|The text says] [the word |]{w}[.| today.| and did not understand it.] [What does it mean|What is it|Meaning]?
    meaning of {w}?
    [what's|what is] that: {w}?
    """,
)


def country(world: World, *, fact: str = "", exclude: str = "") -> str:
    """A country's name on this side of the split."""
    names = country_names()
    while True:
        name = names[int(world.rng.random() * len(names))]
        if value_held(name) == world.held and name != exclude:
            return name


def hint(function: Callable[..., str], *arguments: str) -> str | None:
    """What the tool suggests instead; ``""`` where it refuses without a suggestion, ``None`` where it answers."""
    try:
        function(*arguments)
    except Retry as refusal:
        text = str(refusal)
        return text.split("Did you mean ")[1].rstrip("?").strip("'\"") if "Did you mean " in text else ""
    return None


def lookup(world: World, name: str, fact: str) -> None:
    call = {"country": name, "fact": fact}
    (result,) = world.call(f"The {fact} of {name}: {world.title('country_facts')}.", ("country_facts", call))
    again = world.retry("country_facts", call, "country")
    if again is not None:
        (result,) = again
        name = next(iter(world.messages[-2].calls[0].args.values()))
    if world.errors[0]:
        world.reply(result, FAILED)
        return
    world.reply(stated(fact, name, result))


def stated(fact: str, name: str, result: str) -> str:
    """The answer that says a fact; a result that is a sentence about the country already stays as it is."""
    if result.startswith(f"{name} "):
        return result
    return FACT_ANSWERS[fact].format(c=name, r=result.rstrip("."))


def facts(world: World) -> None:
    """A fact of a country; sometimes of an invented one, which the tool refuses."""
    rng = world.rng
    fact = rng.choice(list(FACTS))
    invented = rng.random() < 0.05
    name = country(world)
    if invented:
        name = words.pseudo(rng, world.held).capitalize()
        while hint(country_facts, name, fact) != "":
            name = words.pseudo(rng, world.held).capitalize()
    roll = rng.random()
    if roll < 0.12:
        name = name.lower()
    elif roll < 0.15 and len(name) > 5 and name.isalpha() and not invented:
        wrong = misspell(rng, name)
        name = wrong if hint(country_facts, wrong, fact) == name else name
    world.user(FACTS[fact].say(rng, {"c": name}, world.held))
    lookup(world, name, fact)
    roll = rng.random()
    if roll < 0.18:
        name = country(world, exclude=name)
        world.user(AGAIN.say(rng, {"c": name}, world.held))
        lookup(world, name, fact)
    elif roll < 0.28 and not world.errors[0]:
        other = rng.choice([key for key in FACTS if key != fact])
        world.user(FACT_AGAIN.say(rng, {"f": other}, world.held))
        lookup(world, name, other)


def define(world: World) -> None:
    """The meaning of a word; sometimes of one that no dictionary has, or of one misspelled."""
    rng = world.rng
    roll = rng.random()
    term = words.english(rng, world.held)
    if roll < 0.05:
        wrong = words.word(rng, world.held)
        term = wrong if hint(define_word, wrong) in (None, "") else term
    elif roll > 0.97 and len(term) > 6 and term.isalpha():
        wrong = misspell(rng, term)
        term = wrong if hint(define_word, wrong) == term else term
    shown = rng.choice((term, term, term, f"'{term}'", f'"{term}"', term.capitalize()))
    world.user(DEFINE.say(rng, {"w": shown}, world.held))
    asked = shown.strip("'\"")
    (result,) = world.call(
        f"The meaning of '{asked}': {world.title('define_word')}.", ("define_word", {"word": asked})
    )
    again = world.retry("define_word", {"word": asked}, "word")
    if again is not None:
        (result,) = again
        asked = next(iter(world.messages[-2].calls[0].args.values()))
    if world.errors[0]:
        world.reply(result, FAILED)
        return
    world.reply(rng.choice(("{w}: {r}", "'{w}' means: {r}", "{w}: {r}")).format(w=asked, r=result))
