"""Asking about dates and times of day: shifts, distances, weekdays, the clock."""

from __future__ import annotations

from datetime import date, timedelta

from training.data import words
from training.data.speech import Intent
from training.data.world import FAILED, World

SHIFT = Intent(
    "date.after",
    imp="""
    add {n} to {d}
    [find|give|compute|work out|calculate|get] the date {n} after {d}
    [go|move|jump|count] {n} [forward|ahead] from {d}
    [move|shift|push|postpone|delay] {d} by {n}
    [move|shift|push] {d} {n} [forward|later|ahead|into the future]
    count {n} from {d}
    [tell me|find] what date comes {n} after {d}
    """,
    ask="""
    [what|which] date is {n} after {d}
    [what|which] [date|day] [is|will it be|comes] {n} [from|after|past] {d}
    what is {d} plus {n}
    what date do I get {n} after {d}
    when is {n} after {d}
    if [today is|it is|I start on] {d}, what date is it [in {n}|{n} later]
    [starting|counting] [on|from] {d}, what date is {n} later
    {n} after {d} is [what date|when]
    """,
    thing="""
    the date {n} [after|from|past|later than] {d}
    {d} plus {n}
    {n} after {d}
    the day {n} after {d}
    """,
    clause="""
    [what|which] date is {n} after {d}
    [what|which] [date|day] {n} after {d} [is|would be|falls on]
    when {n} from {d} is
    when {n} after {d} have passed
    """,
    free="""
    [My contract|The visa|The warranty|The offer|The course|The lease] [starts|began|starts on|begins] {d} and lasts {n}. When does it end?
    [I ordered it on|It was sent on|I paid on] {d}, delivery takes {n}. When [will it arrive|does it come]?
    {d} + {n}
    [today is|it's] {d}. [what date is it|what's the date] in {n}?
    [a deadline|the deadline] is {n} after {d}. [what date is that|which date]?
    """,
)
BACK = Intent(
    "date.before",
    imp="""
    subtract {n} from {d}
    [go|move|jump|count] {n} back from {d}
    [find|give|compute|work out|calculate|get] the date {n} before {d}
    [move|shift|bring] {d} {n} [back|earlier]
    take {n} [off|away from] {d}
    """,
    ask="""
    [what|which] date [is|was] {n} [before|prior to|ahead of] {d}
    [what|which] [date|day] [is|was] {n} before {d}
    what is {d} minus {n}
    when was {n} before {d}
    if today is {d}, what date was it {n} ago
    """,
    thing="the date {n} [before|prior to|earlier than] {d}\n{d} minus {n}\n{n} before {d}\nthe day {n} before {d}",
    clause="[what|which] date {n} before {d} [is|was]\nwhich date was {n} before {d}\nwhen {n} before {d} was",
    free="""
    [The exam|The party|The flight|My wedding|The meeting] is on {d}. I must [start|book|be ready|prepare] {n} before. [Which date is that|What date|When]?
    {d} - {n}
    [today is|it's] {d}. what date was it {n} ago?
    """,
)
BETWEEN = Intent(
    "date.between",
    imp="""
    count the days [between|from] {d} [and|to] {f}
    [find|compute|calculate|get|work out] [the number of|how many] days [between|from] {d} [and|to] {f}
    [find|calculate] the [difference|distance|gap] in days between {d} and {f}
    """,
    ask="""
    how many days [are there |lie |are |]between {d} and {f}
    how many days [are there |are |]from {d} [to|until|till] {f}
    how many days [is it|are there|will it take] from {d} [to|until|till] {f}
    how long is it from {d} [to|until] {f} in days
    how many days pass [from|between] {d} [to|and] {f}
    how far apart are {d} and {f}
    what is the [number of days|difference in days|gap in days] between {d} and {f}
    """,
    thing="""
    the number of days [between|from] {d} [and|to] {f}
    the days [between|from] {d} [and|to] {f}
    the [difference|gap|distance] [in days |]between {d} and {f}
    """,
    clause="""
    how many days [are there|lie|there are] between {d} and {f}
    how many days it is from {d} [to|until] {f}
    how long it is in days from {d} to {f}
    how far {d} is from {f} in days
    """,
    free="""
    [We met|I moved here|It started|The trip starts|I got it] on {d}[ and|;] [today is|it ended on|it ends on|now it's] {f}. How many days [is that|are that]?
    {d} to {f}, how many days?
    days between {d} and {f}
    [I leave on|I fly on] {d} and [come back|return] on {f}. How many days [am I away|is the trip]?
    """,
)
WEEKDAY = Intent(
    "date.weekday",
    imp="""
    [find|tell me|say|check|look up] [what|which] day of the week {d} [is|was]
    [find|tell me|get] the [weekday|day of the week] [of|for] {d}
    name the weekday of {d}
    """,
    ask="""
    [what|which] day of the week [is|was] {d}
    [what|which] weekday [is|was|does it fall on for] {d}
    on [what|which] [day|weekday|day of the week] [does|did|will] {d} fall
    is {d} a [Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|weekend]
    what day [is|was|is it on] {d}
    was {d} a [Monday|Wednesday|Friday|Sunday|weekday]
    """,
    thing="the [weekday|day of the week|day] [of|for|on] {d}\nwhich weekday {d} is",
    clause="[what|which] [day of the week|weekday] {d} [is|was|falls on]\nif {d} is a [Monday|Friday|Saturday|weekend]",
    free="""
    [I was born|She was born|We got married|The party is|The match is] on {d}. [What|Which] [weekday|day of the week] [is that|was that|was it]?
    weekday of {d}?
    {d}: which weekday?
    """,
)
LATER = Intent(
    "time.later",
    imp="""
    add {m} [to|onto] {t}
    [go|move|count] {m} [forward|ahead] from {t}
    [shift|move|delay|push] {t} by {m}
    [find|work out|calculate] the time {m} after {t}
    """,
    ask="""
    what time is it {m} after {t}
    what time is {m} [after|from|past] {t}
    what is {t} plus {m}
    if it's {t} now, what time is it in {m}
    when does a [film|class|train ride|meeting] of {m} end if it starts at {t}
    """,
    thing="the time {m} [after|from|past] {t}\n{t} plus {m}\n{m} after {t}",
    clause="what time [is it|it is] {m} after {t}\nwhen {m} after {t} is",
    free="""
    [The train leaves|The film starts|My class begins|The meeting starts] at {t} and [takes|lasts] {m}. When [does it end|is it over|does it arrive]?
    [I put the cake in at|I start at|I left at] {t}, it needs {m}. When is it [ready|done]?
    {t} + {m}
    """,
)
EARLIER = Intent(
    "time.earlier",
    imp="subtract {m} from {t}\n[go|move|count] {m} back from {t}\n[find|work out] the time {m} before {t}\ntake {m} off {t}",
    ask="what time is [it |]{m} before {t}\nwhat is {t} minus {m}\nwhen must I leave to arrive at {t} if it takes {m}",
    thing="the time {m} before {t}\n{t} minus {m}\n{m} before {t}",
    clause="what time [is|it is] {m} before {t}\nwhen {m} before {t} is",
    free="""
    [The train goes|I must be there|The shop closes|My flight is] at {t} and [the way takes|I need|it takes] {m}. When do I have to [leave|start|go]?
    {t} - {m}
    """,
)
NOW = Intent(
    "time.now",
    imp="tell me the [current |]time\n[check|look at|read] the clock\n[get|give me|show me] the current [time|date|date and time]",
    ask="""
    what time is it[ now| right now|]
    what's the time
    what is today's date
    what's the date [today|now]
    what day is it today
    which date is today
    [how late|what time] is it
    what year is it
    """,
    thing="the [current |]time\nthe [current|present] [time|date]\ntoday's date\nthe date of today\nthe time right now",
    clause="what time it is[ now|]\nwhat date [it is|we have] today\nhow late it is",
    free="time?\nthe time please\ncurrent date?\nclock\ntoday?\nnow?",
)
SINGLE = {
    "days": ("day", "days"),
    "weeks": ("week", "weeks"),
    "months": ("month", "months"),
    "years": ("year", "years"),
}


def dated(world: World) -> tuple[str, str, date]:
    """A date as spelled, in ISO, and as a value."""
    value = words.day(world.rng, world.held)
    return words.spell_day(world.rng, value), value.isoformat(), value


def amount(world: World) -> tuple[str, int, str]:
    """A span of time as spelled, its number and its unit."""
    rng = world.rng
    unit = rng.choice(("days", "days", "days", "weeks", "weeks", "months", "years"))
    count = rng.randint(1, {"days": 400, "weeks": 60, "months": 40, "years": 60}[unit])
    if rng.random() < 0.5:
        count = rng.randint(1, 30)
    single, plural = SINGLE[unit]
    if count == 1:
        return rng.choice((f"1 {single}", f"one {single}", f"a {single}")), 1, unit
    return (
        f"{words.SPOKEN[count] if count in words.SPOKEN and rng.random() < 0.3 else count} {plural}",
        count,
        unit,
    )


def shift(world: World) -> None:
    rng = world.rng
    back = rng.random() < 0.4
    spelled, iso, _ = dated(world)
    span, count, unit = amount(world)
    world.user((BACK if back else SHIFT).say(rng, {"d": spelled, "n": span}, world.held))
    side = "before" if back else "after"
    signed = -count if back else count
    (result,) = world.call(
        f"The date {span} {side} {iso}: {world.title('shift_date')} with {signed} {unit}.",
        ("shift_date", {"date": iso, "amount": signed, "unit": unit}),
    )
    if world.errors[0]:
        world.reply(result, FAILED)
        return
    world.reply(
        rng.choice(
            (f"{span} {side} {iso} is {result}.", f"That is {result}.", f"It is {result}.")
        ).capitalize()
    )


def between(world: World) -> None:
    rng = world.rng
    spelled, iso, start = dated(world)
    if rng.random() < 0.6:
        end = start + timedelta(days=rng.randint(1, 900))
    else:
        end = words.day(rng, world.held)
    until = words.spell_day(rng, end)
    world.user(BETWEEN.say(rng, {"d": spelled, "f": until}, world.held))
    (result,) = world.call(
        f"Days from {iso} to {end.isoformat()}: {world.title('days_between')}.",
        ("days_between", {"start": iso, "end": end.isoformat()}),
    )
    if world.errors[0]:
        world.reply(result, FAILED)
        return
    noun = "day" if result in ("1", "-1") else "days"
    world.reply(
        rng.choice((f"It is {result} {noun}.", f"From {iso} to {end.isoformat()} it is {result} {noun}."))
    )


def weekday(world: World) -> None:
    spelled, iso, _ = dated(world)
    world.user(WEEKDAY.say(world.rng, {"d": spelled}, world.held))
    (result,) = world.call(
        f"The weekday of {iso}: {world.title('day_of_week')}.", ("day_of_week", {"date": iso})
    )
    world.reply(result if world.errors[0] else f"{iso} is a {result}.")


def clock(world: World) -> None:
    rng = world.rng
    back = rng.random() < 0.4
    time = words.clock(rng, world.held)
    kind = rng.random()
    if kind < 0.6:
        count = rng.randint(1, 300)
        span, minutes, spoken = f"{count} minute{'s' * (count != 1)}", count, ""
    elif kind < 0.8:
        count = rng.randint(1, 12)
        span, minutes, spoken = f"{count} hour{'s' * (count != 1)}", 60 * count, f" = {60 * count} minutes"
    else:
        hours, rest = rng.randint(1, 5), rng.choice((5, 10, 15, 20, 30, 40, 45, 50))
        span, minutes = f"{hours} hour{'s' * (hours != 1)} and {rest} minutes", 60 * hours + rest
        spoken = f" = {minutes} minutes"
    world.user((EARLIER if back else LATER).say(rng, {"t": time, "m": span}, world.held))
    side = "before" if back else "after"
    (result,) = world.call(
        f"The time {span}{spoken} {side} {time}: {world.title('shift_time')}.",
        ("shift_time", {"time": time, "minutes": -minutes if back else minutes}),
    )
    world.reply(
        result if world.errors[0] else rng.choice((f"It is {result}.", f"{span} {side} {time} is {result}."))
    )


def now(world: World) -> None:
    world.user(NOW.say(world.rng, {}, world.held))
    (result,) = world.call(f"Asks for the present time: {world.title('current_time')}.", ("current_time", {}))
    world.reply(f"It is {result}.")
