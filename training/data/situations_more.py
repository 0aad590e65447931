"""More requests as people write them: terse, polite, chatty and indirect ``free`` lines of the intents."""

from __future__ import annotations

FREE_LINES: dict[str, str] = {
    "calc.add": """
    [My|Her|Our] [savings|points|steps|sales] were {x}, [now|today|since then] [another|an extra] {y} [came in|was added|on top]. [Where do I stand|What does that come to|New sum]?
    {x} [from|of] [one side|the first shelf|Anna], {y} [from|of] [the other|the second|Ben]: [altogether|in all|summed up]?
    [paid|spent|collected|read|walked] {x} [in the morning|on Monday|first] [and|plus] {y} [later|on Tuesday|afterwards], [sum|how much was that|total please]
    {x} and {y} [combined|put together|taken together|in sum][?|, please]
    """,
    "calc.subtract": """
    [Of|From|Out of] [my|our|the] {x} [euros|dollars|coins|pages|litres], {y} [are gone|is used up|went away|have been paid]. [What do I still have|What stays|What is there still|Rest]?
    I [got|received|was given|brought] {x} and [paid|handed out|wasted|donated|lost] {y}. [What remains of it|How much remains|What's the rest|Remaining]?
    {x} [in the jar|in stock|on the account|in the bank], [minus what I took|I took out|we removed]: {y}. [Balance|Left over|Remainder|How much is left]?
    [After|Once] [I pay|I spend|we use|they take] {y} [out of|from] {x}, [what remains|what is left|how much do I keep]?
    [how much|what] [remains|is left|stays] [of|from] {x} [if|when|once] {y} [is gone|is spent|are sold|go]?
    [The goal|The book|The trip|The course] is {x} [long|in all] and {y} [is done|is behind me|are finished]. [How much to go|What remains|Still to do]?
    [started|began] with {x}, [spent|used|sold|drank|ate] {y}[, rest|, what's left|, what remains|. Remaining][?|]
    [my|our] [budget|income|pay|stock]: {x}. [expenses|costs|bills|orders]: {y}. [what remains|difference|what's left][?|]
    [they had|there were|he owned] {x}; {y} [disappeared|were stolen|broke|expired]. [remaining number|how many then|how many remain]?
    [by how much|how much] does {x} [exceed|top|beat] {y}?
    [how much|how many] more is {x} than {y}?
    """,
    "calc.multiply": """
    [the product|product], {x} and {y}[, please|?]
    {x} [packs|cartons|crates|shelves] [of|with|holding] {y} [each|apiece|a piece][: how many in all|, total|. All together][?|]
    [one|a single] [ticket|bottle|lesson|seat] is {x}. [I take|We need|Give me the price of] {y}[ of them|][, how much|. How much altogether|. What do they cost]?
    [every|each] [day|week|hour|round] {x}, [for|over] {y} [days|weeks|hours|rounds]. [What does it add up to|How much is it in the end|Total]?
    [what's|give me] {x} [lots of|groups of|sets of|times] {y}[?|, please]
    [take|use] {x} [exactly |]{y} times[. What do you get|, result|: what is it]?
    [double-check|verify] the product of {x} and {y} [for me|]
    """,
    "calc.divide": """
    {x} [has to be|must be|should be|gets] [shared|split|divided] [evenly|fairly|equally] [by|among|between] {y} [of us|people|children|players]. [How much is that for one|What does one get|One share]?
    [Dinner|Lunch|The gift|The taxi|The cabin] [was|came to|is|cost] {x} [and|,] [there are|it's split over|we were|shared by] {y}[ of us| people| friends|]. [What is my part|How much for each of us|Everybody's part|What does one person pay]?
    [each|every one] of {y} [people|heirs|workers|kids] gets an [equal|even] [share|part] of {x}. [How much|How big is it|Size of one share]?
    [the share|share|one part] of [each|everyone|one person] [when|if] {x} [goes|is given] to {y}[ people|]?
    {x} over {y}[, as a number|?|, please| =]
    [cut|split|break] {x} into {y} [equal |][pieces|shares|portions], [how big is one|how much is one|size of each]?
    [we are|there are] {y} [people|friends|flatmates] and [the rent|the bill|the total|the pizza] is {x}, [what does each owe|so each pays|each one's share is what][?|]
    [how much|what] [is|makes] [one|a] [share|part] [if|when] {y} [split|share|divide] {x}?
    [distribute|spread|hand out] {x} [evenly |]over {y} [months|days|boxes|people]. [Each|Per box|How much each]?
    [spread over|over] {y} [months|weeks|years], {x} [is how much a month|is how much each|makes what per unit]?
    """,
    "calc.expression": """
    [help|hint|please]: {e}
    [I need|We need|Give me] {e} [worked out|as one number|done][, please|.|]
    {e} - [number|result|value|solve][?|, please|]
    """,
    "calc.percent": """
    [my|the] [deposit|share|bonus|cut] [is|will be] {p}[%| percent] [of|from] {x}. [In figures|That's how much|How much then]?
    {p}[%| percent] [on|from] {x}[?|, please| =]
    [if|when] {p}[%| percent] of {x} [leave|agree|fail|is lost], how [many|much] is that?
    """,
    "date.between": """
    [my|our|the] [leave|rental|lease|visa|project|stay] [begins|opens|starts] {d}, [ends|closes|is over] {f}: [length in days|days in all|how many days]?
    [born|opened|signed|bought] {d}, [now|today|closed|sold] {f}. [Age in days|Days in between|How many days later]?
    {d} [->|until|..] {f} [in days|= ? days|, number of days][?|]
    [waiting|away|open|here] [from|since] {d} [to|until] {f}, [days|that's how many days|in days][?|]
    [give me|count] the days: [start|first day|from] {d}, [end|last day|to] {f}
    """,
    "chain.days_units": """
    {d} [to|until|till] {f}, [but |]in {b}[, please|?|]
    [between|from] {d} [and|to] {f} [there are|lie|pass] how many {b}?
    [I waited|It ran|The machine ran|The trip lasts|He was away] from {d} [to|until|till] {f}. [How many {b}|In {b}|That's how many {b}|Say it in {b}]?
    [the gap|the span|the distance|the wait] [between|from] {d} [and|to] {f}, [expressed in|given in|as|in] {b}[?|, please]
    [starts|start|begin]: {d}, [ends|end|finish]: {f}, [unit|give it in|answer in]: {b}
    [count|tell me] the {b} [that pass|that lie|] between {d} and {f}
    I [left|started|began] on {d} and [came back|finished|ended] on {f}[. How many {b} was that|, how many {b}]?
    [number|amount] of {b}: {d} to {f}
    my [contract|course|holiday|fast|shift] runs {d} until {f}. [How long in {b}|How many {b} are that|Total {b}]?
    [I'd like to know|tell me|please find out] how many {b} [pass|go by|one waits|that is] [from|between] {d} [to|and] {f}
    """,
    "chain.convert_calc": """
    {n} [lots|portions|pieces|loads] of {v} {a}[ each|], [total|altogether|in all] in {b}?
    {n} times {v} {a}, [in|given in|but in] {b}[?|, please]
    {n} x {v} {a} [in|to|as] {b}[?|]
    [each|every] [can|sack|parcel|round|jump] [is|holds|measures] {v} {a} and [there are|I have|we need] {n}. [In {b}|How many {b}|Total in {b}][ altogether|]?
    [we need|I ordered|she swam|they carried] {n} times {v} {a}. [In {b} that is|How many {b} is it|Give me {b}]?
    [take|have] {v} {a} {n} times: [how many|total] {b}?
    [how many|total] {b} [do|would] {n} [of|portions of|pieces of] {v} {a} [make|give|be]?
    """,
    "chain.convert_split": """
    {v} {a} [for|over|among|between] {n} [people|days|cups|boxes], [each|one share|one part] in {b}?
    [a|one] [share|part] of {v} {a} [for|among|split by] {n}, in {b}[?|, please]
    {v} {a} / {n}, in {b}
    """,
    "chain.note_define": """
    [there's|I kept|I saved] a [hard|strange|new|difficult] word in [the|my] note {t}. [What does it mean|Explain it|Define it|Look it up][.|?|]
    [the word|a word] [is|stands|was put] in [the|my] note {t}; [define it|look it up|what is its meaning][, please|]
    [my|the] note {t}: [what does its word mean|define what's in it|look its word up]
    [get|fetch|take] the word [from|out of] [the|my] note {t} [and|, then] [look it up|define it|explain it|check the dictionary]
    [open|see|get] [the|my] note {t}, [then|and] [check|find|tell me] [its word in the dictionary|what the word means|the meaning of it]
    [could you|can you|please] [look at|go to] [the|my] note {t} and [explain|define|look up] [the word|what it says|its word][?|]
    """,
    "chain.note_calc": """
    [the|my] note {t} [holds|has|contains] a number. [Times|Multiply it by|Multiplied by] {n}[?|, please|.]
    [take|use|get] the number [from|in] [the|my] note {t}[, then| and] [multiply|times] [it by |]{n}
    [the number in|what's in] [the|my] note {t}, times {n}?
    """,
    "chain.search_read": """
    [somewhere|in one file|in a file] [there is|I wrote|it says] {q}; [open|read|show] that [file|one][, please| to me|.|]
    [which file|what file] [has|mentions|contains] {q}? [Read it|Open it|Show it|Show me all of it|Print it][.|, please.|]
    {q}: [find the file and read it|open the file|show the whole file|which file? read it]
    [I need|I want|get me|display] the [whole|full|entire|complete] [file|text|content] [of the file |][with|containing|that says] {q}
    [look for|search|grep] {q}, then [open|read|print|show] [the file|what you find|that file|the file it is in]
    [open|print|load|display] [whatever|whichever|the] file [holds|with|has|mentions|containing] {q}
    [can you|could you|please] [find|locate] {q} and [show|read|print|open] the [file|file it's in|whole file][?|]
    [there's|I have] a file [about|with|mentioning] {q}. [What else does it say|What does it say|Read it to me|Show me the file]
    """,
    "fact.capital": """
    [the |][seat of government|government's seat|seat of the government] [of|in|for] {c}[?|, please| is where?]
    [from where|where] [do they|does one|does the parliament] [govern|rule|run|sit in] {c}?
    [in which city|in what city|where] [does|do] {c}'s [government|parliament|president|ministers] [sit|work|meet|reside]?
    [the main|the ruling|the government] city of {c}[?|, please]
    [our|the] embassy in {c} [is|sits|will be] in the capital. [Which city|Where is that|What city is it]?
    """,
    "fact.languages": """
    {c} - [language|languages|what do they speak|spoken languages][?|]
    [moving|going|flying] to {c}. [Which language should I learn|What is spoken there|What do they speak][?|]
    """,
    "note.list": """
    [notes|titles|my titles|saved notes|note list|list notes][?|!|]
    [what|which things] [did I|have I] [jot down|jotted down|put away|stored|kept|noted][ so far| by now| before|]?
    [show|read|tell] me [every|each] [note|title|note title][.|, please|]
    [are there|have I got|do I have|did I make] [any |some |][notes|saved notes|memos][ yet| already| at all|][?|]
    [names|headings|titles] of [the|my|all my|all] [notes|saved notes|memos][?|, please|]
    [I lost track of|I don't remember|remind me of] [my notes|which notes I have|what notes there are|the notes I made][.|]
    [what do|do] you [keep|remember|hold|have saved] for me[ at the moment| so far|]?
    [what's|what is] [saved|stored|kept|noted] [so far|already|right now|at present][?|]
    [can|could] [I|you] [see|show me|give me] [the |a |my |]list of [saved |my |all |]notes[?|, please?]
    [anything|something] [saved|in my notes|among my notes|noted][?|]
    [how many|which] [memos|notes] [have|did] I [written|made|kept|write|make|keep][ so far|][?|]
    [let's see|let me see|open|go through] [all |][my|the] notes[, please| - only the titles|, titles only|.|]
    [the|my] [notebook|memory|memos], [what's in there|contents please|which entries][?|]
    """,
    "file.list_here": """
    [which|what] files [exist|are stored|lie around][ here| on this machine|][?|]
    [list|show|print] [this|the current] [folder|directory][, please|.|]
    [directory|folder] [listing|content|overview][?|, please|]
    """,
    "file.search": """
    [is|was] {q} [written|mentioned|found|named|in there] [anywhere|somewhere|in any file|in one of the files]?
    [do|does] [any|one] of [my|the] files [have|say|mention|contain|include] {q}?
    [any|is there any|is there a] [file|line|trace|mention] [with|of|containing] {q}[ in the files|]?
    [which|what] [documents|files] [speak of|talk about|include|hold] {q}?
    {q} - [in which file|in any file|anywhere in my files|do the files have it][?|]
    [look up|look for|hunt for] {q} in the [files|folder|documents][, please|]
    [can|could] you [check|see|find out] [if|whether] {q} [is in|appears in|stands in] [a|any|some] file?
    """,
    "define": """
    [the |]dictionary [entry|meaning] [of|for] {w}[?|, please]
    [never heard|never heard of|no idea about] {w}[. Meaning|. What is it|. Explain it][?|]
    """,
    "talk.tell": """
    [may I|can I] introduce myself? [I'm|I am|My name is|The name is] {p}[.|!|]
    [first|before we start|to begin with|a short introduction|an introduction first|introducing myself][:|,] [I'm|I am|my name is|my name's] {p}[.|!|]
    [I'd like to|I want to|I would like to] introduce myself[:|.|,| -] [I'm|I am|my name is|they call me] {p}[.|]
    [we haven't met|we don't know each other yet|I'm new here|nice to meet you]. [I'm|I am|My name is] {p}[.|!|]
    {p} [here|speaking|is my name|at your service|says hello|it is][.|!|]
    [please|you may|feel free to] call me {p}[.|!|]
    [good morning|good evening|good day|greetings][,|.|!] [I'm|I am|my name is|this is] {p}[.|!|]
    [my|the] name[ is|:|'s] {p}[, and yours|, by the way| - nice to meet you|][.|?|]
    """,
    "talk.ability": """
    [which|what] [jobs|kinds of work|kind of tasks] [can you|do you|could you] [do|help with|handle|take on|assist with]?
    [what|anything] [can|could|may] you [help|assist|support] [me |us |people |]with[ here| today|]?
    [how|where|with what] [can|could] you [be of use|be of help|be useful|assist]?
    [what|which questions] [should|may|might] I [ask|give you|use you for]?
    [tell|show] me [how you can help|what you're able to do|what you are for|what I can use you for][.|, please|]
    [I'm|I am] new [here|to this][.|,|;] what [can you do|are you for|do you do|is possible]?
    what [help|support|services] [do you offer|can I get|do you give]?
    [your|any] [talents|abilities|strengths|features][?|]
    what [are you|would you be] [able to|capable of|useful for][ doing| do|]?
    """,
}
