"""More domains; see ``domains``."""

from __future__ import annotations

MORE: dict[str, tuple[str, str]] = {
    "reservation": (
        """
        n person: name|guest|customer|booked_by
        g count: guests|people|persons|party_size
        d date: date|day|when
        h clock: time|at|hour
        r brand: restaurant|hotel|place|where
        k code: room|table|booking_id|confirmation
        """,
        """
        [Book|Reserve] a table for {g} at {r} on {d} at {h}, name {n}.
        {n} reserved a table for {g} [people|persons] at {r}.
        A table for {g} at {h} on {d} for {n}, please.
        {n} will [stay|be] at {r} on {d}, room {k}.
        [Your booking|Booking] {k} at {r}: {g} [people|guests], {d}, {h}.
        We are {g} people and come to {r} at {h}. [The name is|It's on] {n}.
        {r} confirmed {n} for {d} at {h} ({k}).
        """,
    ),
    "package": (
        """
        k code: tracking|tracking_number|id|parcel
        w decimal: weight|weight_kg|kg
        n person: recipient|to|receiver|name
        c city: city|destination|goes_to|place
        d date: date|delivery|delivery_date|arrives
        x yes(is fragile/is not fragile): fragile|is_fragile
        """,
        """
        [Package|Parcel] {k} for {n} weighs {w} kg.
        The parcel {k} goes to {n} in {c} and arrives on {d}.
        {n} in {c} gets a package of {w} kg on {d}.
        [Parcel|Package] {k} to {c}: {w} kg, {x}.
        Send {w} kg to {n}, {c}. It {x}.
        {k} will be delivered to {n} on {d}.
        """,
    ),
    "employee": (
        """
        n person: name|employee|worker|full_name
        t job: position|title|role|job
        s money: salary|pay|wage|monthly_salary
        d department: department|team|unit|division
        y year: since|start_year|joined|hired
        m person: manager|boss|reports_to|supervisor
        r yes(works remotely/works in the office): remote|works_remotely|home_office
        """,
        """
        {n} works as a {t} in {d} since {y}.
        {n}, {t}, earns {s} and {r}.
        {m} is the boss of {n}, who joined {d} in {y}.
        In {y} {n} joined {d} as a {t}.
        The {t} {n} earns {s} and reports to {m}.
        {n} ({d}) {r}. Manager: {m}.
        {d}: {n}, {t}, since {y}, {s}.
        """,
    ),
    "course": (
        """
        t title: title|course|subject|class
        n person: teacher|lecturer|instructor|held_by
        w weekday: day|weekday|on
        h clock: time|starts|begins|hour
        c count: credits|points|hours
        r code: room|hall|where
        """,
        """
        {n} teaches {t} on {w} at {h}.
        The course {t} is on {w} at {h} in room {r}.
        {t} with {n}: {c} [credits|points], room {r}.
        Every {w} at {h} there is {t} with {n}.
        {t}, {w} {h}, room {r}, {c} [credits|points].
        For {c} points you can take {t} on {w}.
        """,
    ),
    "reading": (
        """
        s code: sensor|device|id|meter
        v number: value|reading|measurement|measured
        u unit: unit|measured_in
        h clock: time|at|when
        c city: place|location|site|where
        o yes(is working/is broken): ok|working|healthy
        """,
        """
        Sensor {s} [shows|reads|measured] {v} {u} at {h}.
        At {h} the device {s} in {c} measured {v} {u}.
        {s}: {v} {u}
        The meter {s} in {c} {o} and shows {v} {u}.
        Device {s} {o}. [Last value|Reading]: {v} {u} at {h}.
        [In|At] {c}, {s} gives {v} {u}.
        """,
    ),
    "shopping": (
        """
        i list: items|list|things|products|to_buy
        s brand: shop|store|market|where
        n person: buyer|for|name|who
        b money: budget|limit|max|at_most
        """,
        """
        Buy {i}.
        {n} needs {i} from {s}.
        [I need|We need|Get me|Bring] {i}.
        Go to {s} and buy {i} for {n}; spend at most {b}.
        {n} bought {i} at {s} for {b}.
        Shopping list: {i}.
        On my list are {i}.
        """,
    ),
    "team": (
        """
        t brand: team|group|name|project
        m names: members|people|participants|who
        l person: leader|lead|head|captain
        y year: founded|since|year
        """,
        """
        The team {t} has these members: {m}.
        {m} are in {t}, led by {l}.
        {l} leads {t} with {m}.
        {t} was founded in {y} by {m}.
        In {y} {m} [started|formed] {t}. The head is {l}.
        [Members of|People in] {t}: {m}. Lead: {l}.
        """,
    ),
    "city": (
        """
        n city: name|city|town
        c country: country|nation|in
        p population: population|inhabitants|people
        r person: mayor|head|mayor_name
        f year: founded|year|since
        """,
        """
        {n} is a city in {c} with {p} inhabitants.
        {n}, {c}, has {p} people. [The mayor is|Mayor:] {r}.
        {r} is the mayor of {n} in {c}.
        {n} was founded in {f} and has {p} inhabitants.
        In {c} lies {n}, founded in {f}.
        """,
    ),
    "workout": (
        """
        n first: name|athlete|who|person
        k enum(running=ran/went running; cycling=cycled/rode the bike; swimming=swam/went swimming; walking=walked/went for a walk): sport|activity|kind|exercise
        d decimal: distance|km|distance_km|kilometers
        m count: minutes|duration|time
        b count: calories|kcal|burned
        """,
        """
        {n} {k} for {m} minutes and [covered|did] {d} km.
        {n} {k}: {d} km in {m} minutes.
        Yesterday {n} {k}, {d} km, {b} calories.
        {d} km in {m} minutes: {n} {k} today and burned {b} calories.
        {n} burned {b} calories in {m} minutes.
        """,
    ),
    "medicine": (
        """
        n brand: name|medicine|drug|medication
        d count: dose|dose_mg|mg|amount
        t count: times|times_per_day|per_day|frequency
        p person: patient|for|name|person
        f enum(before=before meals/before eating; after=after meals/after eating; with=with meals/with food): when|meals|intake
        """,
        """
        {p} takes {d} mg of {n} {t} times a day.
        Give {p} {n}, {d} mg, {f}.
        {n}: {d} mg {t} times a day {f}.
        {p} must take {n} {f}, {t} times a day.
        Take {d} mg {n} {f}.
        """,
    ),
    "car": (
        """
        b brand: brand|make|maker|model
        c colour: color|colour|paint
        y year: year|built|model_year
        k count: km|mileage|kilometers
        p money: price|cost|asking_price
        f enum(petrol=petrol; diesel=diesel; electric=electric; gas=gas): fuel|engine|power
        l code: plate|license|license_plate|registration
        """,
        """
        A {c} {b} from {y} with {k} km for {p}.
        The {b} ({y}, {f}) has {k} km on it and costs {p}.
        For sale: {b}, {c}, built in {y}, {p}.
        {b}, {f}, {k} km, plate {l}.
        My {b} is {c} and has the plate {l}.
        The {c} {f} {b} was built in {y}.
        """,
    ),
    "song": (
        """
        t title: title|song|track|name
        a person: artist|singer|by|band
        m clock: length|duration|time
        y year: year|released
        r count: plays|views|streams
        """,
        """
        '{t}' by {a} is {m} long.
        {a} released '{t}' in {y}.
        '{t}' ({y}) by {a} has {r} plays.
        "{t}" is a song of {a} with {r} plays.
        I like "{t}" from {a}, which came out in {y}.
        """,
    ),
    "review": (
        """
        p brand: place|restaurant|hotel|name|shop
        r rating: rating|stars|score|points
        n person: author|reviewer|user|by
        g yes(would come again/would not come again): recommend|again|would_return
        c phrase: comment|praise|liked|good
        """,
        """
        {n} gave {p} {r} stars.
        {p}: {r} stars by {n}, who {g}.
        {n} liked the {c} at {p} and {g}.
        {r} stars for {p}! [Best was|I liked] the {c}.
        [Review of|About] {p} by {n}: {r} points, {g}.
        """,
    ),
}
