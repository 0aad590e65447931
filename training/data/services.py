"""Tools that exist nowhere: what they do, their arguments, how people ask, what comes back.

A service is ``names``, ``descriptions``, ``arguments`` lines ``slot kind: name|other name|...`` (kinds as in
``values``; a leading ``?`` makes it optional), ``requests`` (template lines over the slots, an ``[...{slot}]``
branch may leave an optional one out), ``results`` (lines over the slots and ``{code}``, ``{number}``) and
``answers`` (``{result}`` is the result).
"""

from __future__ import annotations

SERVICES: dict[str, dict[str, str]] = {
    "weather": {
        "names": "get_weather weather forecast weather_report current_weather temperature_now",
        "descriptions": "Current weather of a city.\nThe weather somewhere.\nTells temperature and sky for a place.",
        "arguments": "c city: city|place|location|town",
        "requests": """
        what is the weather [like |]in {c}?
        how is the weather in {c}[ today| right now|]?
        [tell me|check|get|show me] the weather [in|for|of] {c}
        is it [warm|cold|raining|sunny] in {c}[ now| today|]?
        weather [in|for] {c}[?|, please|]
        how [cold|warm|hot] is it in {c}?
        do I need [an umbrella|a coat] in {c}?
        I'm [flying|travelling|going] to {c}. [How|What] is the weather[ there|]?
        """,
        "results": '{t} degrees, {w}\n{w}, {t} C\n{{"temperature": {t}, "sky": "{w}"}}\n{t} C and {w} in {c}',
        "answers": "In {c}: {result}.\nThe weather in {c}: {result}.",
    },
    "mail": {
        "names": "send_email send_mail mail email write_mail post_message send_message",
        "descriptions": "Send an email.\nSend a message to somebody.\nWrites and sends a mail.",
        "arguments": "n person: to|recipient|receiver|address\nx phrase: text|body|message|content\n?s title: subject|title|topic",
        "requests": """
        [send|write] [an email|a mail|a message] to {n}[ with the subject {s}|][:| saying| that says] {x}
        [email|mail|message] {n}[ about {s}|]: {x}
        tell {n}[ by mail|]: {x}
        [write|send] {n} [a message|an email|a mail][ titled {s}|]: {x}
        let {n} know: {x}
        a [mail|message] for {n}[, subject {s}|], text: {x}
        [please |]send "{x}" to {n}
        [drop|shoot] {n} a [line|note|mail][ about {s}|][:| -] {x}
            [the text|message|body] is "{x}"[, subject {s}|], [it goes|send it] to {n}
        to: {n}[, subject: {s}|], [body|text]: {x}
            """,
        "results": 'Sent.\nMessage sent to {n}.\n{{"sent": true, "id": "{code}"}}\nok {code}',
        "answers": "I sent the message to {n}.\nDone, {n} has been written to.",
    },
    "timer": {
        "names": "set_timer timer start_timer countdown alarm_in remind_in",
        "descriptions": "Start a timer.\nA countdown in minutes.\nRings after some minutes.",
        "arguments": "m count: minutes|duration|length|mins\n?l word: label|name|title|what",
        "requests": """
        [set|start] a timer [for|of] {m} minutes[ called {l}| named {l}|]
        [wake|ring|remind|call] me in {m} minutes[ for {l}|]
        timer {m} minutes[ for {l}|]
        {m} minutes[ for the {l}|] [from now|on the clock], please
        count down {m} minutes[ for {l}|]
        I need a {m} minute timer[ for the {l}|]
        {m} min[ {l}|] timer[, please|]
        [tell|warn|ping] me [after|when] {m} minutes [are over|have passed|]
        [the|my] {l} [takes|needs] {m} minutes, [set a timer|start a timer|time it]
            [kitchen|egg] timer, {m} minutes[, named {l}|]
        """,
        "results": 'Timer set for {m} minutes.\n{{"timer": "{code}", "minutes": {m}}}\nok',
        "answers": "The timer is set for {m} minutes.\nI started a timer of {m} minutes.",
    },
    "book": {
        "names": "book_table reserve reserve_table table_booking make_reservation",
        "descriptions": "Reserve a table.\nBook a table in a restaurant.\nMakes a restaurant reservation.",
        "arguments": "r brand: restaurant|place|name|where\ng count: people|guests|persons|seats\nh clock: time|at|when|hour",
        "requests": """
        [book|reserve] a table [for {g}|for {g} people] at {r} at {h}
        [book|reserve] {r} for {g} [people|persons] at {h}
        a table at {r}, {h}, {g} [people|guests][, please|]
        we are {g} and want to eat at {r} at {h}
        [can|could] you get us a table for {g} at {r} at {h}?
        I'd like a table at {r} for {g} [people|], {h}
                    at {r} I need {g} seats, {h}
        """,
        "results": 'Reserved, code {code}\n{{"confirmed": true, "code": "{code}"}}\nTable booked: {code}',
        "answers": "The table at {r} for {g} at {h} is booked: {code}.\nBooked, the code is {code}.",
    },
    "light": {
        "names": "set_light lights lamp light_switch control_light switch",
        "descriptions": "Switch a light.\nTurn a lamp on or off.\nControls the lights of a room.",
        "arguments": "r word: room|lamp|where|place\ns enum(on=on; off=off): state|power|switch|action",
        "requests": """
        [turn|switch] {s} the [light|lights|lamp] in the {r}
        [turn|switch] the {r} [light|lights|lamp] {s}
        {r} [light|lights] {s}[, please|]
        I want the [light|lights] in the {r} {s}
        [light|lights] {s} in the {r}
        [can|could] you turn the {r} [light|lamp] {s}?
        """,
        "results": '{r}: {s}\nok\n{{"room": "{r}", "state": "{s}"}}\ndone',
        "answers": "The light in the {r} is {s}.",
    },
    "stock": {
        "names": "stock_price get_price share_price quote market_price ticker",
        "descriptions": "Price of a share.\nLook up what a stock costs.\nThe last price of a company's shares.",
        "arguments": "b brand: company|symbol|name|stock",
        "requests": """
        [what is|what's] the [stock|share] price of {b}?
        how much [is|does] [a share of {b}|one share of {b}|{b} stock] [cost|worth]?
        [check|look up|get|tell me] the [stock|share] price [of|for] {b}
        {b} [stock|share] price[?|, please|]
        what [is|are] {b} [shares|stock] trading at?
        """,
        "results": '{number}\n{number} USD\n{{"price": {number}}}\n{b}: {number}',
        "answers": "The price of {b} is {number}.\n{b} is at {number}.",
    },
    "rate": {
        "names": "exchange_rate convert_money currency_rate fx to_currency money_exchange",
        "descriptions": "Exchange money.\nConvert an amount between currencies.\nWhat an amount is worth in other money.",
        "arguments": "a number: amount|value|sum|money\nf enum(EUR=EUR/euros; USD=USD/dollars; GBP=GBP/pounds; JPY=JPY/yen): from|source|from_currency\nt enum(CHF=CHF/francs; SEK=SEK/Swedish crowns; INR=INR/rupees; PLN=PLN/zloty): to|target|to_currency",
        "requests": """
        [convert|change|exchange] {a} {f} [to|into] {t}
        how much is {a} {f} in {t}?
        {a} {f} in {t}[?|, please|]
        what are {a} {f} worth in {t}?
        how many {t} do I get for {a} {f}?
        I have {a} {f} and need {t}
        """,
        "results": '{number}\n{{"result": {number}}}\n= {number}',
        "answers": "That is {number} {t}.\n{a} {f} is {number} {t}.",
    },
    "meeting": {
        "names": "create_event add_event schedule calendar_add new_meeting plan_meeting add_appointment",
        "descriptions": "Add an event to the calendar.\nSchedule a meeting.\nPuts an appointment into the calendar.",
        "arguments": "t title: title|name|event|what\nd date: date|day|when|on\n?h clock: time|start|at",
        "requests": """
        [add|put|enter] {t} [to|in] [my|the] calendar [on|for] {d}[ at {h}|]
        [schedule|plan|create] [a meeting|an event|an appointment] [called|named|titled] {t} [on|for] {d}[ at {h}|]
        {t} on {d}[ at {h}|], [put it in|add it to] my calendar
        I have {t} on {d}[ at {h}|]. [Please |]add it[ to my calendar|]
        new [event|appointment]: {t}, {d}[, {h}|]
        remind me of {t} on {d}[ at {h}|]
        {d}[, {h}|]: {t} - [into my calendar|add it|schedule it][, please|]
            [block|reserve] {d}[ at {h}|] for {t}
        """,
        "results": 'Created: {code}\n{{"event": "{code}"}}\nAdded {t}.',
        "answers": "{t} is in your calendar on {d}.\nI added {t} on {d}.",
    },
    "translate": {
        "names": "translate translator to_language translate_text interpreter",
        "descriptions": "Translate a text.\nTurns a text into another language.\nA translator.",
        "arguments": "x phrase: text|input|sentence|what\nl enum(French=French; German=German; Spanish=Spanish; Italian=Italian; Polish=Polish; Turkish=Turkish): language|to|target|into",
        "requests": """
        translate "{x}" [to|into] {l}
        [how do you say|what is] "{x}" in {l}?
        [put|turn] "{x}" into {l}
        translate into {l}: {x}
        {l} for "{x}"[?|, please|]
        say "{x}" in {l}
        """,
        "results": '{result_text}\n{{"text": "{result_text}"}}',
        "answers": "In {l}: {result_text}",
    },
    "play": {
        "names": "play_music play music_player start_song play_song stream",
        "descriptions": "Play music.\nStarts a song.\nPlays a song of an artist.",
        "arguments": "t title: song|title|track|what\n?a person: artist|singer|by|band",
        "requests": """
        play "{t}"[ by {a}|]
        [start|put on] the song "{t}"[ by {a}| of {a}|]
        I want to [hear|listen to] "{t}"[ by {a}|]
        music: "{t}"[, {a}|]
        [can|could] you play "{t}"[ from {a}|]?
        """,
        "results": 'Playing {t}\n{{"playing": "{t}"}}\nok',
        "answers": "Now playing {t}.",
    },
    "order": {
        "names": "order_item place_order buy purchase shop_order add_to_cart",
        "descriptions": "Order a product.\nBuy something in the shop.\nPlaces an order.",
        "arguments": "i item: item|product|article|what\nq count: quantity|count|amount|number",
        "requests": """
        [order|buy|purchase|get me] {q} {i}
        I [want|need|would like] {q} {i}
        [put|add] {q} {i} [in|into|to] [the|my] [cart|basket]
        [order|buy] {i}, {q} [pieces|of them|units]
        {q} {i}, [please|buy them]
        we ran out of {i}, [order|buy] {q}
        {i}: [order|get|buy] {q}[ of them|, please|]
        [we are low on|there is no more|I'd like some] {i}; {q} [of them|will do|should be enough], please
        [my|the] order: {q} {i}
        """,
        "results": 'Ordered, number {code}\n{{"order": "{code}", "total": {number}}}\nok: {code}',
        "answers": "I ordered {q} {i}. The order number is {code}.\nOrdered: {q} {i} ({code}).",
    },
    "track": {
        "names": "track_package parcel_status where_is tracking shipment track_order",
        "descriptions": "Where a package is.\nTracks a parcel by its number.\nStatus of a shipment.",
        "arguments": "k code: number|tracking|id|code|parcel",
        "requests": """
        where is [my |the |][package|parcel|order|shipment] {k}?
        track [package|parcel|order|shipment] {k}
        [check|tell me] the status of [package|parcel|shipment] {k}
        has {k} arrived[ yet|]?
        [what happened to|any news about] [my |][package|parcel] {k}?
        status {k}[?|, please|]
        [my|the] [number|code] is {k}, where is [the parcel|my order|it]?
        {k}: [where is it|any news|arrived]?
            """,
        "results": 'in {place}\nIt is in {place}\n{{"status": "moving", "place": "{place}"}}\ndelivered to {place}',
        "answers": "Package {k}: {result}.",
    },
    "user": {
        "names": "find_user get_user lookup_person contact who_is user_info person_search",
        "descriptions": "Find a person's record.\nLook up a contact.\nData of a user by name.",
        "arguments": "n person: name|user|person|who",
        "requests": """
        [find|look up|get|search] [the user|the contact|the record of|] {n}
        [what is|tell me|get me] [the phone number|the contact|the data] of {n}
        how can I reach {n}?
        who is {n}?
        [show|give] me [the record|the data|the contact] of {n}
        """,
        "results": '{n}, phone {digits}\n{{"name": "{n}", "phone": "{digits}"}}\nid {code}, phone {digits}',
        "answers": "The number of {n} is {digits}.\n{n}: {digits}.",
    },
    "temperature": {
        "names": "set_temperature heating thermostat set_heat climate room_temperature",
        "descriptions": "Set the temperature of a room.\nControls the heating.\nThe thermostat.",
        "arguments": "r word: room|zone|where|place\nt temperature: degrees|temperature|value|target",
        "requests": """
        set the [temperature|heating] in the {r} to {t}[ degrees|]
        [make|heat] the {r} [to |]{t} degrees
        [I want|we need] {t} degrees in the {r}
        {r}: {t} degrees[, please|]
        turn the [heating|thermostat] in the {r} to {t}
        {t} degrees [please |]in [the|our] {r}
        the {r} [is too cold|is freezing|needs heat], [make it|set it to] {t}
        """,
        "results": '{r} set to {t}\nok\n{{"room": "{r}", "target": {t}}}',
        "answers": "The {r} is set to {t} degrees.",
    },
    "route": {
        "names": "route directions distance plan_route how_far navigate travel_time",
        "descriptions": "Distance between two places.\nPlans a route.\nHow far one city is from another.",
        "arguments": "f city: from|origin|start|a\nt city: to|destination|end|b\n?m enum(car=by car; train=by train; bike=by bike): mode|by|vehicle",
        "requests": """
        how far is it from {f} to {t}[ {m}|]?
        [find|plan|show me] [a|the] route from {f} to {t}[ {m}|]
        [what is|tell me] the distance [from|between] {f} [to|and] {t}[ {m}|]
        how do I get from {f} to {t}[ {m}|]?
        from {f} to {t}[ {m}|][?|, please|]
        I go from {f} to {t}[ {m}|]. How far is that?
        [going|driving] to {t} from {f}[ {m}|], how [many km|far][ is it|]?
        [I'm|We are] in {f} and [need to get|want to go] to {t}[ {m}|]
        """,
        "results": '{number} km\n{{"km": {number}}}\n{number} kilometers',
        "answers": "From {f} to {t} it is {number} km.",
    },
    "random": {
        "names": "random_number dice roll lucky_number pick_number",
        "descriptions": "A random number.\nRolls between two numbers.\nPicks a number from a range.",
        "arguments": "a count: low|min|from|start\nb population: high|max|to|end",
        "requests": """
        [give|pick|choose|draw] [me |]a random number [between|from] {a} [and|to] {b}
        roll a number from {a} to {b}
        random number, {a} to {b}
        [choose|pick] any number between {a} and {b}
        """,
        "results": '{number}\n{{"number": {number}}}\nIt is {number}',
        "answers": "The number is {number}.",
    },
    "task": {
        "names": "add_task todo new_task create_task add_todo task_add",
        "descriptions": "Add a task to the list.\nCreate a todo item.\nPuts something on the to-do list.",
        "arguments": "x phrase: task|text|what|title\n?p enum(high=high; low=low; normal=normal): priority|importance|level",
        "requests": """
        [add|put] "{x}" [to|on] [my|the] [todo list|to-do list|task list|tasks][ with {p} priority|]
        new task[ with {p} priority|]: {x}
        I have to {x}. [Put it on my list|Add it to my tasks]
        [create|make] a task[ of {p} priority|]: {x}
        todo: {x}[ (priority {p})|]
        """,
        "results": 'Task {code} added\n{{"id": "{code}"}}\nadded',
        "answers": "I added the task: {x}.",
    },
    "close_ticket": {
        "names": "close_ticket resolve update_ticket set_status ticket_status change_ticket",
        "descriptions": "Change the state of a ticket.\nUpdates a ticket.\nSets the status of an issue.",
        "arguments": "k code: ticket|id|number|issue\ns enum(open=open; closed=closed; waiting=waiting): status|state|to",
        "requests": """
        [set|change|move|put] [the |][ticket|issue] {k} to {s}
        mark [ticket|issue] {k} as {s}
        [ticket|issue] {k} [is|should be] {s}[ now|]
        [please |]make {k} {s}
        the status of {k} [becomes|should become] {s}
        """,
        "results": '{k}: {s}\nupdated\n{{"ticket": "{k}", "status": "{s}"}}',
        "answers": "Ticket {k} is {s} now.",
    },
    "price": {
        "names": "product_price price_check item_price check_price how_much cost_of",
        "descriptions": "What a product costs.\nLooks up a price.\nPrice of an article in the shop.",
        "arguments": "i item: product|item|article|name",
        "requests": """
        how much [are|do] [the |]{i}[ cost|]?
        what [is|'s] the price of {i}?
        [check|look up|find|tell me] the price [of|for] {i}
        price of {i}[?|, please|]
        what do {i} cost?
        [and |]the {i}, [how much|what price|what do they cost]?
        {i} - [price|how much|cost][?|, please]
        I [want|plan|need] to buy {i}. [What will I pay|What is the price|How expensive are they]?
        """,
        "results": '{number}\n{number} euros\n{{"price": {number}}}',
        "answers": "{i}: {number}.\nThe price of {i} is {number}.",
    },
    "rename": {
        "names": "rename_file move_file mv change_name rename file_rename",
        "descriptions": "Rename a file.\nGives a file another name.\nMoves a file to a new name.",
        "arguments": "a file: old|source|from|path|file\nb file: new|target|to|new_name",
        "requests": """
        rename {a} to {b}
        [move|change] {a} to {b}
        [give|call] the file {a} [the name |]{b}
        the file {a} should be called {b}
        {a} -> {b}, rename it
        """,
        "results": 'ok\nrenamed\n{{"renamed": "{b}"}}',
        "answers": "{a} is called {b} now.",
    },
    "hotel": {
        "names": "find_hotel hotels hotel_search search_rooms rooms",
        "descriptions": "Find a hotel.\nSearch rooms in a city.\nHotels for some nights.",
        "arguments": "c city: city|place|location|where\nn count: nights|days|duration\n?p number: max_price|budget|limit",
        "requests": """
        [find|search|get|book] [me |]a [hotel|room] in {c} for {n} nights[ under {p}| for at most {p}|]
        I need a [room|hotel] in {c}, {n} nights[, up to {p}|]
        {n} nights in {c}[, budget {p}|][, please|]
        [hotels|rooms] in {c} for {n} [nights|days][ below {p}|][?|]
        we stay {n} nights in {c}[ and can pay {p}|]. Find a [hotel|room]
        {c}, {n} nights[, at most {p}|]: [find|get|search] a [room|hotel]
        [my|our] stay in {c} is {n} [nights|days][ and the budget {p}|]. [Any hotel|A room please]?
        [with at most {p} to spend, |]I want {n} nights in {c}
        [can|could] you find {n} nights in {c}[ for less than {p}|]?
        [a|some] place to sleep in {c}[ below {p}|] for {n} nights
        [paying up to {p}, |]{n} [nights|days], {c}
        {p} [is my limit|at most], {n} nights, {c}
        """,
        "results": '{name}, {number} a night\n{{"hotel": "{name}", "price": {number}}}\n{name}',
        "answers": "I found {name} in {c}.",
    },
    "measure": {
        "names": "read_sensor sensor get_reading measure sensor_value probe",
        "descriptions": "Read a sensor.\nThe current value of a sensor.\nMeasures something.",
        "arguments": "k code: sensor|id|device|name",
        "requests": """
        [read|check|query|get] [the |]sensor {k}
        what does sensor {k} [show|say|read|measure]?
        [what is|tell me|give me] the [value|reading] of [sensor |]{k}
        sensor {k}[?|, please|]
        """,
        "results": '{number}\n{{"value": {number}}}\n{k} = {number}',
        "answers": "Sensor {k} reads {number}.",
    },
    "score": {
        "names": "add_points score give_points update_score points",
        "descriptions": "Give points to a player.\nAdds to a player's score.\nUpdates the points of somebody.",
        "arguments": "n first: player|name|who|user\np count: points|score|amount|plus",
        "requests": """
        [give|add] {n} {p} points
        {p} points [for|to] {n}[, please|]
        {n} [gets|scored|won|earns] {p} points
        [add|write down] {p} points for {n}
        {n}: {p} [more |]points
        [put|book] {p} points [on|to] the account of {n}
        {n} did it again! {p} points[, please|]
        another {p} points, this time for {n}
        """,
        "results": '{n}: {number}\n{{"player": "{n}", "total": {number}}}\ntotal {number}',
        "answers": "{n} has {number} points now.",
    },
    "generic": {
        "names": "process handle run_job apply perform execute_step submit",
        "descriptions": "Does a {verb} on a {noun}.\n{verb} a {noun}.\nUsed to {verb} any {noun}.",
        "arguments": "x word: {noun}|item|target|object|name\n?q count: times|count|amount|level",
        "requests": """
        {verb} [the {noun} |]{x}[ {q} times|]
        [please |][can you |]{verb} {x}[, {q} times|]
        [the {noun}|my {noun}] {x} needs a {verb}[, {q} times|]
        use {x} as the {noun} and {verb} it[ {q} times|]
        [do|make] a {verb} [of|for|on] {x}[ {q} times|]
        I want to {verb} {x}[, {q} times|]
        {x}: {verb} [it|this one][ {q} times|][, please|]
        [the next|another] {noun} is {x}. {verb} it[ {q} times|]
        [I have|here is] a {noun} called {x}, {verb} it[ {q} times|][, please|]
        {verb} it[ {q} times|]: {x}
        [could you|would you] {verb} [the {noun} |]{x}[ {q} times|]?
        """,
        "results": '{code}\nok {code}\n{{"result": "{code}"}}\ndone: {number}',
        "answers": "Done: {result}",
    },
}
