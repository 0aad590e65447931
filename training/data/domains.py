"""What sentences to extract from are about: fields of a domain, how each is valued, sentences that hold them.

A domain is ``fields`` lines ``slot kind: key|other key|...`` and template ``lines`` over the slots. Kinds are
those of ``values.VALUES``; ``yes(a/b)`` is a boolean whose text is ``a`` when true, ``enum(x=a/b; y=c)`` one of
several words with the texts that mean it.
"""

from __future__ import annotations

from training.data.domains_daily import DAILY
from training.data.domains_more import MORE

DOMAINS: dict[str, tuple[str, str]] = {
    "person": (
        """
        n person: name|full_name|person|who
        a age: age|years|age_years
        c city: city|town|home|lives_in|residence
        j job: job|profession|occupation|role|work
        e email: email|mail|email_address
        p phone: phone|telephone|phone_number
        m yes(is married/is not married): married|is_married
        """,
        """
        {n} is {a} years old and lives in {c}.
        {n} ({a}) [from|of|in] {c} works as a {j}.
        {n}, {a}, is a {j} [in|from] {c}.
        My name is {n}, I am {a} and I [live in|come from|am from] {c}.
        I'm {n}, a {j} from {c}. [You can reach|Write to|Contact] me at {e}.
        [Meet|This is|Here comes] {n}: {a} years old, {j}, from {c}.
        {n} works as a {j} and {m}.
        {n} lives in {c}, is {a} years old and {m}. Phone: {p}.
        [Call|Ring|Phone] {n} at {p} or write to {e}.
        The {j} {n} [moved to|lives in|stays in] {c} at the age of {a}.
        At {a}, {n} [became|is|works as] a {j} in {c}.
        [In|From] {c}: {n}, who is {a}, {m} and works as a {j}.
        [Name|Who]: {n}. Age: {a}. City: {c}.
        {n} {m}. [She|He] is {a} and works in {c} as a {j}.
        There is a {a} year old {j} in {c} called {n}.
        Our new colleague {n} is a {j}, {a} years old, phone {p}.
        """,
    ),
    "order": (
        """
        i item: item|product|article|what
        q count: quantity|count|amount|number|how_many
        p money: price|unit_price|cost
        n person: customer|buyer|client|name
        k code: order_id|order|number|reference
        s enum(shipped=has been shipped/is on its way; pending=is still pending/is not sent yet; delivered=was delivered/has arrived; cancelled=was cancelled/is cancelled): status|state
        """,
        """
        {n} ordered {q} {i} [for|at] {p} [each|apiece].
        {n} [bought|wants|needs|would like] {q} {i}.
        Order {k}: {q} {i} at {p} [each|per piece] for {n}.
        [The order|Order] {k} of {n} {s}.
        [Please send|Send|Ship] {q} {i} to {n}, order {k}.
        {q} {i} for {n}. [The price is|They cost|Each costs] {p}.
        The order {k} with {q} {i} {s}.
        We sold {q} {i} to {n} for {p} each, [order|reference] {k}.
        {n}'s order of {q} {i} {s}.
        [I'd like|I want|Give me|I'll take] {q} {i} for {p}, please. [My name is|I am] {n}.
        Customer {n} asked about order {k}: it {s}.
        {q} x {i}, {p}, {n}
        """,
    ),
    "product": (
        """
        i item: name|product|title|item
        p money: price|cost|price_eur
        c colour: color|colour
        w decimal: weight|weight_kg|kg
        s yes(is in stock/is sold out): in_stock|available
        b brand: brand|maker|manufacturer|company
        """,
        """
        The {i} by {b} costs {p} and {s}.
        The {c} {i} [costs|is|sells for] {p} and weighs {w} kg.
        {b} [sells|makes|offers] a {c} {i} for {p}.
        A {c} {i} from {b}, {w} kg, {p}. It {s}.
        [New|Now]: the {i}, {c}, only {p}!
        The {i} {s}. [It weighs|Weight:] {w} kg[,| and] [price|it costs] {p}.
        For {p} you get the {c} {i} of {b}, which {s}.
        {i} ({c}), made by {b}: {p}.
        Our {i} weighs {w} kg, is {c} and costs {p}.
        {b}'s new {i} {s} and costs {p}.
        """,
    ),
    "event": (
        """
        t title: title|event|name|what
        d date: date|day|when
        h clock: time|start|start_time|begins_at
        c city: place|location|city|where
        g count: guests|attendees|people|participants
        o person: organizer|host|contact
        """,
        """
        The {t} is on {d} at {h} in {c}.
        {t} takes place [on|the] {d} in {c}, [starting|beginning] at {h}.
        [Join|Come to|Don't miss] the {t} in {c} on {d} at {h}.
        {o} [invites|invited] {g} [people|guests] to the {t} on {d}.
        On {d} at {h} [we have|there is] the {t} with {g} [people|guests].
        {o} organizes the {t} in {c} on {d} for {g} [people|guests].
        We [meet|gather] on {d}, {h}, in {c} for the {t}.
        [Reminder|Note]: {t}, {d}, {h}.
        The {t} of {o} [was moved|has been moved|is moved] to {d} at {h}.
        In {c} the {t} [starts|begins] at {h} on {d}; {g} [people|guests] are expected.
        {g} [guests|people] will come to the {t} on {d}. Host: {o}.
        """,
    ),
    "trip": (
        """
        f city: origin|from|departure|from_city|start
        t city: destination|to|arrival|to_city|goal
        d date: date|day|departure_date|when
        h clock: time|departure_time|leaves_at
        p money: price|fare|cost
        n person: passenger|traveler|name
        k code: flight|train|booking|number|ticket
        m enum(train=by train/on the train; plane=by plane/by air; bus=by bus/on the bus; car=by car; ship=by ship/by boat): transport|mode|vehicle|by
        """,
        """
        {n} [flies|travels|goes] from {f} to {t} on {d}.
        [Flight|Train|Ticket] {k} [leaves|departs from] {f} at {h} and goes to {t}.
        I want to [go|travel|fly] from {f} to {t} on {d}.
        [Book|I need] a ticket from {f} to {t} for {n} on {d} at {h}.
        The [trip|journey|ride] from {f} to {t} costs {p}.
        {n} goes to {t} {m} on {d}. The ticket costs {p}.
        From {f} to {t} {m}, {d}, {h}, {p}.
        On {d} {n} leaves {f} at {h} for {t} with [ticket|booking] {k}.
        {k} from {f} to {t}, {d} at {h}.
        {n} travels {m} from {f} to {t} for {p}.
        We leave {f} {m} at {h} and [arrive in|reach] {t} [later|the same day].
        My [flight|train] is {k}, I leave from {f} on {d} and go to {t}.
        """,
    ),
    "weather": (
        """
        c city: city|place|location|town
        t temperature: temperature|degrees|temp|celsius
        w enum(rain=rain/it is raining/rainy; sun=sun/it is sunny/sunshine; snow=snow/it is snowing/snowfall; clouds=clouds/it is cloudy; fog=fog/it is foggy): condition|weather|sky
        v count: wind|wind_kmh|wind_speed
        h count: humidity|humidity_percent
        """,
        """
        In {c} it is {t} degrees [with|and] {w}.
        {c}: {t} degrees, {w}, wind {v} km/h.
        Today in {c}: {w}, {t} degrees, humidity {h} percent.
        [The forecast|Forecast] for {c}: {w} [and|with] {t} degrees.
        {t} degrees in {c}, [the wind is|wind] {v} km/h.
        We have {t} degrees in {c}, humidity is {h} percent[ and there is some wind|].
        It [gets|will be|is] {t} degrees in {c}, the wind blows with {v} km/h.
        Weather in {c}: {w}. Temperature: {t}. Wind: {v}.
        """,
    ),
    "book": (
        """
        t title: title|book|name
        a person: author|writer|by|written_by
        y year: year|published|year_published
        g count: pages|page_count|length
        l enum(English=in English; French=in French; German=in German; Spanish=in Spanish; Italian=in Italian): language
        r yes(is available/is not available): available
        """,
        """
        {a} wrote '{t}' in {y}.
        '{t}' by {a} [was published|came out|appeared] in {y} and has {g} pages.
        The book '{t}' ({y}) by {a} has {g} pages.
        I am reading '{t}', a book [of|by] {a} with {g} pages, {l}.
        {a} published '{t}' {l} in {y}.
        '{t}' has {g} pages and {r} [at the moment|now].
        "{t}" was written by {a} in {y}.
        In {y}, {a} finished "{t}", {g} pages long.
        We have "{t}" {l}, by {a}; it {r}.
        The author of {t} is {a}. [It has|There are] {g} pages.
        """,
    ),
    "film": (
        """
        t title: title|film|movie|name
        d person: director|directed_by|made_by
        y year: year|released
        m count: minutes|length|duration|runtime
        r rating: rating|stars|score
        """,
        """
        '{t}' is a film by {d} from {y}.
        {d} directed '{t}' in {y}; it runs {m} minutes.
        The film '{t}' [takes|lasts|runs] {m} minutes and got {r} stars.
        I give '{t}' {r} out of 10.
        "{t}" ({y}), directed by {d}, {m} minutes, rating {r}.
        {t} by {d} has a rating of {r} and came out in {y}.
        We watched "{t}" yesterday: {m} minutes, {r} stars.
        """,
    ),
    "recipe": (
        """
        n title: name|dish|recipe|title
        i list: ingredients|items|needed
        m count: minutes|time|duration|cooking_minutes
        s count: servings|portions|people|serves
        v yes(is vegetarian/is not vegetarian): vegetarian|veggie
        """,
        """
        For {n} you need {i}.
        {n} takes {m} minutes and serves {s}.
        {n}: {i}. [Cook|Bake|Boil|Fry] for {m} minutes. Serves {s}.
        To make {n} for {s} people, take {i} and cook it {m} minutes.
        The dish {n} {v} and takes {m} minutes.
        Mix {i}, wait {m} minutes, and your {n} is ready.
        My {n} needs {i}; it {v}.
        {s} portions of {n}: {i}, {m} minutes in the oven.
        """,
    ),
    "invoice": (
        """
        k code: invoice|invoice_number|number|id
        a money: amount|total|sum
        d date: date|due|due_date|pay_by
        n person: customer|client|to|payer
        b brand: company|vendor|seller|from
        p yes(has been paid/is unpaid): paid|is_paid
        """,
        """
        Invoice {k} [over|for|of] {a} is due on {d}.
        {n} [must pay|owes|has to pay] {a} to {b} by {d}.
        {b} sent invoice {k} to {n}: {a}.
        Invoice {k} from {b} ({a}) {p}.
        [Please pay|Pay] {a} to {b} before {d}, invoice {k}.
        The invoice {k} of {n} {p}; the total is {a}.
        {n} received a bill of {a} from {b}, due {d}.
        Bill {k}: {n}, {a}, {d}.
        """,
    ),
    "bug": (
        """
        t phrase: title|summary|problem|issue
        k code: id|ticket|number|issue_id
        s enum(low=low/minor; medium=medium/normal; high=high/serious; critical=critical/very urgent): severity|priority|level
        n person: reporter|reported_by|author|user
        a person: assignee|assigned_to|owner
        o yes(is still open/is closed): open|is_open
        """,
        """
        {n} reported a bug: {t}. Severity: {s}.
        Ticket {k} ({t}) has {s} priority and {o}.
        {k}: {t}, reported by {n}, assigned to {a}.
        Bug {k} of {n} {o}. It is about {t}.
        {a} works on {k}, a {s} problem with {t}.
        The issue {k} [was opened|was filed] by {n}; priority {s}; {a} takes care of it.
        [There is a|We have a] {s} problem: {t}. {n} found it.
        """,
    ),
    "pet": (
        """
        n first: name|pet|called
        k enum(dog=dog; cat=cat; rabbit=rabbit; parrot=parrot; horse=horse; hamster=hamster): kind|animal|species|type
        a age: age|years|age_years
        c colour: color|colour|fur
        o person: owner|belongs_to|master
        w decimal: weight|weight_kg|kg
        """,
        """
        {n} is a {c} {k}, {a} years old.
        {o} has a {k} called {n} that weighs {w} kg.
        The {k} {n} belongs to {o} and is {a} years old.
        My {k} [is called|is named] {n}. [It is|He is|She is] {a} years old and {c}.
        {n}, the {c} {k} of {o}, weighs {w} kg.
        A {c} {k}, name {n}, owner {o}.
        {o}'s {k} {n} is {a}.
        """,
    ),
    "house": (
        """
        r count: rooms|room_count|number_of_rooms
        s count: size|square_meters|area|sqm
        c city: city|location|town|where
        p money: rent|price|monthly_rent|cost
        g yes(with a garden/without a garden): garden|has_garden
        f count: floor|level|storey
        """,
        """
        [A flat|An apartment|A house] with {r} rooms and {s} square meters in {c} [for|costs] {p}.
        {r} rooms, {s} sqm, {c}, {p} [a month|per month|monthly].
        In {c} we rent out a place {g}, {r} rooms, for {p}.
        The flat on floor {f} has {r} rooms and costs {p}.
        [For rent|To let]: {s} square meters in {c} {g}, {p}.
        We live in {c} on floor {f}, {r} rooms, {g}.
        The house in {c} has {s} square meters and {r} rooms {g}.
        """,
    ),
    "payment": (
        """
        a money: amount|sum|value
        n person: sender|from|payer|from_name
        r person: recipient|to|receiver|to_name
        d date: date|day|when
        w phrase: purpose|reason|for|subject
        k code: account|iban|reference|number
        """,
        """
        {n} [sent|paid|transferred] {a} to {r} on {d}.
        [Transfer|Send|Pay] {a} to {r}, account {k}, for {w}.
        {r} received {a} from {n} for {w}.
        On {d} {n} paid {a} for {w}.
        {n} -> {r}: {a} ({w})
        {a} went from {n} to {r} on {d}, reference {k}.
        I owe {r} {a} for {w}.
        """,
    ),
    "match": (
        """
        a brand: home|home_team|team1|team_a
        b brand: away|away_team|team2|team_b
        x score: home_score|goals_home|score1|home_goals
        y score: away_score|goals_away|score2|away_goals
        d date: date|day|played_on
        c city: city|place|stadium_city|venue
        """,
        """
        {a} [beat|played against|met|lost to] {b} {x}:{y}.
        {a} against {b} ended {x} to {y} in {c}.
        On {d} {a} played {b}; the score was {x}-{y}.
        {a} {x}, {b} {y}.
        In {c}, {a} scored {x} goals and {b} scored {y}.
        The match {a} - {b} on {d} ended {x}:{y}.
        """,
    ),
    **MORE,
    **DAILY,
}
