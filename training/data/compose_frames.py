"""Connectors, orders and references of requests of several steps."""

from __future__ import annotations

from training.data.frames import Pool

LINK = Pool(
    "compose.link",
    """
    {a} and {b}
    {a} and then {b}
    {a}, then {b}
    {a}. [Then|After that|Afterwards|Next|Now|Finally] {b}
    {a}; [then|after that|next] {b}
    first {a}, then {b}
    first {a}. Second, {b}
    {a} and, [when you have it|after that|when done|once you know], {b}
    {a}, and [after that|afterwards|then] {b}
    [two things|do this|two steps|please do two things]: {a} and {b}
    {a}, [next|afterwards|finally] {b}
    [start with this|begin with this]: {a}. Then {b}
    after you {a}, {b}
    1. {a} 2. {b}
    {a} [but also|and please also|and could you] {b}
    [step one|1]: {a}; [step two|2]: {b}
    """,
)


ORDERS: dict[str, Pool] = {
    "*": Pool(
        "compose.times",
        """
        multiply [the result|it|that|the answer|the number|what you get] [by|with] {n}
        take [it|that|the result] times {n}
        [calculate|compute|tell me|work out] {n} times [the result|that|it|that number]
        [calculate|find] [the result|that|it] times {n}
        [make|do] it times {n}
        [find|work out] what {n} of [them|those|that] [make|are]
        [multiply|times] by {n}
        [it|that|the result], times {n}
        what is the product of [it|that|the result] and {n}
        [get|give me] the product of [it|that|the result|this number] and {n}
        """,
    ),
    "/": Pool(
        "compose.over",
        """
        divide [the result|it|that|the answer|the number|what you get] by {n}
        split [the result|it|that] [into|among|by] {n}[ parts| people|]
        [calculate|compute|tell me|work out] [the result|that|it] divided by {n}
        share [it|that|the result] between {n} people
        [find|work out] a {n}th of [it|that|the result]
        what is one share if {n} people [split|share] [it|that|the result]
        [it|that|the result] over {n}
        how much [does each|is it for each] of {n} [people|friends][ get|]
        cut [it|that|the result] into {n} equal parts
        """,
    ),
    "+": Pool(
        "compose.plus",
        """
        add {n} to [the result|it|that|the answer|the number]
        add {n}
        [increase|raise] [the result|it|that] by {n}
        [calculate|compute|tell me|work out] [the result|that|it] plus {n}
        put {n} on top of [it|that]
                    """,
    ),
    "-": Pool(
        "compose.minus",
        """
        subtract {n} from [the result|it|that|the answer|the number]
        [take|take away] {n} from [the result|it|that]
        [reduce|lower|decrease] [the result|it|that] by {n}
        [calculate|compute|tell me|work out] [the result|that|it] minus {n}
        deduct {n}[ from it|]
        what remains [if|when] {n} [is taken away|is spent|goes]
        how much is left without {n}
        [find|give me] the difference between [it|that|the result] and {n}
        """,
    ),
    "convert": Pool(
        "compose.convert",
        """
        [convert|change|turn] [the result|it|that|the answer] [to|into] {b}
        [express|give|show|tell me] [the result|it|that] in {b}
        [say|tell me] how many {b} [that is|it is|that makes]
        put [it|that|the result] in {b}
        [give me|show] the {b}[ too| as well|]
        """,
    ),
    "weekday": Pool(
        "compose.weekday",
        """
        [tell me|find|say|name] [its|the|that day's] weekday
        [tell me|find|say] [which|what] [weekday|day of the week] [it is|that is|this is]
        [find|tell me|look up] the day of the week [of it|of that date|of the result|it falls on]
        [check|see] which weekday that [date|day] is
        """,
    ),
    "until": Pool(
        "compose.until",
        """
        count the days from [there|then|that date|it] [to|until] {d}
        [tell me|find|count] how many days [it is from there|are left from then|lie between it and] {d}
        [find|compute] the days between [it|that date|the result] and {d}
        how many days [is it|are there] from [there|then|that date] [to|until|till] {d}
        [give|work out] the days [left |]from [that|then] till {d}
        [and |]how far is {d} from [there|it|that date] in days
        see how many days [remain|pass] until {d}
        """,
    ),
    "save": Pool(
        "compose.save",
        """
        [save|store|keep|put|write] [the result|it|that|the answer] [as|under|in] {t}
        [save|store|keep|write down] [the result|it|that|the answer] in a note [called|named|titled|with the title] {t}
        [make|create|write] a note [called|named|titled|] {t} [with|of|from] [the result|it|that|the answer]
        note [the result|it|that|the answer] [down |][as|under] {t}
        [add|put] [the result|it|that] to my notes [as|under] {t}
        [remember|keep] [it|that|the result] [as|under the title|under the name] {t}
        """,
    ),
    "define": Pool(
        "compose.define",
        """
        define [it|that word|the word|this word]
        [tell me|explain|say] what [it|that word|the word] means
        look [it|that word|the word] up[ in the dictionary|]
        [give|find] the [meaning|definition] of [it|that word|the word]
        read out its dictionary entry
        [search|check|consult] the dictionary for [it|that word|the word]
        what does [it|that word|the word] mean
        """,
    ),
}


WAYS: dict[str, Pool] = {
    "*": Pool(
        "compose.way_times",
        "{a} times {n}\n{n} times {a}\n{a} multiplied by {n}\n{a}, times {n}\n{a} x {n}\nthe product of {a} and {n}\n{a}, multiplied by {n}\n[the product|product] of {n} and {a}",
    ),
    "/": Pool(
        "compose.way_over",
        "{a} divided by {n}\n{a}, divided by {n}\n{a} split [into|among|by] {n}\n{a} over {n}\n{a} shared by {n} people\neach share when {n} people split {a}",
    ),
    "+": Pool(
        "compose.way_plus",
        "{a} plus {n}\n{a}, plus {n}\n{a} and {n} more\nthe sum of {a} and {n}\n{a} increased by {n}\n{a} with {n} added\n{a} together with {n}\nthe total of {a} and {n}\n{n} on top of {a}\n{n} added to {a}",
    ),
    "-": Pool(
        "compose.way_minus",
        "{a} minus {n}\n{a}, minus {n}\n{a} less {n}\n{a} reduced by {n}\n{a} without {n}\nwhat remains of {a} after taking away {n}\nwhat is left of {a} without {n}\nthe difference between {a} and {n}\n{a} after losing {n}",
    ),
    "convert": Pool(
        "compose.way_convert",
        "{a} in {b}\n{a}, in {b}\n{a} [converted to|expressed in|given in] {b}\n{a}, but in {b}",
    ),
    "weekday": Pool(
        "compose.way_weekday",
        "the [weekday|day of the week] of {a}\nthe [weekday|day of the week] {a} falls on\nthe [weekday|day of the week] on {a}",
    ),
    "until": Pool(
        "compose.way_until",
        "the [days|number of days] from {a} [to|until] {d}\nthe days between {a} and {d}\nhow many days lie between {a} and {d}\nthe time in days from {a} to {d}\nthe day count from {a} till {d}",
    ),
}


TOLD = {"*": "times", "/": "divided by", "+": "plus", "-": "minus"}
