"""When not to call a tool: greetings, thanks, who are you, small talk, missing arguments, no fitting tool."""

from __future__ import annotations

from training.data import words
from training.data.speech import BEFORE, Intent, aside
from training.data.world import PLAIN, World

TALK: dict[str, tuple[Intent, tuple[str, ...]]] = {
    "hello": (
        Intent(
            "talk.hello",
            free="""
            [hi|hello|hey|hey there|hi there|hello there|good morning|good evening|good afternoon|greetings|howdy|hiya|yo][!|.|,|]
            [hi|hello|hey][,|] [how are you|how are you doing|how is it going|how's it going|are you there|what's up]?
            [hi|hello|hey] [again|Kimi|k3|assistant|friend|buddy|you][!|.|]
            [hi|hello|hey][,|] [my name is|I'm|I am|this is] {p}[.|!]
            [nice to meet you|pleased to meet you|good to see you][!|.|]
            [good day|morning|evening][!|.|]
            [hello|hi], [is anybody here|can you hear me|are you awake|are you online]?
            [let's start|shall we start|ready to start|are you ready][?|!]
            [hello|hi|hey], {p} here[.|!]
            """,
        ),
        ("Hello! How can I help you?", "Hi! What can I do for you?"),
    ),
    "how": (
        Intent(
            "talk.how",
            free="""
            [how are you|how are you doing|how do you feel|how is your day|how's your day|are you ok|are you fine|how are things][ today|]?
            [you ok|everything fine|all good|all well]?
            [how have you been|how was your weekend|how do you do]?
            """,
        ),
        ("I'm fine, thank you. How can I help you?",),
    ),
    "thanks": (
        Intent(
            "talk.thanks",
            free="""
            [thanks|thank you|thx|thanks a lot|thank you very much|many thanks|cheers|much appreciated][!|.|]
            [great|perfect|cool|nice|good|super|wonderful|awesome|ok|excellent][,|!] [thanks|thank you][!|.|]
            [that helps|that helped|that was helpful|very helpful|you helped me a lot][!|.|, thanks|, thank you]
            [thanks|thank you] for [your help|the help|that|helping|the answer][!|.|]
            [good job|well done|nice work|great work|you're great|you are great|you're the best][!|.|]
            [that's all|that is all|that's it|nothing else|no more questions][, thanks|, thank you|.|]
            I appreciate [it|that|your help][!|.|]
            """,
        ),
        ("You're welcome!", "You're welcome! Is there anything else?"),
    ),
    "bye": (
        Intent(
            "talk.bye",
            free="""
            [bye|goodbye|good bye|bye bye|see you|see you later|see you tomorrow|so long|good night|take care|cya|farewell][!|.|]
            [I have to go|I must go|I'm leaving|I need to leave|gotta go][.|!|, bye.| now.]
            [have a nice day|have a good evening|have a great weekend|until next time][!|.|]
            [ok|thanks|right|well], [bye|goodbye|see you][!|.|]
            """,
        ),
        ("Goodbye! Have a nice day.",),
    ),
    "who": (
        Intent(
            "talk.who",
            free="""
            [who are you|what are you|who is this|who am I talking to|what's your name|what is your name|do you have a name]?
            [are you|r u] [a robot|a human|a bot|an AI|a machine|a real person|a computer|a person|Kimi|a program]?
            [tell me about yourself|introduce yourself|say who you are|tell me who you are][.|]
            [who|which company] [made|built|trained|created] you?
            [which|what] model are you?
            [what kind of|what sort of] [assistant|program|model|thing] are you?
            what should I call you?
            """,
        ),
        ("I am k3-mini, a small assistant model that runs on this machine.",),
    ),
    "ability": (
        Intent(
            "talk.ability",
            free="""
            [what can you do|what do you do|what are you good at|what are you for|how can you help me|how can you help]?
            [what are your|tell me your|show me your] [skills|abilities|capabilities|features][?|.|]
            [can you help me|could you help me|I need help|help|help me|help please][?|.|!|]
            what [can I|could I|should I] ask you?
            [how does this work|how do I use you|what now|what is this]?
            [which|what] [tasks|jobs|questions] can you [do|handle|answer]?
            """,
        ),
        (
            "I can use the tools I am given, describe simple pictures and turn a sentence into data. What do you need?",
        ),
    ),
    "feeling": (
        Intent(
            "talk.feeling",
            free="""
            [I'm|I am|I feel] [sad|tired|bored|stressed|angry|lonely|nervous|down|worried|exhausted][ today| right now|][.|]
            [I had|it was] a [bad|long|hard|terrible|rough] day[.|]
            [I can't sleep|I am so tired|nothing works today|everything goes wrong][.|]
            """,
        ),
        ("I'm sorry to hear that. Can I help you with something?",),
    ),
    "joy": (
        Intent(
            "talk.joy",
            free="""
            [I'm|I am|I feel] [happy|great|excited|glad|proud|in a good mood][ today| right now|][.|!]
            [I passed my exam|I got the job|it's my birthday|we won|I'm on holiday][!|.| today!]
            [what a|such a] [nice|lovely|beautiful|great] day[!|.]
            """,
        ),
        ("That's great to hear!",),
    ),
    "yes": (
        Intent(
            "talk.yes",
            free="[ok|okay|yes|sure|alright|fine|good|I see|understood|got it|right|cool|nice|great][.|!|]",
        ),
        ("Good. What can I do for you?",),
    ),
    "sorry": (
        Intent(
            "talk.sorry",
            free="""
            [sorry|my bad|I'm sorry|oops|my mistake|never mind|forget it|nevermind][.|!|]
            [that was wrong|wrong chat|wrong window|I made a mistake][.|, sorry.]
            [ignore that|ignore my last message|scratch that][.|]
            """,
        ),
        ("No problem. What can I do for you?",),
    ),
}
MISSING: dict[str, tuple[Intent, str]] = {
    "convert_units": (
        Intent(
            "ask.convert",
            imp="convert [something|a value|a number|a length|a weight|units] for me\n[convert|change] [units|a measurement]\ndo a unit conversion\nconvert it to [km|miles|kg|feet|liters]",
            ask="how many [miles|feet|kg|cups] is it\ncan you convert units\nhow much is that in [pounds|meters|celsius|liters]",
            free="I [need|want] [a unit conversion|to convert a value|to convert something].\nunit conversion please",
        ),
        "Which value, and from which unit to which?",
    ),
    "shift_date": (
        Intent(
            "ask.shift",
            imp="add [some days|a few weeks|some time] to a date\n[shift|move] [the|a] date\nmove my appointment",
            ask="which date is it {n} days later\nwhat date is {n} weeks after that\nwhen is it if I wait {n} days after",
            free="[I need|I want] a date [moved|shifted].",
        ),
        "From which date, and by how much?",
    ),
    "days_between": (
        Intent(
            "ask.between",
            imp="count the days between two dates\n[find|compute] the [number of days|difference] between two dates",
            ask="how many days [are there |]between [the|these|two|those] dates\nhow many days is it until then\nhow long is it in days",
            free="[days between two dates|date difference] please",
        ),
        "Which two dates?",
    ),
    "day_of_week": (
        Intent(
            "ask.weekday",
            imp="[find|tell me] the [weekday|day of the week] of [a|my|the] [date|birthday]",
            ask="[what|which] [weekday|day of the week] was [it|that|that day]\nwhat weekday is the date\nwhich weekday was I born on",
            free="weekday please",
        ),
        "Which date?",
    ),
    "country_facts": (
        Intent(
            "ask.country",
            imp="[find|look up|get] [the capital|the population|the currency|a fact] of [a|the|my] country\ntell me about a country",
            ask="what is the [capital|population|currency|area] [of it|of the country|there]\nwhat is the capital\nhow many people live there\nwhich money do they use there",
            free="the [capital|population|currency|area] please\nI need a fact about a country.",
        ),
        "Which country?",
    ),
    "define_word": (
        Intent(
            "ask.define",
            imp="[define|explain] [a|the|this] word\nlook up [a|the|this] word[ in the dictionary|]\nlook something up in the dictionary",
            ask="what does [this|the|that] word mean\nwhat does it mean\ncan you define a word",
            free="I don't understand [a|the|this] word.\n[a definition|dictionary] please",
        ),
        "Which word?",
    ),
    "save_note": (
        Intent(
            "ask.save",
            imp="[save|write|make|create|take] a note\n[save|store|note] something [down |]for me\nremember something for me",
            ask="can you [take|save|write] a note\ncould you remember something",
            free="new note\nnote please\nI want to [save|write] a note.",
        ),
        "What should the note say, and what is its title?",
    ),
    "read_note": (
        Intent(
            "ask.read",
            imp="[read|open|show] [a|one of my|the|my] note[s|]\nread [it|the note] [out loud|to me]",
            ask="what did I write in [the|my] note\nwhat does [the|my] note say",
            free="read a note please",
        ),
        "Which note?",
    ),
    "read_file": (
        Intent(
            "ask.file",
            imp="[read|open|show me] [a|the|my] file\nopen something\nprint the file",
            ask="what is in [the|my] file\nwhat does the file say\ncan you read a file",
            free="open a file please",
        ),
        "Which file?",
    ),
    "search_files": (
        Intent(
            "ask.search",
            imp="search [the|my|all] files\nsearch for something\nfind something in [the|my] files",
            ask="can you search [the|my] files\nwhere is it in my files",
            free="search please\nI need to find something in my files.",
        ),
        "What should I search for?",
    ),
    "calculate": (
        Intent(
            "ask.calculate",
            imp="calculate something[ for me|]\ndo [a|some] [calculation|math|maths|sums]\nadd [some|a few] numbers",
            ask="can you calculate [something|for me]\ncould you do [some math|a calculation]",
            free="[a calculation|calculator] please\nI need to calculate something.",
        ),
        "What should I calculate?",
    ),
    "shift_time": (
        Intent(
            "ask.time",
            imp="add {n} minutes to [the|a|my] [time|start time]\n[shift|move] [the|a] time",
            ask="what time is it {n} minutes later\nwhen does it end if it takes {n} minutes",
            free="[I need|I want] a time [moved|shifted].",
        ),
        "Which time, and by how many minutes?",
    ),
}
UNFIT = Intent(
    "talk.unfit",
    imp="""
    [book|reserve|order|buy] [a flight|a table|a taxi|a pizza|a hotel room|tickets] [to|in|for] {c}
    [send|write] [an email|a text|a message|a letter] to {p}
    [call|phone|ring] {p}
    [play|put on] [some music|a song|the radio|{w}]
    [turn on|turn off|switch on|dim] the [lights|heating|tv|lamp|fan]
    [set|start] [an alarm|a timer] for {n} minutes
    translate {w} into [French|Spanish|German|Chinese|Latin|Polish]
    [write|compose] a [poem|story|song|joke|novel|speech] about {w}
    [draw|paint|design] [a|me a] {w}
    [show|find] me [the news|a recipe for {w}|videos of {w}|the way to {c}]
    [buy|sell] {n} shares of {w}
    [open|lock|close] the [door|garage|window|car]
    [post|share] [this|a photo] on [facebook|instagram|my blog]
    [predict|guess|tell me] [the lottery numbers|my future|who wins the match]
    [install|download|update] {w}
    """,
    ask="""
    what is the weather [in {c}|like in {c}|tomorrow|today|in {c} tomorrow]
    will it [rain|snow|be sunny] [tomorrow|today|in {c}|on the weekend]
    [what is|how is] the [stock|share] price of {w}
    who [won|is winning] [the match|the election|the game|the race]
    [when does|when will] the next [train|bus|flight] to {c} [leave|go]
    where is the [nearest|closest] [restaurant|pharmacy|bank|station]
    what is on [tv|television|the radio] tonight
    [what is|what's] the [phone number|address|email] of {p}
    who is {p} {q}
    how do I [cook|repair|build|grow] [a |]{w}
    what does {p} think about {w}
    what's the traffic like in {c}
    which film should I watch
    what is the meaning of life
    """,
    thing="the weather [in|for] {c}\nthe latest news[ about {w}|]\na [recipe|song|poem|picture] [of|about|with] {w}\ndirections to {c}\ntoday's headlines",
)
UNFIT_ANSWER = "I have no tool for that, sorry."
NEEDLESS = Intent(
    "talk.recall",
    ask="what [was|is] my name[ again|]\nwhat did I say my name [is|was]\ndo you remember my name\nwho am I",
    free="say my name[.|!|]\nmy name?\ntell me my name[.|]",
)
TELL = Intent(
    "talk.tell",
    free="""
    [my name is|I'm|I am|call me|people call me|they call me|this is] {p}[.|!|]
    [hi|hello|hey][,|!] [my name is|I'm|I am|call me] {p}[.|!|]
    [I am called|my friends call me|you can call me|just call me] {p}[.|]
    the name is {p}[.|]
    """,
)


def talk(world: World) -> None:
    """One exchange of small talk."""
    rng = world.rng
    kind = rng.choice(list(TALK))
    intent, answers = TALK[kind]
    world.user(intent.say(rng, {"p": words.first_name(rng, world.held)}, world.held))
    world.reply(answers[0] if rng.random() < 0.75 else rng.choice(answers), PLAIN)


def remark(world: World) -> None:
    """The user says something that asks for nothing."""
    world.user(aside(world.rng, BEFORE, world.held))
    world.reply("I see. How can I help you?", PLAIN)


def named(world: World) -> None:
    """The user says a name and asks for it later."""
    rng = world.rng
    name = words.first_name(rng, world.held)
    world.user(TELL.say(rng, {"p": name}, world.held))
    world.reply(f"Nice to meet you, {name}!", PLAIN)
    world.facts["name"] = name


def recalled(world: World) -> None:
    """Asks for the name said earlier, or for one never said."""
    world.user(NEEDLESS.say(world.rng, {}, world.held))
    name = world.facts.get("name")
    world.reply(f"Your name is {name}." if name else "You have not told me your name.", PLAIN)


def missing(world: World) -> None:
    """A request without what its tool needs: ask back."""
    rng = world.rng
    keys = [key for key in MISSING if world.has(key)]
    if not keys:
        talk(world)
        return
    intent, question = MISSING[rng.choice(keys)]
    world.user(intent.say(rng, {"n": str(rng.randint(2, 90))}, world.held))
    world.reply(question, "Something is missing; ask for it.")


def unfit(world: World) -> None:
    """A request that no declared tool fits: say so."""
    rng, held = world.rng, world.held
    slots = {
        "c": words.city(rng, held),
        "p": words.first_name(rng, held),
        "q": words.last_name(rng, held),
        "w": words.word(rng, held),
        "n": str(rng.randint(2, 60)),
    }
    world.user(UNFIT.say(rng, slots, held))
    world.reply(UNFIT_ANSWER, "No tool fits this." if world.tools else PLAIN)
