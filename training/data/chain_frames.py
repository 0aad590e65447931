"""How people ask for tasks of several calls."""

from __future__ import annotations

from training.data.speech import Intent

CALC_CONVERT = Intent(
    "chain.calc_convert",
    imp="""
    [calculate|compute|work out] {e} and [convert|change] [the result|it|that] from {a} [to|into] {b}
    [add up|calculate] {e} {a} and [give|express|show] [it|the result|the total] in {b}
    [calculate|compute] {e}, then convert [that|the result|it] from {a} to {b}
    first [compute|calculate] {e}, then [turn|convert] [that many|the result in] {a} into {b}
    """,
    ask="""
    how [many|much] {b} [is|are] {e} {a}
    what is {e} {a} in {b}
    [what is|what's] {e}, and how many {b} are that many {a}
    if I [calculate|take] {e} {a}, how many {b} [is that|are that]
    """,
    free="""
    I [walked|measured|used|bought|counted] {e} {a} [in total|altogether]. How [much|many] is that in {b}?
    {e} {a}, in {b}?
    {e} = ? And the result is in {a}; [convert it to|what is it in] {b}?
    """,
)

CONVERT_CALC = Intent(
    "chain.convert_calc",
    imp="""
    convert {v} {a} to {b} and [multiply|then multiply] [the result|it|that] by {n}
    [convert|change] {v} {a} into {b}, then multiply by {n}
    express {v} {a} in {b} and take [the result|it] times {n}
    turn {v} {a} into {b}, [then|and] multiply [that|the result] by {n}
    """,
    ask="""
    [what is|how much is] {n} times {v} {a} in {b}
    if one [box|trip|bottle|lap|bag] is {v} {a}, how many {b} are {n} of them
    how many {b} are {n} times {v} {a}
    what do I get [when|if] I convert {v} {a} to {b} and multiply by {n}
    """,
    free="""
    One [box|bag|lap|piece|trip] [is|has|measures] {v} {a}. How [many|much] {b} are {n} of them?
    I do {v} {a} [a day|each day|every time]. How many {b} is that in {n} [days|times]?
    {v} {a} to {b}, times {n}?
    """,
)

CONVERT_SPLIT = Intent(
    "chain.convert_split",
    imp="""
    convert {v} {a} to {b} and divide [the result|it|that] by {n}
    [convert|change] {v} {a} into {b}, then [divide|split] [it |]by {n}
    turn {v} {a} into {b} and split [that|the result] into {n} parts
    """,
    ask="""
    if {n} people share {v} {a}, how many {b} does each get
    how many {b} [is|are] {v} {a} divided by {n}
    what do I get when I convert {v} {a} to {b} and divide by {n}
    """,
    free="""
    {n} [people|friends|kids] share {v} {a}. How many {b} [does each get|for each]?
    [I split|We divide] {v} {a} into {n} parts. How many {b} is one [part|share]?
    """,
)

DAYS_CALC = Intent(
    "chain.days_calc",
    imp="""
    count the days [from|between] {d} [to|and] {f} and multiply [the result|that|them] by {n}
    [find|compute|calculate] the days between {d} and {f}, then multiply [it |them |]by {n}
    [find out|work out] what {n} [a day|per day] [is|makes|costs] from {d} to {f}
    """,
    ask="""
    how much do I [spend|save|pay|earn] from {d} to {f} at {n} [a day|per day]
    if I [save|spend|earn|eat|pay] {n} a day from {d} [to|until] {f}, how much is that[ in total|]
    what is {n} times the number of days between {d} and {f}
    """,
    free="""
    [The hotel|The car|The room] costs {n} [a day|per day|a night]. What [is the cost|do I pay] from {d} to {f}?
    I [run|walk|read|save] {n} [km|pages|euros|dollars] [a day|every day] from {d} to {f}. [How much|How many] [is that|in total]?
    """,
)

DAYS_UNITS = Intent(
    "chain.days_units",
    imp="""
    [find|count|compute] the days between {d} and {f} and convert [them|the result] to {b}
    [tell me|work out] the time from {d} to {f} in {b}
    """,
    ask="""
    how many {b} are [there |]between {d} and {f}
    how many {b} is it from {d} [to|until] {f}
    what is the time from {d} to {f} in {b}
    how long is it in {b} from {d} until {f}
    """,
    thing="the number of {b} between {d} and {f}\nthe time between {d} and {f} in {b}",
    clause="how many {b} there are between {d} and {f}\nhow many {b} it is from {d} to {f}",
)

SHIFT_WEEKDAY = Intent(
    "chain.shift_weekday",
    imp="""
    [find|tell me] the weekday {n} {s} {d}
    [find|tell me|work out] [what|which] day of the week [is|it is] {n} {s} {d}
    [take|compute|find] the date {n} {s} {d} and [tell me its weekday|name its weekday|say which weekday it is]
    """,
    ask="""
    [what|which] [weekday|day of the week] is {n} {s} {d}
    on [what|which] [weekday|day of the week] [is|does] {n} {s} {d} [fall|]
    [what|which] weekday will it be {n} {s} {d}
    """,
    thing="the [weekday|day of the week] {n} {s} {d}",
    clause="[what|which] [weekday|day of the week] {n} {s} {d} is",
    free="{d}, {n} {s} that: [which|what] [weekday|day of the week]?\n[The date|It] is {n} {s} {d}. [Which|What] weekday is that?",
)

FACT_CALC = Intent(
    "chain.fact_calc",
    imp="""
    [find|look up|take] the {f} of {c} and {o} {n}
    [look up|get] the {f} of {c}, then {o} {n}
    """,
    ask="""
    [what is|how much is] the {f} of {c} {w} {n}
    if I take the {f} of {c} {w} {n}, what [is it|do I get]
    """,
    thing="the {f} of {c} {w} {n}",
    free="{f} of {c} {w} {n}?\n[Take|I need] the {f} of {c}. [What is it|How much is that|Now] {w} {n}?",
)

TWO_FACTS = Intent(
    "chain.two_facts",
    imp="""
    [add|sum up|sum] the {f}s of {c} and {k}
    [find|compute|calculate] the [total|combined|sum of the] {f} of {c} and {k}
    [look up|find] the {f} of {c} and of {k} and add them
    """,
    ask="""
    what is the [total|combined] {f} of {c} and {k}
    what is the {f} of {c} and {k} [together|combined|in total]
    how much is the {f} of {c} plus the {f} of {k}
    what do the {f}s of {c} and {k} add up to
    """,
    thing="the [total|combined] {f} of {c} and {k}\nthe {f} of {c} and {k} [together|combined]",
    clause="what the [total|combined] {f} of {c} and {k} is\nhow much the {f}s of {c} and {k} are together",
    free="{f} of {c} + {f} of {k}?\nadd the {f}s: {c}, {k}",
)

DENSITY = Intent(
    "chain.density",
    imp="[find|compute|calculate|work out] the population density of {c}\n[tell me|work out] how densely populated {c} is",
    ask="what is the population density of {c}\nhow many people live [on|per] [a|each|one] square kilometer in {c}\nhow densely populated is {c}",
    thing="the population density of {c}\nthe people per square kilometer in {c}",
    clause="how densely populated {c} is\nhow many people per square kilometer {c} has",
)

COMPARE = Intent(
    "chain.compare",
    ask="""
    which [country |]is [bigger|larger], {c} or {k}
    is {c} [bigger|larger] than {k}
    which of {c} and {k} is [bigger|larger]
    """,
    imp="compare the area of {c} and {k}\n[find out|tell me] which is [bigger|larger], {c} or {k}",
    clause="which is [bigger|larger], {c} or {k}\nwhether {c} is [bigger|larger] than {k}",
)

BOTH = Intent(
    "chain.both",
    imp="""
    [find|look up|get|tell me|give me] the {f} of {c} and [of |]{k}
    [find|look up|tell me] the {f} of both {c} and {k}
    [look up|compare] the {f} of {c} and the {f} of {k}
    """,
    ask="""
    what is the {f} of {c} and [of |]{k}
    what are the {f}s of {c} and {k}
    what is the {f} of {c} and what is the {f} of {k}
    """,
    thing="the {f} of {c} and [of |]{k}\nthe {f}s of {c} and {k}\nthe {f} of both {c} and {k}",
    free="{f} of {c} and {k}?\n{c} and {k}: {f}?\n{f}: {c}, {k}",
)

PAIR_UNITS = Intent(
    "chain.pair_units",
    imp="convert {v} {a} and {u} {a} to {b}\nconvert both {v} and {u} {a} [to|into] {b}\nconvert {v} {a} to {b} and to {k}",
    ask="how many {b} are {v} {a} and {u} {a}\nwhat are {v} and {u} {a} in {b}",
    free="{v} {a} and {u} {a} in {b}?\n{v} and {u} {a} to {b}",
)

RESULT_NOTE = Intent(
    "chain.result_note",
    imp="""
    {x} and [save|store|keep|write down] [the result|it|that|the answer] [as|under|in] [a note called |the note |a note named |]{t}
    {x}, then [save|store|keep|note] [the result|it|that] [as|under] {t}
    {x} and [make|create] a note {t} with [the result|it|the answer]
    {x}. [Save|Store|Keep] [the result|it|that] [as|under|in a note called] {t}
    """,
)

NOTE_CALC = Intent(
    "chain.note_calc",
    imp="""
    [read|open|take] [the|my] note {t} and [multiply|then multiply] [the number|it|what it says] by {n}
    multiply the number in [the|my] note {t} by {n}
    [take|use] the number [in|from] [the|my] note {t} times {n}
    """,
    ask="what is {n} times the number in [the|my] note {t}\nhow much is the number in [my|the] note {t} times {n}",
    thing="{n} times the number in [the|my] note {t}",
)

FILE_CALC = Intent(
    "chain.file_calc",
    imp="""
    [read|open] {t} and [calculate|compute|work out|solve] [what it says|the expression in it|it]
    [calculate|compute|evaluate] the expression in [the file |]{t}
    [solve|work out] what is [written |]in {t}
    """,
    ask="what is the result of the expression in [the file |]{t}\nwhat does the [expression|formula|calculation] in {t} give",
    thing="the [result|value] of the [expression|formula] in [the file |]{t}",
)

FILE_NOTE = Intent(
    "chain.file_note",
    imp="""
    [read|open] [the file |]{p} and [save|store|keep] [its content|what it says|the text|it] [as|in|under] [a note called |the note |]{t}
    [copy|put] the [content|text] of [the file |]{p} into [a|the] note [called |named |]{t}
    make a note {t} from [the file |]{p}
    """,
)

CAPITAL_DEFINE = Intent(
    "chain.note_define",
    imp="""
    [read|open] [the|my] note {t} and define [the word in it|the word|it]
    define the word in [the|my] note {t}
    look up the word [that is |]in [the|my] note {t}
    """,
    ask="what does the word in [the|my] note {t} mean",
)

SEARCH_READ = Intent(
    "chain.search_read",
    imp="""
    [find|search for] the file [that mentions|with|containing] {q} and [read it|open it|show it|show me its content]
    [read|open|show me] the file that [mentions|contains|has] {q}
    search [the files |]for {q} and [read|open|show] the file
    """,
    ask="what does the file [that mentions|with|containing] {q} say\nwhat is in the file that [mentions|contains] {q}",
    thing="the [content|text] of the file [that mentions|with|containing] {q}",
)
