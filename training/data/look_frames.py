"""How people ask about pictures."""

from __future__ import annotations

from training.data.frames import Pool
from training.data.speech import Intent

WHAT = Intent(
    "look.what",
    imp="""
    [describe|explain] [the|this] [picture|image|photo|drawing]
    [say|tell me] what [is|you see|there is] [in|on] [the|this] [picture|image|photo]
    [name|list] [what|everything|the things|the objects] [you see|in the picture|in the image]
    [look at|check] [the|this] [picture|image] and [say|tell me] what it [is|shows]
    caption [this|the] [picture|image]
    """,
    ask="""
    what [is|do you see|can you see|is there] [in|on] [the|this] [picture|image|photo|drawing]
    what does [the|this] [picture|image|photo] show
    what is this
    what [do you|can you] see[ here|]
    what is shown [here|in the picture|in this image]
    what [objects|things|shapes] are [in the picture|in the image|here|there]
    """,
    thing="[a|the] description of [the|this] [picture|image]\nthe content of the [picture|image]",
    clause="what [is in|you see in] [the|this] [picture|image]\nwhat this [picture|image] shows",
    free="what's this?\ndescribe\npicture?\nwhat's in it?\n[look|look at this|see this][.|!|:]",
)

COLOUR = Intent(
    "look.colour",
    imp="[name|tell me|say|give] the [color|colour] of the {s}\n[say|tell me] [what|which] [color|colour] the {s} [is|has]",
    ask="""
    [what|which] [color|colour] is the {s}
    [what|which] [color|colour] does the {s} have
    what is the [color|colour] of the {s}
    in [what|which] [color|colour] is the {s} [drawn|painted]
    how is the {s} [colored|coloured]
    """,
    thing="the [color|colour] of the {s}\nthe {s}'s [color|colour]",
    clause="[what|which] [color|colour] the {s} [is|has]",
    free="[color|colour] of the {s}?\n{s}: which [color|colour]?\n{s} [color|colour]?",
)

ITS_COLOUR = Intent(
    "look.its_colour",
    imp="[name|tell me|say|give] [its color|its colour|the color|the colour]\n[say|tell me] [what|which] [color|colour] it [is|has]",
    ask="""
    [what|which] [color|colour] is [it|this|that|the thing|the object|the shape|the figure]
    [what|which] [color|colour] does it have
    what is [its|the] [color|colour]
    [what|which] [color|colour] [do you see|is this one|is shown]
    """,
    thing="its [color|colour]\nthe [color|colour][ of it| of this|]",
    clause="[what|which] [color|colour] it [is|has]",
    free="[color|colour]?\n[what|which] [color|colour]?\nits [color|colour]?\n[the |][color|colour][, please|]?",
)

ITS_SHAPE = Intent(
    "look.its_shape",
    imp="[name|tell me|say|give] [its|the] [shape|form]\n[say|tell me] [what|which] shape it [is|has]",
    ask="""
    [what|which] shape is [it|this|that|the thing|the object|the figure]
    [what|which] shape does it have
    what is [its|the] shape
    [what|which] [shape|figure] [do you see|is this|is shown|is in the picture]
    what [kind|sort] of [shape|figure] is [it|this]
    """,
    thing="its [shape|form]\nthe [shape|form][ of it| of this|]",
    clause="[what|which] shape it [is|has]",
    free="shape?\n[what|which] shape?\nits shape?\n[the |]shape[, please|]?",
)

SHAPE = Intent(
    "look.shape",
    imp="[name|tell me|say|give] the [shape|form] of the {c} [thing|object|figure|one]\n[say|tell me] [what|which] shape is {c}",
    ask="""
    [what|which] shape is [the|] {c} [one|thing|object|figure]
    [what|which] [shape|figure|object|thing] is {c}
    what is the {c} [thing|object|figure|shape]
    what is the shape of the {c} [thing|object]
    what {c} [thing|object|shape] [is there|do you see]
    """,
    thing="the [shape|form] of the {c} [thing|object|figure]\nthe {c} [shape|object]",
    clause="what the {c} [thing|object|shape] is\n[which|what] shape is {c}",
    free="shape of the {c} one?\n{c} thing?\n{c}: which shape?",
)

COUNT = Intent(
    "look.count",
    imp="""
    count the {s}
    [count|tell me|say|find] how many {s} [there are|you see|are there|are in the picture]
    [tell me|give me] the number of {s}
    """,
    ask="""
    how many {s} [are there|are in the picture|are in the image|do you see|can you see|can you count|are shown|does the picture have]
    what is the number of {s}
    how many {s}
    """,
    thing="the number of {s}[ in the picture| in the image|]\nthe count of {s}",
    clause="how many {s} [there are|you see|are in the picture|I drew]",
    free="number of {s}?\ncount {s}\n{s}: how many?",
)

WHERE = Intent(
    "look.where",
    imp="[say|tell me|show me] where the {s} is\n[find|locate] the {s}\n[give|name] the [position|place] of the {s}",
    ask="""
    where is the {s}
    where do you see the {s}
    in [which|what] [part|corner|place|area] of the [picture|image] is the {s}
    what is the [position|place|location] of the {s}
    where [in|on] the [picture|image] is the {s}
    """,
    thing="the [position|place|location] of the {s}",
    clause="where the {s} is[ located|]\nin which part [of the picture |]the {s} is",
    free="{s}: where?\nposition of the {s}?\nwhere's the {s}?",
)

RELATION = Intent(
    "look.relation",
    imp="[say|tell me|check] if the {s} is {r} the {t}",
    ask="""
    is the {s} {r} the {t}
    is the {s} [placed|located|drawn] {r} the {t}
    do you see the {s} {r} the {t}
    would you say the {s} is {r} the {t}
    can we say that the {s} is {r} the {t}
    """,
    clause="[if|whether] the {s} is {r} the {t}",
    free="the {s} is {r} the {t}, [right|correct|true|yes or no]?\n{s} {r} the {t}?\ntrue or false: the {s} is {r} the {t}",
)

BESIDE = Intent(
    "look.beside",
    imp="[name|say|tell me] what is {r} the {t}",
    ask="what is {r} the {t}\n[which|what] [thing|object|shape] is {r} the {t}\nwhat do you see {r} the {t}\nwhat [stands|lies] {r} the {t}",
    thing="the [thing|object|shape] {r} the {t}",
    clause="what is {r} the {t}\nwhich [thing|shape|object] is {r} the {t}",
    free="{r} the {t}: what?\n[and|so] {r} the {t}?",
)

SIZE = Intent(
    "look.size",
    imp="[name|say|tell me] [which|what] [one|thing|object|shape] is {w}",
    ask="[which|what] [thing|object|shape|one] is {w}\nwhat is the {w} [thing|object|shape]\nwhich of them is {w}\nwhich is {w}, the {s} or the {t}",
    thing="the {w} [thing|object|shape|one]",
    clause="which [thing|object|shape|one] is {w}\nwhat the {w} [thing|shape] is",
    free="{w}: which one?\nthe {w} one?",
)

GROUND = Intent(
    "look.ground",
    imp="[name|tell me|say] the [background color|background colour|color of the background|colour of the background]",
    ask="""
    [what|which] [color|colour] is the background
    what is the [color|colour] of the background
    [what|which] [color|colour] does the background have
    what is the background [color|colour]
    on [what|which] [color|colour] background is it
    """,
    thing="the [background color|background colour|color of the background|colour of the background]",
    clause="[what|which] [color|colour] the background [is|has]",
    free="background?\nbackground [color|colour]?",
)

ANY = Intent(
    "look.any",
    imp="[say|tell me|check] if there is a {s}[ in the picture|]",
    ask="is there a {s}[ in the picture| in the image|]\ndo you see a {s}[ in the picture|]\ndoes the [picture|image] [show|have|contain] a {s}\ncan you see a {s}",
    clause="[if|whether] there is a {s}[ in the picture|]\n[if|whether] you see a {s}",
    free="a {s}, [yes or no|is it there]?\nany {s}?",
)

DIGITS = Intent(
    "look.digits",
    imp="""
    [read|tell me|say|give|write] the number[ in the picture| in the image| you see| on it|]
    [read|transcribe] [the digits|the picture|the image|what is written]
    [say|tell me] [which|what] number [is shown|you see|it is|is in the picture]
    """,
    ask="""
    [what|which] number [is this|is it|is shown|is in the picture|is in the image|do you see|can you read|is written here]
    what does [it|the picture|the sign|the image|the display] say
    what is the number[ in the picture| on the picture|]
    [what|which] digits [are there|do you see|are shown]
    what [is written|stands] [here|there|in the picture]
    """,
    thing="the number [in the picture|in the image|shown|on it]\nthe digits [in the picture|shown]",
    clause="[what|which] number [is shown|is in the picture|you see|it is]\nwhat [is written|stands] [here|there]",
    free="number?\nwhich number?\nread it\ndigits?\nread this number[.|!|, please]",
)

TIMES = Intent(
    "look.times",
    imp="multiply the number in the [picture|image] by {n}\n[read|take] the number [in|from] the [picture|image] [times|and multiply it by] {n}",
    ask="what is the number in the [picture|image] times {n}\nhow much is {n} times the number in the [picture|image]",
    thing="{n} times the number in the [picture|image]\nthe number in the [picture|image] times {n}",
)

TYPED = Pool(
    "look.typed",
    """
    [fill in|extract|read off] [the fields|the data][ from the picture| from the image|]
    [describe|what is in] [the|this] [picture|image][?|.|]
    [look at|read] [the|this] [picture|image][ carefully|][.|]
    what do you see?
    [picture|image] to data
    [give me|return] [the data|the details] [of|from] [the|this] [picture|image][.|]
    """,
)
