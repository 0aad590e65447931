"""More lines of talk and of tasks that lack something, in the words of everyday life."""

from __future__ import annotations

TALK_SITUATIONS: dict[str, str] = {
    "talk.hello": """
    [knock knock|ping|test|hello world|testing]
    [hi|hello|hey] [bot|computer|machine|helper|pal|mate|everyone|folks][!|.|,|]
    [hi|hello|hey][,|!|] [long time no see|nice to see you again|I'm back|it's me again|me again][!|.|]
    [top of the morning|a very good day|welcome|salutations|aloha|g'day][!|.|]
    [hi|hello], [are we|shall we|can we] [talk|chat|start|begin|work]?
    [I'm|I am] [new here|here|back|online|ready][!|.|]
    """,
    "talk.how": """
    [and you|what about you|how about you], [how are you|are you well|all fine]?
    [how do you do|how goes it|how are we today|how's everything|how is life|how are you feeling]?
    [is everything|are things] [ok|fine|all right|going well] [with you|over there|]?
    [doing|feeling] [ok|well|good|fine] [today|]?
    [did you|have you] [sleep|rest|have] [well|a good day|a nice weekend]?
    """,
    "talk.thanks": """
    [thanks|thank you|thx] [again|so much|a million|a bunch|for everything|my friend|very much indeed][!|.|]
    [this|that|it] [was|is] [exactly|just] what I [needed|wanted|was looking for][!|.|]
    [you're|you are] [so|really|very] [kind|helpful|clever|smart|quick|good][!|.|]
    [awesome|brilliant|lovely|fantastic|wow|nice one|top|splendid][!|.|]
    [I owe you one|you saved my day|you saved me|you made my day][!|.|]
    [great|good|nice|excellent] [answer|job|help|service][!|.|]
    [cheers|ta|merci|much obliged|bless you][!|.|]
    """,
    "talk.bye": """
    [talk|speak] to you [soon|later|tomorrow|next week][!|.|]
    [that's it|I'm done|enough] for [today|now|tonight][, bye|.|, good night|]
    [I'm off|I'm out|I am going home|off to bed|time for bed|closing now|logging off][!|.|]
    [have|enjoy] [fun|a good one|a nice evening|the rest of your day|your weekend][!|.|]
    [ciao|adios|au revoir|cheerio|later|peace|ttyl][!|.|]
    [sleep well|sweet dreams|stay safe|keep well][!|.|]
    """,
    "talk.who": """
    [what is it|with whom is it] I'm [talking|speaking|writing] [to|with]?
    [do you|does this thing] have [a name|a maker|an owner]?
    [who|what] [is behind|runs|owns|programmed|developed|trained|wrote] [you|this|this assistant]?
    [are you|is this] [ChatGPT|Claude|Gemini|Siri|Alexa|Kimi|a language model|real|alive]?
    [your|the assistant's] name[, please|?|]
    [say|tell me|reveal] [your name|who you are|what you are][.|, please.|!]
    [which|what] [version|kind of AI|program|software] [are you|is this]?
    """,
    "talk.ability": """
    [what|which things] [are you able to|could you|might you|can you] [do|handle|help with|answer|solve]?
    [list|show|name|tell me] [what you can do|your skills|your abilities|things you can do|your functions][.|, please.|]
    [in what ways|how] [can|could|might] you [help|assist|support|be useful]?
    [give|show] me [some examples|an example|examples] of what [I can ask|you can do|you are good at][.|]
    [what's|what is] your [purpose|job|task|use|speciality]?
    [do you know|can you do] [anything|something] [useful|interesting]?
    [any|some] [hints|tips|instructions] [for me|how to use you|on how to begin]?
    """,
    "talk.feeling": """
    [my|our] [cat|dog|grandpa|friend|team] [is ill|died|left me|lost|is in hospital][.|]
    [life is|everything is|work is|school is] [hard|tough|too much|boring|sad][ at the moment| these days|][.|]
    [I|we] [failed|lost|messed up|ruined] [the exam|the game|it|everything][.|]
    [I'm|I am] [not feeling well|feeling down|having a bad time|so sad|heartbroken|fed up|under pressure][.|]
    [nobody|no one] [likes|calls|understands|helps] me[.|]
    [it hurts|I cried all day|I miss my friends|I want to give up][.|]
    """,
    "talk.joy": """
    [guess what|great news|good news][!|:] [I won|I got married|we had a baby|I got a raise|I am going on holiday|my team won][!|.]
    [I|we] [won|made it|did it|passed|succeeded][!|!!| today!]
    [today|this] is [the best day|my lucky day|a great day|wonderful][!|.]
    [I'm|I am] [over the moon|so happy|really excited|thrilled|in love|on holiday][!|.|]
    [my|our] [daughter|son|friend|sister] [won a prize|passed the exam|got the job|is getting married][!|.]
    """,
    "talk.yes": """
    [k|kk|yep|yeah|yup|aha|mhm|hm|hmm|right then][.|!|]
    [that's fine|fine by me|sounds good|makes sense|agreed|deal|of course][.|!|]
    [ok|okay|alright] [then|cool|good|great|got it|I see][.|!|]
    [no|nope|not really|nothing|not now][.|!|]
    """,
    "talk.sorry": """
    [my apologies|I apologize|pardon|excuse me][.|!|] [wrong window|I mistyped|typo|that was not for you|]
    [please |][disregard|forget|skip|drop] [that|it|what I said|my last question|the last one][.|, sorry.|]
    [it's|that's] [ok|nothing|not important|solved already|done already][.|, never mind.|]
    [I pressed|I hit] [enter|send] [too early|by accident|by mistake][.|, sorry.|]
    """,
    "talk.tell": """
    [you are talking to|you're speaking with|on this side is|at the keyboard:] {p}[.|]
    [allow me to introduce myself|let me introduce myself|I should say who I am][:|,|.] [I'm|I am|my name is] {p}[.|]
    [everyone|my mother|my family|at work they] [calls|call] me {p}[.|]
    [remember|note|know]: [my name is|I'm called|I am] {p}[.|!]
    [hi|hello|hey], {p} [is my name|is here|speaking][.|!]
    """,
    "talk.recall": """
    [which|what] name did I [give|tell|mention]?
    [do you|can you] [still |][know|recall|say] [my name|what I am called|who I am]?
    [how|what] am I called[ again|]?
    [who|what] did I say I [am|was]?
    """,
    "talk.unfit": """
    [what's|is] [the|any] [score|result|news] [of|from|in] [the game|{c}|the election]?
    [check|read|open] my [emails|inbox|bank account|messages|calendar][.|, please.]
    [make|brew|cook|bring] me [a coffee|some tea|dinner|a sandwich][.|, please.|]
    [recommend|suggest] [a film|a book|a restaurant in {c}|music|a gift for {p}][.|, please.]
    [scan|print|fax|photograph] [this|my passport|the page|it][.|, please.|]
    [sing|hum|rap] [a song|something][ about {w}| for {p}|][.|, please.|]
    [who|which team] will win [the cup|the election|tomorrow|on Sunday]?
    [tell me|do you know] a [joke|story|riddle|secret][ about {w}|][.|?|]
    [is|are] [{w}|{p}] [healthy|dangerous|rich|famous|good for me]?
    [fix|repair|clean|wash] my [car|phone|bike|kitchen|printer][.|, please.|]
    [connect|put] me [to|through to] {p}[.|, please.|]
    [rent|hire|get] me a [car|boat|bike|van] in {c}[.|]
    [how long|how far] [is the flight|is the drive|do I drive] to {c} [from here|from home|]?
    [give me|I want|I need] a [haircut|massage|visa|new password|loan][.|]
    """,
    "ask.convert": """
    [how much|what] [is it|is that|would it be] in [miles|grams|celsius|hours|gallons]?
    [I have|here is|there is] a [length|weight|temperature|measurement] [to convert|that needs converting][.|]
    [into|to] [meters|kilograms|fahrenheit|cups|minutes], please
    [switch|swap] [the units|units][.|, please.|]
    """,
    "ask.between": """
    [the|my] [trip|project|holiday] [took|lasted] [how many days|how long in days]?
    [compare|subtract] two dates[.|, please.|]
    [how long|how many days] [have I|has she|did it] [worked|lived|waited|lasted]?
    """,
    "ask.weekday": """
    [is|was] it a [Monday|Sunday|weekday|weekend]?
    [on which|what] day [of the week |][is|was] [my birthday|the party|the event|our wedding]?
    [which|what] weekday[?|, please|]
    """,
    "ask.country": """
    [how big|how populous|where] is [it|the country|that country|my country]?
    [I forgot|tell me|say] its [capital|currency|area|population|language][.|, please.|]
    [which|what] [languages|neighbours] [does it have|are there|do they have]?
    [find|look up] [some|one] country [fact|data|information][.|, please.|]
    """,
    "ask.define": """
    [there's|here's|I have] a word I don't [know|understand|get][.|]
    [dictionary|lexicon] [lookup|search][, please|]
    [which|what] meaning does [it|this|the word] have?
    [help me|please help] with a [word|definition|term][.|]
    """,
    "ask.save": """
    [I|we] [have to|need to|want to] [note|write|keep|store] something[ down|][.|]
    [open|start|begin|add] a [new |][note|memo][.|, please.|]
    [take|jot] [this |]down[.|, please.|]
    [write|put] something [in|into] my notes[.|, please.|]
    """,
    "ask.read": """
    [get|find|fetch|show] [a|that|my old|some] note[.|, please.|]
    [what|which text] is in the note?
    [I want|I need] to [see|read|check] [my|a] note[.|]
    """,
    "ask.file": """
    [the|a|my] file, [please|open it|read it][.|]
    [show|read|print] [it|something|a text|a document][.|, please.|]
    [which|what] text is in [the|that] [file|document]?
    """,
    "ask.search": """
    [look|search] [it up |]in [the|my] files[.|, please.|]
    [is it|was it] in [one of|any of] [my|the] files?
    [run|do|start] a [search|text search|file search][.|, please.|]
    """,
    "ask.calculate": """
    [I|we] [have|need] [a sum|some numbers|a calculation] [to do|done|to be done][.|]
    [do|help me with] [my|the] [math homework|sums|accounting][.|, please.|]
    [what|how much] is the [total|sum|result|product]?
    [multiply|divide|subtract] [them|the numbers|these numbers][.|, please.|]
    """,
    "ask.time": """
    [when|at what time] [is it over|does it end|do I arrive|will it finish]?
    [delay|shift|move] [it|the start|the alarm] by {n} minutes[.|, please.|]
    {n} minutes [later|earlier|more], [what time|when] is [it|that]?
    """,
    "ask.shift": """
    {n} [days|weeks|months] [later|earlier|from then|before that], which date[ is it|]?
    [what date|when] is it after {n} [days|weeks|months]?
    [add|put] {n} [days|weeks|months] [to it|on top|to the date][.|, please.|]
    """,
}
