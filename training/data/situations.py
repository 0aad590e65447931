"""Requests told as situations: more ``free`` lines of the intents, in the words of everyday life."""

from __future__ import annotations

from training.data.situations_talk import TALK_SITUATIONS

SITUATIONS: dict[str, str] = {
    **TALK_SITUATIONS,
    "units.convert": """
    [My|Our|The] [garden|table|rope|fence|desk|sofa|river|road|shelf|cable] is {v} {a} [long|wide|across]. [What does that make|How much would that be|Tell me] in {b}?
    [My|The] [dog|baby|parcel|laptop|turkey|stone|trunk|bike] weighs {v} {a}. [And in|What is that in|How heavy in] {b}?
    [The|My] [oven|fridge|lake|room|freezer|body] is at {v} {a}, [so how many|what is that in|give me] {b}[?|, please]
    [We|They|I] [drove|hiked|cycled|swam|sailed|flew] {v} {a} [today|yesterday|last week]. [How far is that|Make that|What's that] in {b}?
    [The|This] [bottle|tank|bucket|glass|barrel|jug] [holds|takes|contains] {v} {a}, [which is how many|how much is it in|I want it in] {b}[?|]
    [An American|A British|A French|A German] [friend|colleague|guest] [says|told me|wrote] {v} {a}. [What's that for me in|I need it in|How many] {b}[?|]
    [You see|Assume|Say|Imagine|Suppose] {v} {a}; [in|as] {b} [it's what|what is it|that would be]?
    [The limit|The maximum|Our target|The record] is {v} {a}[,| and] I [want|need|read] it in {b}
    {v} {a}, [but in|only in|just in] {b}[, please|]
    [I'm|We're] [cooking|baking|building|painting|packing] and need {v} {a} [in|as] {b}
    [quick|fast|short] [conversion|math]: {v} {a} [to|into|->|=>] {b}
    [can't|cannot] [think|work] in {a}. {v} of them [in|make how many] {b}?
    [for|per] {v} {a} I get how many {b}[?|]
    {v} {a} [please in|would be how many|- and in|makes what in] {b}[?|]
    [my|the] [phone|watch|car|app|scale] [shows|displays|reports] {v} {a}; [switch|change|convert] [it|that] to {b}
    [the sign|the map|the label|a website|the ticket] [says|reads|states] {v} {a}. [Translate to|In|Same in|What about] {b}[?|.]
    [swap|exchange] {a} for {b}: {v}
    [I know|Given] it's {v} {a}. [Now the|The same in|Give the] {b} [figure|number|value|equivalent][.|?|, please.]
    [what would|how would] {v} {a} [look|read|sound] in {b}?
    [is|are] {v} {a} a lot in {b}? [How many|How much exactly]?
    """,
    "calc.expression": """
    [quick|some|a little] [math|maths|arithmetic]: {e}
    [can you|could you] [crunch|reckon|handle] {e}[ for me|]?
    [my|the] [calculator|phone] [is broken|died|is dead]. {e}?
    [I keep getting different results for|I don't trust my result of|Double-check] {e}
    [exercise|task|problem] [1|2|3|7]: {e}
    [so|ok] {e}, [what do we have|where do we land|what comes out]?
    [please|pls] [crunch|solve|do] {e} [quickly|exactly|now|]
    [the formula|my formula|the term] is {e}, [evaluate it|its value please|result?]
    {e} [gives|yields|comes to] [what|how much]?
    [without rounding|exactly], [what is|how much is] {e}?
    [they say|he says|someone claims] {e} is [easy|big|small]. [What is it|How much is it]?
    """,
    "calc.percent": """
    [Tax|VAT|Interest|Commission|The tip|A discount] is {p}[%| percent]. [What is that on|How much on|How much for] {x}?
    [My|The|Our] [boss|bank|shop|agent] [takes|gets|wants|offers] {p}[%| percent] of {x}. [In money|How much is that|Which amount is it]?
    [The|A] [jacket|phone|flight|ticket] costs {x}, {p}[%| percent] [off|discount|rebate]. [How much is the discount|What do I save|How big is the saving]?
    {p}[%| percent] [of the|out of] {x} [people|voters|students|items] [agreed|passed|came|were sold]. How many [is that|are that|were it]?
    [I got|She has|He scored] {p}[%| percent] of {x} points. How many points [is that|are those]?
    """,
    "calc.add": """
    [I have|There are|She owns] {x} [stamps|eggs|pens|stickers|files|chairs] and [get|buy|receive|find] {y} [on top|more|extra]. [New total|What do I have then|How many now]?
    [Rent|Food|Fuel|Insurance] is {x} and [power|water|internet|phone] is {y}. [Together|What is the sum|What do I pay]?
    [First|Before lunch|In spring] {x}, [then|after lunch|in summer] {y}. [How much in total|What's the total|And overall]?
    [one invoice|one cheque|one account] is over {x}, [another|the second|the next] over {y}. [Total|Sum|Both together]?
    [the score was|we had|it started at] {x} and [rose|went up|grew|climbed] by {y}. [Where is it now|What is it now|New value]?
    """,
    "calc.subtract": """
    [I own|There are|She had] {x} [stamps|eggs|pens|stickers|tickets|seeds] and [lose|give away|eat|sell|use] {y}. [What's left|How many stay|And now]?
    [I earn|We have|The budget is] {x} and [spend|need|the costs are] {y}. [What remains|How much stays|What is left over]?
    [The|A] [book|trip|film|road] has {x} [pages|km|minutes|steps][;| and] I have done {y}. [How much is left|How many to go|What remains]?
    [the stock|the tank|the account] went from {x} down by {y}. [New level|What is it now|How much is there]?
    [out of|of] {x} [eggs|guests|votes|players], {y} [broke|left|were invalid|are ill]. [How many are fine|How many remain|Rest]?
    """,
    "calc.multiply": """
    [Each|Every] [box|class|bus|shelf|page] [has|holds|fits] {y} [eggs|pupils|people|books|words] and there are {x}. [How many|Total|What is the total]?
    [I drink|I run|I write|We use] {y} [cups|km|pages|litres] [a day|every day|daily]. [How much|How many] in {x} days?
    [tickets are|a seat is|one costs|a piece is] {y} and [we are|I need|we buy] {x}. [Total price|How much do we pay|What does it cost]?
    [the area of|how big is] a [field|room|garden|screen] of {x} by {y}?
    {x} [workers|machines|hens] [make|lay|produce] {y} [parts|eggs|units] each. [All together|How many in all|Sum]?
    [if|when] one [step|round|lap|bite] is {y}, [what are|how much is] {x} [of them|steps|rounds]?
    """,
    "calc.divide": """
    [We|The kids|Our group] [share|split|divide] {x} [between|among] {y} [of us|people|heads|]. [Each gets|What does one get|Share per person]?
    [I pay|It costs|I spend] {x} [for|in|over] {y} [months|days|weeks]. [What is it per|How much each|Cost per] [month|day|week]?
    [put|pack|sort] {x} [eggs|books|cards] into {y} [boxes|shelves|piles] evenly. [How many in each|How many per box]?
    [the car|the bike|the train] [did|made|covered] {x} km in {y} hours. [Average speed|How fast is that|Speed]?
    [a rope|a ribbon|a board] of {x} [cut|sawn|divided] into {y} [pieces|parts]. [How long is one|Length of each]?
    """,
    "date.after": """
    [My|The|Our] [passport|ticket|loan|membership|guarantee|subscription] [runs|is valid|counts] {n} from {d}. [When is it over|Last day|Until when]?
    [The baby|The product|The road|The bridge] is [expected|due|finished] {n} after {d}. [On which date|When is that|Date]?
    [I start|We begin|They open] [on|at] {d} and [stop|finish|close] {n} later. [When|On which day|Which date is that]?
    [push|move|postpone] [my appointment|the meeting|the exam|the trip] from {d} by {n}. [New date|When is it then|What's the new date]?
    [in {n} from|{n} on from|{n} past] {d} [we meet|it ends|it opens|I return]. [Which date|When exactly|What date is it]?
    [paid on|sent on|planted on|sold on] {d}, [due|expected|ready|back] {n} later. [Date|When]?
    """,
    "date.before": """
    [The|My] [wedding|launch|exam|trip|deadline] is {d}; [invitations go out|preparations start|I must sign up|we book] {n} earlier. [When|Which date|On what day is that]?
    [remind|warn|wake] me {n} before {d}. [Which date is it|When would that be]?
    [it happened|I called|she left|they moved] {n} before {d}. [When was that|Which date|What was the date]?
    [go|travel] back {n} from {d}. [Where are we|Which date]?
    """,
    "date.between": """
    [I was hired|She arrived|The war began|Work started] {d} and [left|ended|it stopped] {f}. [How many days|Number of days|Days in between]?
    [the school year|the season|the sale|my diet|the project] [runs|goes|lasts] from {d} to {f}. [How many days is that|Length in days|Days]?
    [count down|countdown] from {d} to {f} in days
    {d} [until|till|to|through|->] {f}: [days|how many days|number of days]?
    [born|opened|signed] {d}, [died|closed|ended] {f}. [How many days|Days]?
    """,
    "date.weekday": """
    [My grandma|My son|The king|Our dog] was born on {d}. [Which weekday was it|A Monday or what|What day was that]?
    [Is the shop open|Do I work|Is there school] on {d}? [Which weekday is it|What day is it]?
    [flight|concert|delivery|appointment] on {d} - [what weekday|which day of the week]?
    [I need|Give me] only the [weekday|name of the day] [for|of] {d}
    """,
    "time.later": """
    [Dinner|The bus|The match|Our shift|The show] [starts|begins|leaves] [at|] {t} and [is over|ends|arrives] {m} later. [When|At what time|What time is that]?
    [it is|it's|now] {t}. [in|after] {m} [I must go|I leave|it rings|we eat]. [When is that|What time]?
    [put|set] [it|the alarm|the clock] {m} after {t}. [Which time|What time is it]?
    {t} and {m} more[?|, what time]
    """,
    "time.earlier": """
    [Dinner|The bus|The match|Our shift] is at {t}; I [get up|leave|cook|go] {m} before. [When|At what time|What time is that]?
    [be|arrive|come] {m} before {t}. [When is that|What time]?
    [it was|I called|he left] {m} before {t}. [When|What time was it]?
    """,
    "time.now": """
    [is it late|is it late already|am I late]? [what time is it|tell me the time]
    [my watch stopped|I lost my watch|my clock is broken], what [time|hour] is it?
    [what's|what is] the [time|date|hour] [please|right now|at the moment|over there]?
    [do you have|have you got] the [time|date]?
    which [day|date|year|month] [do we have|is it][ now| today|]?
    """,
    "fact.capital": """
    [from which city|where] is {c} [ruled|governed|run]?
    [a quiz asks|crossword|trivia]: capital [city |]of {c}?
    [I should know|everyone knows] the capital of {c}, [but I forgot|but I don't]
    [my embassy|the embassy|my office] is in the capital of {c}. [Which city is it|What city]?
    [the main|the chief|the first] city [of|in] {c}[, the capital|, politically][?|]
    """,
    "fact.population": """
    [is|are] {c} [crowded|big in people|populous]? How many [people|inhabitants]?
    [number|amount] of [people|citizens|souls] in {c}[?|]
    [how many|what number of] [folks|humans|citizens] [are|live] in {c}?
    {c} has how many [people|inhabitants|residents]?
    [population|people] [count|figure|number] [for|of] {c}[?|, please]
    """,
    "fact.area": """
    [what size|which size] [has|is] {c}?
    how [vast|huge|small|wide] is {c} [in square km|in km2|in total|]?
    {c} [covers|measures|takes up] how many square [kilometers|km]?
    [land|surface] [size|area] [for|of] {c}[?|, please]
    """,
    "fact.currency": """
    [I pay|People pay|They pay] with what in {c}?
    [going|flying|moving] to {c} [soon|tomorrow], which [cash|money|currency|banknotes] should I [take|get|bring]?
    [what|which] [coins|banknotes|cash] [are used|do they have] in {c}?
    [do they use|is it] [euros|dollars|pounds] in {c}? [Which currency|What currency] is it?
    [exchange office|bank]: currency for {c}?
    """,
    "fact.languages": """
    [which|what] [tongue|tongues|speech] [is|are] [common|official|used] in {c}?
    [I want to|we plan to] [live|work|study] in {c}. [Which language do I need|What do they speak]?
    how do people talk in {c}[, in which language|]?
    [can I speak|do they speak] [English|French|Spanish] in {c}? [Which languages|What languages] are there?
    """,
    "fact.region": """
    [on|in] [which|what] continent [is|lies|do I find] {c}?
    {c}, [where is that|which part of the world|what continent]?
    [I can't find|show me] {c} on [the|my] map, [which region is it|where is it]?
    [is {c} in|does {c} lie in] [Africa|Asia|Europe|America]?
    """,
    "fact.borders": """
    [if I leave|leaving|driving out of] {c}, [which|what] countries can I [enter|reach|drive to]?
    [which|what] [states|nations|lands] [surround|touch|adjoin|lie next to] {c}?
    {c} [shares a border|has a common border|is next to] [with|] [whom|which countries|what countries]?
    [next door|neighbours|beside] {c}: which countries?
    """,
    "define": """
    [crossword|scrabble|spelling] word: {w}. [Meaning|Sense|What is it]?
    [someone|my teacher|the judge|a customer] called me {w}[. | - |, ]what [is that|does it mean]?
    [in this book|in the news|on the label] [it says|they write|I read] {w}, [explain|what is meant|meaning please]
    {w}? [never heard|no clue|don't know that word|what's that]
    [help me with|I struggle with|teach me] the word {w}
    [is there|do you have] a [simple|short] [explanation|meaning] [of|for] {w}?
    what's {w} [in plain English|in simple words|exactly|supposed to be]?
    """,
    "note.save": """
    [keep in mind|bear in mind|don't lose this]: {x}. [Title|Label|Call it|File it under] {t}
    [put|write|type] {x} [on|into] a [card|note|memo|sticky note] [labelled|called|named|titled] {t}
    [for my|for the] notes, [entry|title] {t}: {x}
    [start|open|begin] a note {t} [and write|with] {x}
    [store|archive|log] {x} [with the label|under the heading|under the name|as] {t}
    [I'll forget it|My memory is bad|Before I forget]: {x}. [Save|Store|Keep] it [under|as] {t}
    """,
    "note.read": """
    [what did|remind me what] I [put|write|say|store] [under|in|at] {t}[?|]
    [pull up|bring up|get out|fetch] [my|the] note [on|about|called|] {t}
    [there is|I have|I made] a note {t}; [what's in it|read it|its text please|what does it say]?
    [the text|the content] [under|of|stored under] {t}[?|, please]
    """,
    "note.list": """
    [did I|have I] [note|store|write] anything[ yet| down|]?
    [which|what] [titles|memos|notes] are in [the|my] [list|memory|notebook]?
    [give me|I need] [an overview|a summary|the titles] of [my notes|everything I saved|the notes]
    [what's|what is] in my notebook?
    """,
    "file.read": """
    [I can't open|I lost my glasses, read|Please have a look at] {p}
    [there is|there should be|you'll find] a file {p}, [what does it hold|read it to me|what's inside]?
    [I need|I want|get me] the text [inside|from|stored in] {p}
    [load|fetch|pull] {p} and [show|print|tell me] [it|its text|what's inside]
    """,
    "file.search": """
    [somewhere|in some file] [it says|I wrote|there is] {q}. [Where|Which file|Find it]?
    [I'm looking for|I need to find|help me find] [the line with|the file with|where it says] {q}
    [does any|does some] file [say|mention|hold|contain] {q}?
    [scan|check|look through] [the|my|all] files for {q}
    """,
    "file.list_here": """
    [what|which] [documents|files|papers] [have I got|exist|lie here|can you see]?
    [is there anything|what's] in [this|my|the] folder?
    [give me|show] the [file list|directory|folder content]
    """,
}
