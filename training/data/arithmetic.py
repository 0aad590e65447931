"""Asking for calculations: plain expressions, operations in words, percentages, short word problems."""

from __future__ import annotations

from training.data import words
from training.data.speech import Intent
from training.data.world import World

EXPRESSION = Intent(
    "calc.expression",
    imp="""
    calculate {e}
    compute {e}
    [work out|figure out|solve|evaluate|do] {e}
    [find|get|give me|tell me] the [result|value|answer] of {e}
    do the [math|maths|sum|calculation][:| for] {e}
    [run|check|verify] {e}
    add up {e}
    [find|tell me|say] what {e} [is|equals|makes|gives]
    [determine|give] the value of {e}
    work this out: {e}
    do this calculation: {e}
    put {e} into a calculator
    use the calculator [for|on] {e}
    """,
    ask="""
    [what is|what's|whats] {e}
    what does {e} [equal|make|give|come to|evaluate to]
    how much is {e}
    how much does {e} [make|come to]
    {e} [is|equals|makes] [what|how much]
    what do [I|you|we] get for {e}
    what is the [result|answer|value] of {e}
    {e}
    {e} =
    is there a quick answer to {e}
    what would {e} be
    what number is {e}
    """,
    thing="""
    the [result|value|answer|total|outcome] of {e}
    the answer to {e}
    {e}
    the number [you get|I get|we get] from {e}
    the exact value of {e}
    the solution of {e}
    """,
    clause="""
    what {e} [is|equals|makes|comes to|gives]
    how much {e} [is|makes]
    what the [result|answer] of {e} is
    what [I|you|we] get [for|from|when I type] {e}
    """,
    free="""
    {e}
    {e} =
    {e} = ?
    {e} ?
    [calc|math|compute|calculator]: {e}
    [I typed|My notes say|The exercise says|It says here] {e}. [What is it|What's the answer|Solve it]?
    {e}, [what's that|how much is it|result please|answer please]?
    """,
)
PERCENT = Intent(
    "calc.percent",
    imp="""
    [calculate|compute|work out|find|get] {p}[%| percent] of {x}
    take {p}[%| percent] of {x}
    [find|tell me] how much {p}[%| percent] of {x} is
    """,
    ask="""
    [what is|what's|how much is] {p}[%| percent| per cent] of {x}
    {p}[%| percent] of {x} is [what|how much]
    how much is a {p}[%| percent] [share|part|tip] of {x}
    what does {p}[%| percent] of {x} come to
    """,
    thing="{p}[%| percent] of {x}\na {p}[%| percent] [share|part|cut|portion] of {x}",
    clause="how much {p}[%| percent] of {x} [is|makes]\nwhat {p}[%| percent] of {x} is",
    free="""
    I [want to|have to|must] [tip|pay|save] {p}[%| percent] of {x}[ dollars| euros|]. How much is that?
    [The bill|The price|My salary|The total] is {x} and [I give|they take|we need] {p}[%| percent]. How much [is it|is that]?
    a {p}[%| percent] [tip|tax|fee|discount] on {x}, how much is that?
    """,
)
ROOT = Intent(
    "calc.root",
    imp="[find|compute|calculate|take|work out|get] the square root of {x}",
    ask="""
    [what is|what's] the square root of {x}
    what is the root of {x}
    which number squared [is|gives|makes] {x}
    """,
    thing="the square root of {x}\nthe [root|sqrt] of {x}",
    clause="what the square root of {x} is\nhow big the root of {x} is",
    free="sqrt({x})\nsqrt {x}\nsquare root {x}",
)
POWER = Intent(
    "calc.power",
    imp="[raise|take] {x} to the power [of |]{y}\n[compute|calculate|find] {x} to the power of {y}",
    ask="[what is|what's|how much is] {x} [to the power of|to the power|raised to] {y}",
    thing="{x} [to the power of|raised to] {y}\nthe {y}th power of {x}",
    free="{x}^{y}\n{x} ^ {y} = ?\n{x} ** {y}",
)
OPERATION = {
    "+": Intent(
        "calc.add",
        imp="""
        add {x} [and|to] {y}
        [sum|sum up|total|add up] {x} and {y}
        [find|compute|calculate|work out] the [sum|total] of {x} and {y}
        put {x} and {y} together
        [increase|raise] {x} by {y}
        """,
        ask="""
        what is the sum of {x} and {y}
        [what is|what's|how much is] {x} [plus|added to|and] {y}
        [what|how much] do {x} and {y} make [together|in total]
        what do I get [when|if] I add {x} and {y}
        """,
        thing="the [sum|total] of {x} and {y}\n{x} plus {y}\n{x} [increased by|more than] {y}",
        clause="what {x} plus {y} [is|makes]\nhow much {x} and {y} are together",
        free="""
        I [had|have|own|counted] {x} [books|apples|coins|points|dollars|euros|cards] and [got|found|bought|won] {y} more. How many [do I have|is that] [now|in total]?
        {x} [people|guests|students] are here and {y} more [come|arrive|join]. How many [are there then|is that in total]?
        [one box|one bag|the first crate] [weighs|has] {x} and the other {y}. [What is the total|How much together]?
        [Monday|Last week|In May] we sold {x}, [Tuesday|this week|in June] {y}. [Total|How many altogether|What is the sum]?
        """,
    ),
    "-": Intent(
        "calc.subtract",
        imp="""
        subtract {y} from {x}
        take {y} [away |]from {x}
        [reduce|decrease|lower] {x} by {y}
        [find|compute|calculate] the difference [of|between] {x} and {y}
        deduct {y} from {x}
        """,
        ask="""
        [what is|what's|how much is] {x} [minus|less|take away] {y}
        what is the difference between {x} and {y}
        how much is left [when|if] I take {y} from {x}
        what [remains|is left] of {x} after [taking|removing|spending] {y}
        """,
        thing="the difference [of|between] {x} and {y}\n{x} [minus|less] {y}\nwhat is left of {x} without {y}",
        clause="what {x} minus {y} [is|makes]\nhow much remains when {y} is taken from {x}",
        free="""
        I [had|have|start with] {x} [books|apples|coins|points|dollars|euros|cards] and [lost|sold|gave away|spent|used] {y}. How many [are left|do I have left|remain]?
        [The price|It] was {x} and [fell|dropped|went down] by {y}. [What is it now|How much now]?
        {x} [people|guests|seats|tickets], {y} [left|gone|are taken]. How many [remain|are left|stay]?
        [The bottle|The tank|The account] held {x}, I took out {y}. [What is left|How much is in it now]?
        """,
    ),
    "*": Intent(
        "calc.multiply",
        imp="""
        multiply {x} [by|with|and] {y}
        [find|compute|calculate|work out] the product of {x} and {y}
        [find|compute|calculate] {x} times {y}
        """,
        ask="""
        [what is|what's|how much is] {x} [times|multiplied by] {y}
        what is the product of {x} and {y}
        what do I get when I multiply {x} [by|and] {y}
        how much do {x} [items|tickets|pieces|books] cost at {y} each
        """,
        thing="the product of {x} and {y}\n{x} [times|multiplied by] {y}",
        clause="what {x} times {y} [is|makes]\nhow much {x} [items|tickets|pens] cost at {y} each",
        free="""
        [I buy|We need|She ordered|He sells] {x} [books|tickets|shirts|chairs|bottles|boxes] [at|for] {y} [each|a piece|apiece]. [What is the total|How much is that|What do we pay]?
        [There are|I have] {x} [boxes|bags|rows|rooms] with {y} [pens|apples|seats|people|cards] [each|in each]. How many [are there|is that] [in total|altogether]?
        [I earn|I pay|It costs] {x} [an hour|a day|a month]. How much [in|for] {y} [hours|days|months]?
        {x} [rows|lines|trays] of {y}, how many [is that|in all]?
        """,
    ),
    "/": Intent(
        "calc.divide",
        imp="""
        divide {x} by {y}
        split {x} [among|between|by|into] {y}[ people| parts| friends|]
        share {x} [among|between|equally among] {y}[ people| friends| kids|]
        [find|compute|calculate] {x} divided by {y}
        [find|compute] the [quotient|ratio] of {x} and {y}
        """,
        ask="""
        [what is|what's|how much is] {x} [divided by|over] {y}
        how many times does {y} go into {x}
        how much does each get [when|if] {y} [people|friends|kids] share {x}
        what is {x} split [by|into] {y}
        """,
        thing="the [quotient|ratio] of {x} and {y}\n{x} [divided by|over] {y}",
        clause="what {x} divided by {y} [is|makes]\nhow often {y} fits into {x}\nhow much everyone gets if {y} people share {x}",
        free="""
        {x} [euros|dollars|sweets|apples|pages] [for|shared by|split between] {y} [people|friends|kids|days]. How much [each|per person|is one share]?
        [The bill|The cost|The rent] is {x} and we are {y}. [What does each pay|How much per person|Split it]?
        [I drove|I walked|It covers] {x} in {y} hours. [How much per hour|What is that per hour]?
        """,
    ),
}
MEAN = Intent(
    "calc.mean",
    imp="[find|compute|calculate|work out|get] the [average|mean] of {l}\naverage {l}\ntake the mean of {l}",
    ask="[what is|what's] the [average|mean] of {l}\nwhat do {l} average [out |]to",
    thing="the [average|mean|mean value] of {l}",
    clause="what the [average|mean] of {l} is",
    free="my [grades|scores|times|readings] [are|were] {l}. [What is the average|Average|What's the mean]?",
)
TOTAL = Intent(
    "calc.total",
    imp="add [up |]{l}\n[sum|total|sum up] {l}\n[find|compute|calculate] the [sum|total] of {l}",
    ask="[what is|what's] the [sum|total] of {l}\nhow much [is|are] {l} [together|in total|all together]",
    thing="the [sum|total] of {l}\nthe sum of these: {l}",
    clause="what {l} [add up to|sum to]\nhow much {l} make together",
    free="[I spent|We paid|They cost|The items are] {l}. [What is the total|How much in all|Add them up]\n[total|sum]: {l}",
)
MORE = Intent(
    "calc.more",
    free="""
    [now|and|then|next] [times|multiply by|multiply it by|multiplied by] {y}[?|.|]
    [and|now] times {y}[?|.|]
    """,
)
MORE_OPS = {
    "*": MORE,
    "+": Intent(
        "calc.more_add",
        free="[now|and|then|next] [plus|add] {y}[?|.|]\n[add|put] {y} [to it|to that|on top][.|]\nplus {y}?",
    ),
    "-": Intent(
        "calc.more_sub",
        free="[now|and|then|next] [minus|subtract] {y}[?|.|]\ntake {y} [from it|off][.|]\nminus {y}?",
    ),
    "/": Intent(
        "calc.more_div",
        free="[now|and|then|next] [divided by|divide by|divide it by] {y}[?|.|]\n[split|divide] [it|that] by {y}[.|]\nover {y}?",
    ),
}
SIGNS = {
    "*": ("*", "x", "×", " times ", "*"),
    "/": ("/", ":", "÷", " divided by ", "/"),
    "+": ("+", " plus ", "+"),
    "-": ("-", " minus ", "-"),
}
ANSWERS = ("{e} = {r}.", "The answer is {r}.", "{e} is {r}.", "{e} = {r}.", "It is {r}.")


def number(world: World) -> tuple[str, str]:
    """A number as spelled, and as it goes into an expression."""
    value = words.number(world.rng, world.held, negative=0.0)
    return words.spell(world.rng, value), str(value)


def joined(items: list[str]) -> str:
    return ", ".join(items[:-1]) + " and " + items[-1]


def solve(world: World, expression: str, think: str = "") -> str:
    """Calls the calculator and says the result."""
    think = think or f"Calculate {expression}."
    (result,) = world.call(think, ("calculate", {"expression": expression}))
    world.reply(result if world.errors[0] else world.rng.choice(ANSWERS).format(e=expression, r=result))
    return result


def spelled_expression(world: World) -> tuple[str, str]:
    """An expression as typed by somebody, and as the tool takes it."""
    rng = world.rng
    count = rng.choice((2, 2, 2, 3, 3, 4))
    bracket = count > 2 and rng.random() < 0.45
    tight = rng.random() < 0.4
    start = rng.randrange(count - 1) if bracket else -1
    typed = exact = ""
    for index in range(count):
        spelled, plain = number(world)
        if "," in spelled or spelled.isalpha():
            spelled = plain
        if index:
            sign = rng.choice("+-*/")
            written = rng.choice(SIGNS[sign])
            written = sign if tight and written.strip().isalpha() else written
            typed += written if tight or written[0] == " " else f" {written} "
            exact += f" {sign} "
        opening, closing = index == start, bracket and index == start + 1
        if rng.random() < 0.04:
            spelled, plain = f"-{spelled}", f"-{plain}"
        typed += ("(" if opening else "") + spelled + (")" if closing else "")
        exact += ("(" if opening else "") + plain + (")" if closing else "")
    return typed, exact


def calculate(world: World) -> None:
    """One calculation, sometimes continued."""
    rng = world.rng
    roll = rng.random()
    if roll < 0.36:
        typed, exact = spelled_expression(world)
        world.user(EXPRESSION.say(rng, {"e": typed}, world.held))
        result = solve(world, exact)
    elif roll < 0.7:
        sign = rng.choice("+-*/")
        (x, first), (y, second) = number(world), number(world)
        world.user(OPERATION[sign].say(rng, {"x": x, "y": y}, world.held))
        result = solve(world, f"{first} {sign} {second}")
    elif roll < 0.79:
        (p, share), (x, whole) = number(world), number(world)
        world.user(PERCENT.say(rng, {"p": p, "x": x}, world.held))
        result = solve(world, f"{whole} * {share} / 100")
    elif roll < 0.83:
        x, plain = number(world)
        world.user(ROOT.say(rng, {"x": x}, world.held))
        result = solve(world, f"sqrt({plain})")
    elif roll < 0.87:
        base, power = words.integer(rng, world.held, 2, 40), rng.randint(2, 7)
        world.user(POWER.say(rng, {"x": str(base), "y": str(power)}, world.held))
        result = solve(world, f"{base} ** {power}")
    else:
        pairs = [number(world) for _ in range(rng.randint(3, 5))]
        listed, terms = joined([spelled for spelled, _ in pairs]), " + ".join(plain for _, plain in pairs)
        if rng.random() < 0.5:
            world.user(MEAN.say(rng, {"l": listed}, world.held))
            result = solve(
                world,
                f"({terms}) / {len(pairs)}",
                f"Average of {len(pairs)} numbers: calculate ({terms}) / {len(pairs)}.",
            )
        else:
            world.user(TOTAL.say(rng, {"l": listed}, world.held))
            result = solve(world, terms)
    if rng.random() < 0.12 and len(result) < 14 and not world.errors[0]:
        sign = rng.choice("+-*/")
        y, second = number(world)
        world.user(MORE_OPS[sign].say(rng, {"y": y}, world.held))
        solve(world, f"{result} {sign} {second}")
