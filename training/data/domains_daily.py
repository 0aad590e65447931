"""Domains of everyday messages; see ``domains``."""

from __future__ import annotations

DAILY: dict[str, tuple[str, str]] = {
    "contact": (
        """
        n person: name|full_name|contact|person
        e email: email|mail|email_address
        p phone: phone|mobile|telephone|phone_number
        b brand: company|organization|employer|firm
        c city: city|location|based_in|town
        """,
        """
        [You can reach|Reach|Write to|Contact] {n} [at|under|via] {e}[, phone {p}|].
        {n} [works for|is with|represents] {b}[ in {c}|]; [mail|email|write to] {e}.
        [Regards|Best wishes|Sincerely|Cheers], {n}, {b}, {p}
        [Add|Save] {n} to my contacts: {p}, {e}.
        {n} from {b}[ in {c}|] [called|asked for you|left a message]. [Call back|The number is|Phone]: {p}.
        [Hi|Hello], [this is|here is|I am] {n} [from|of] {b}. [My number is|Call me at|You can call] {p}.
        [New contact|Business card]: {n}, {b}, {c}, {e}
        [Our man|Our agent|The contact] in {c} is {n} ({e}).
        [If you need|To get] help from {b}, ask {n}, {e} or {p}.
        {e} belongs to {n}, who [lives|sits|is based] in {c}.
        """,
    ),
    "appointment": (
        """
        w person: with|doctor|person|who
        d date: date|day|when
        h clock: time|at|hour|start
        l count: minutes|duration|length
        c city: place|city|location
        r phrase: reason|about|subject|topic
        """,
        """
        [I have|You have|There is] an appointment with {w} on {d} at {h}[ in {c}|].
        {w} [expects|sees|meets] you on {d} at {h}[ for {l} minutes|].
        [Can we|Could we|Let's] meet on {d} at {h}[ in {c}|] to [talk about|discuss] {r}?
        [Meeting|Call|Appointment] [with|:] {w}, {d}, {h}, {l} minutes, about {r}.
        [Please come|Come|Be there] at {h} on {d}. {w} will talk about {r}.
        [It takes|Plan] {l} minutes: {r} with {w} on {d}.
        On {d} I [see|meet|visit] {w} in {c} at {h}.
        {w} can only do {d} at {h}[, in {c}|][, subject {r}|].
        """,
    ),
    "complaint": (
        """
        n person: customer|name|from|complainant
        i item: product|item|article|about
        k code: order|order_id|order_number|reference
        p phrase: problem|issue|complaint|fault
        r yes(wants the money back/does not want the money back): refund|wants_refund|money_back
        d date: date|bought_on|purchase_date
        """,
        """
        {n} bought {i} on {d} and [reports|complains about] {p}.
        [The|My] {i} from order {k} [arrived|came] with {p}. {n}
        {n} {r} because of {p}[ (order {k})|].
        [Dear shop|Hello|To whom it may concern], the {i} [have|show] {p}. [Order|My order number is] {k}. {n}
        Customer {n}, order {k}: {p}. The customer {r}.
        [Since|After] {d} the {i} [have|show] {p}, says {n}, who {r}.
        Order {k} of {n} has a problem: {p}.
        {n} [is unhappy|is angry|complains]: {p}[, bought on {d}|].
        """,
    ),
    "job_ad": (
        """
        j job: position|title|job|role
        b brand: company|employer|firm|organization
        c city: city|location|place|where
        s money: salary|pay|wage|income
        h count: hours|hours_per_week|weekly_hours
        r yes(can be done from home/must be done on site): remote|home_office|is_remote
        y count: experience|years_experience|years
        """,
        """
        {b} [is looking for|seeks|hires|needs] a {j} in {c}[ for {s}|].
        [Wanted|Vacancy|Open position]: {j} at {b}, {c}, {s}.
        Work as a {j} for {b}: {h} hours a week, {s}.
        [We are|Our company is] {b} and want a {j} with {y} years of experience.
        The {j} job at {b} {r} and pays {s}.
        {j} in {c}, {h} hours a week, {y} years of experience. It {r}.
        [Join|Apply to] {b}[ in {c}|] as a {j}[, {h} hours|].
        {s} for a {j} at {b} in {c}.
        """,
    ),
    "expense": (
        """
        a money: amount|sum|cost|total
        s brand: shop|store|vendor|merchant|where
        w item: what|item|category|for
        d date: date|day|when
        n person: by|paid_by|employee|who
        m enum(cash=in cash; card=by card/with the card; app=with the app): method|payment|paid_with
        """,
        """
        {n} [spent|paid] {a} [at|in] {s} [for|on] {w}[ on {d}|].
        [Lunch|Dinner|Shopping|A purchase] at {s}, {a}, paid {m}.
        [I paid|I spent|We paid] {a} for {w}[ at {s}|] on {d}.
        {d}: {a}, {s}, {w}[, {m}|]
        [Receipt|Bill] from {s}: {w} for {a}, {d}.
        {a} went to {s} for {w}, {m}, by {n}.
        {n} bought {w} {m} for {a}.
        The {w} [was|were] {a} at {s}.
        """,
    ),
    "address": (
        """
        n person: name|recipient|to|who
        s title: street|street_name|road
        h count: number|house_number|house|no
        z code: zip|postal_code|postcode|zip_code
        c city: city|town|place
        f country: country|state|land
        """,
        """
        {n}, {s} Street {h}, {z} {c}[, {f}|]
        {n} lives at {h} {s} Street in {c}[, {f}|].
        [Send|Ship|Deliver] it to {n}, {s} Street {h}, {c}.
        [My|Our|The] address is {s} Street {h}, {z} {c}[, {f}|].
        [I moved|We moved|She moved] to {h} {s} Street, {z}, {c}.
        [Name|To]: {n}⏎[Street|Address]: {s} Street {h}⏎[City|Town]: {c}⏎[Country|Land]: {f}
        {n} can be found in {c}, {s} Street {h}.
        """,
    ),
    "grade": (
        """
        n person: student|name|pupil|who
        s word: subject|course|class|topic
        g rating: grade|mark|score|points
        t person: teacher|professor|examiner|by
        p yes(passed/failed): passed|has_passed|success
        d date: date|exam_date|day|when
        """,
        """
        {n} got {g} in {s}[ from {t}|].
        {n} {p} the {s} exam[ on {d}|][ with {g} points|].
        {t} gave {n} {g} points in {s}.
        [Result|Exam result]: {n}, {s}, {g}, {p}.
        In {s}, {n} [scored|reached|has] {g} points and {p}.
        The {s} exam of {n} was on {d}; [he|she] {p}.
        [Student|Pupil] {n} {p} in {s} with {t}.
        """,
    ),
    "subscription": (
        """
        s brand: service|name|product|subscription
        m money: price|monthly_price|fee|cost
        d date: start|since|start_date|from
        e date: end|until|end_date|expires
        u person: user|customer|subscriber|owner
        a yes(renews itself/does not renew itself): auto_renew|renews|renewal
        """,
        """
        {u} [subscribed to|signed up for|ordered] {s} on {d} for {m} a month.
        The {s} subscription [costs|is] {m} a month and {a}.
        {s}: {m} a month from {d} until {e}.
        {u}'s {s} [plan|subscription] ends on {e} and {a}.
        [Your|The] subscription to {s} [started|began] on {d} and [ends|expires] on {e}.
        {u} pays {m} for {s}, which {a}.
        [Cancel|Stop|End] {s} for {u} on {e}.
        """,
    ),
    "rental": (
        """
        i item: item|object|what|thing
        n person: name|renter|customer|who
        d date: from|start|pickup|from_date
        e date: to|end|return|return_date
        p money: price|rate|price_per_day|cost
        z money: deposit|security|deposit_amount
        """,
        """
        {n} rents {i} from {d} to {e}.
        {n} [takes|borrows|rents] {i} for {p} a day[, deposit {z}|].
        [Rental|Booking]: {i}, {n}, {d} until {e}, {p} a day.
        The {i} must be back on {e}; {n} paid a deposit of {z}.
        {i} for {n}, pickup {d}, return {e}.
        [Rent|Hire] {i} from {d}: {p} a day and {z} deposit.
        {n} left {z} as deposit for {i}.
        """,
    ),
    "vehicle_trip": (
        """
        d person: driver|name|who|driven_by
        l code: plate|vehicle|car|license
        f city: from|start|origin|departure
        t city: to|end|destination|arrival
        k population: km|distance|distance_km|kilometers
        u decimal: liters|fuel|fuel_used|litres
        """,
        """
        {d} drove {l} from {f} to {t}, {k} km[, {u} liters|].
        [Trip|Log|Drive]: {f} to {t}, {k} km, car {l}, driver {d}.
        Car {l} [used|needed|burned] {u} liters from {f} to {t}.
        From {f} to {t} {d} needed {u} liters for {k} km.
        {k} km with {l}: {d} went from {f} to {t}.
        {l}, {d}, {f} - {t}, {k} km
        """,
    ),
    "plant": (
        """
        n word: name|plant|species|called
        w count: water_days|water_every|days|interval
        l enum(sun=full sun/a sunny place; shade=shade/a shady place; half=half shade): light|place|needs
        h count: height|height_cm|cm|size
        p money: price|cost|price_each
        t yes(is poisonous/is not poisonous): poisonous|toxic|is_toxic
        """,
        """
        [The|A] {n} needs {l} and water every {w} days.
        {n} [grows|gets] {h} cm high and {t}.
        Water the {n} every {w} days; it {t}.
        {n}, {h} cm, {l}, {p}.
        For {p} you get a {n} of {h} cm. It needs {l}.
        [Give|Put] the {n} {l}; it grows to {h} cm.
        The {n} costs {p} and {t}.
        """,
    ),
    "support": (
        """
        u person: user|name|customer|from
        d brand: device|product|machine|system
        p phrase: problem|issue|error|summary
        v code: version|model|serial|build
        u2 enum(low=when you have time/no hurry; high=urgent/as soon as possible): urgency|priority|hurry
        """,
        """
        {u} [has|reports|sees] {p} on the {d}[ version {v}|].
        [My|Our|The] {d} (version {v}) shows {p}. [It is|That's] {u2}. {u}
        {d} {v}: {p}. {u2}. Reported by {u}.
        [Hello|Hi], I'm {u}. [The|My] {d} has {p}.
        [Help|Support] needed: {p}, {d}, {u2}.
        {u} needs help with {p} on {d}, {u2}.
        Since the update to {v} the {d} of {u} shows {p}.
        """,
    ),
}
