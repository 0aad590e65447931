"""Sentences put together from attributes of a thing, each said in one of several ways; and the fields they fill.

Unlike a domain, whose sentences are whole, a description here is a random set of attributes in a random order:
field names and their wordings meet in ever new company.
"""

from __future__ import annotations

import random
from typing import Any

from training.data import words
from training.data.assistant import new_world, system_prompt
from training.data.extraction import ask, built, field_schema, finish, spelled_key
from training.data.frames import Pool, fill
from training.data.sample import Sample
from training.data.values import Kind, Value

# kind | field names | ways to say it (after the thing's name), separated by "/"
TABLE = """
money | price,cost,price_eur,unit_price | costs {v}/is priced at {v}/sells for {v}/goes for {v}/has a price of {v}
decimal | weight,weight_kg,kg,mass | weighs {v} kg/has a weight of {v} kg/is {v} kg heavy/brings {v} kg to the scale
count | length,length_cm,cm,size_cm | is {v} cm long/measures {v} cm/has a length of {v} cm
count | height,height_m,tall,meters | is {v} meters high/stands {v} meters tall/has a height of {v} meters
colour | color,colour,paint,shade | is {v}/is painted {v}/comes in {v}/has a {v} color
person | owner,belongs_to,owned_by,holder | belongs to {v}/is owned by {v}/is the property of {v}/has {v} as its owner
person | author,creator,made_by,by,maker | was made by {v}/was created by {v}/is a work of {v}/comes from the hand of {v}
person | contact,contact_person,responsible,in_charge | is looked after by {v}/has {v} as contact/is in the care of {v}
person | director,boss,head,leader,manager | is led by {v}/has {v} as its head/is run by {v}/is managed by {v}
city | city,location,place,where,town | is in {v}/is located in {v}/stands in {v}/can be found in {v}/lies in {v}
city | origin,made_in,from,birthplace | comes from {v}/was made in {v}/has its origin in {v}/originates from {v}
city | destination,to,target,goes_to | goes to {v}/is on its way to {v}/will be sent to {v}/travels to {v}
date | date,day,on,when | is on {v}/takes place on {v}/is planned for {v}/happens on {v}
date | due,deadline,due_date,until,by | is due on {v}/must be done by {v}/has to be ready by {v}/has its deadline on {v}
date | created,start,start_date,since,from_date | started on {v}/was created on {v}/began on {v}/exists since {v}
clock | time,start_time,at,starts_at | starts at {v}/begins at {v}/opens at {v}/is at {v}
clock | end_time,closes,ends_at,until_time | ends at {v}/closes at {v}/is over at {v}
year | year,built,founded,since_year | was built in {v}/was founded in {v}/dates from {v}/is from {v}
age | age,age_years,years,years_old | is {v} years old/has an age of {v}/turned {v}
count | count,quantity,number,amount,stock | has {v} pieces/comes in {v} pieces/consists of {v} parts/is there {v} times
count | guests,visitors,people,participants | has {v} visitors/welcomes {v} people/counts {v} participants/is for {v} persons
count | rooms,room_count,number_of_rooms | has {v} rooms/offers {v} rooms/contains {v} rooms
count | pages,page_count,length_pages | has {v} pages/is {v} pages long/fills {v} pages
count | minutes,duration,duration_minutes,takes | takes {v} minutes/lasts {v} minutes/needs {v} minutes/runs for {v} minutes
count | speed,kmh,max_speed,top_speed | reaches {v} km/h/does {v} km/h/has a top speed of {v} km/h/moves at {v} km/h
count | seats,places,capacity | has {v} seats/has room for {v}/offers {v} places/seats {v}
population | population,inhabitants,residents,members | has {v} inhabitants/is home to {v} people/counts {v} members
rating | rating,stars,score,points | got {v} stars/is rated {v}/has a rating of {v}/scored {v} points
temperature | temperature,degrees,temp,celsius | has {v} degrees/is at {v} degrees/shows a temperature of {v} degrees
code | id,code,number,reference,key | has the number {v}/is registered as {v}/carries the code {v}/has the id {v}
code | room,hall,room_number,where_room | is in room {v}/takes place in room {v}/can be found in room {v}
email | email,mail,email_address,contact_email | can be reached at {v}/has the mail {v}/uses {v}
phone | phone,telephone,phone_number,tel | has the phone number {v}/answers at {v}/can be called at {v}
item | material,made_of,stuff,substance | is made of {v}/consists of {v}/was made from {v}
job | job,profession,occupation,role | works as a {v}/is a {v} by profession/earns money as a {v}
word | category,type,kind,class,genre | is a kind of {v}/belongs to the {v} category/counts as {v}
word | status,state,condition | has the status {v}/is marked as {v}/is in state {v}
brand | brand,company,maker,manufacturer,vendor | is from the company {v}/is built by {v}/is sold by {v}/carries the brand {v}
brand | team,club,group,department | plays for {v}/is part of {v}/is a member of {v}/belongs to the group {v}
title | title,subject,topic,about | is about "{v}"/carries the title "{v}"/is called "{v}"
list | items,parts,contents,contains,ingredients | contains {v}/includes {v}/comes with {v}/holds {v}
names | members,people_list,authors,team_members | was done by {v}/is the work of {v}/unites {v}
yes(is available/is not available) | available,in_stock,is_available | {v}
yes(is open/is closed) | open,is_open | {v}
yes(works/is broken) | works,working,is_working,ok | {v}
yes(has been paid/has not been paid) | paid,is_paid,payed | {v}
yes(is new/is used) | new,is_new | {v}
yes(is active/is not active) | active,is_active,enabled | {v}
yes(is for sale/is not for sale) | for_sale,sale,on_sale | {v}
yes(is waterproof/is not waterproof) | waterproof,is_waterproof | {v}
enum(small=is small/is of small size; medium=is of medium size/is medium; large=is large/is of large size) | size,format | {v}
enum(low=is of low importance/has low priority; medium=has medium priority; high=is very important/has high priority) | priority,importance,urgency | {v}
enum(open=is still open/is not done; done=is done/is finished; waiting=is waiting/is on hold) | status,state,progress | {v}
enum(cash=is paid in cash; card=is paid by card; transfer=is paid by bank transfer) | payment,pay_by,payment_method | {v}
enum(morning=comes in the morning; noon=comes at noon; evening=comes in the evening) | daytime,part_of_day,when_of_day | {v}
enum(male=is a man/is male; female=is a woman/is female) | gender,sex | {v}
"""
FRAMES = Pool(
    "attribute.frame",
    """
    {n} {a}.
    {n} {a} and {b}.
    {n} {a}, {b} and {c}.
    {n} {a}. It {b}.
    {n} {a} and {b}. It {c}.
    {n} {a}. It {b} and {c}.
    {n} {a}, {b}, {c} and {d}.
    {n}, which {a}, {b}.
    {n}, which {a}, {b} and {c}.
    {n}, which {a} and {b}, {c}.
    {n} {a}. It also {b}. [Moreover|Besides], it {c}.
    {n} {a}, and it {b}. It {c} and {d}.
    [We have|There is|I know|They sell|Look at] {n}. It {a} and {b}.
    [We have|There is|I know] {n}, which {a}, {b} and {c}.
    [About|Concerning|As for] {n}: it {a}, {b} and {c}.
    [Note|Info|News]: {n} {a}[,| and] {b}.
    {n} {a} but {b}.
    [The fact is that|I heard that|They say] {n} {a}, {b} and also {c}.
    {n}: {a}; {b}; {c}.
    {n}: {a}; {b}; {c}; {d}.
    - {n}⏎- {a}⏎- {b}⏎- {c}
    [Apparently|Today|In fact], {n} {a} and {b}.
    It {a}, {b} and {c}: {n}.
    """,
)
NAMES = ("name", "thing", "object", "title", "subject", "entry", "item")


class Attribute:
    """A field and the ways to say it."""

    def __init__(self, line: str) -> None:
        kind, keys, ways = (part.strip() for part in line.split(" | "))
        self.kind = Kind(kind)
        self.keys = keys.split(",")
        self.ways = Pool(f"attribute.{self.keys[0]}.{kind}", said(ways))

    def told(self, rng: random.Random, held: bool) -> tuple[str, Value]:
        value = self.kind.value(rng, held)
        return fill(self.ways.pieces(rng, held), {"v": value[0]}), value


def said(ways: str) -> list[str]:
    """The ways of one line; "km/h" is no separator."""
    return [way.replace("\0", "km/h") for way in ways.replace("km/h", "\0").split("/")]


ATTRIBUTES = [Attribute(line) for line in TABLE.strip().splitlines()]


def describe(rng: random.Random, held: bool = False) -> Sample:
    """A thing with two to four attributes, and a record of some of them."""
    world = new_world(rng, held)
    system_prompt(world, 0.12)
    pieces = FRAMES.pieces(rng, held)
    slots = [slot for slot in "abcd" if any(piece == slot and type(piece) is not str for piece in pieces)]
    chosen: list[Attribute] = []
    keys: set[str] = set()
    while len(chosen) < len(slots):
        attribute = rng.choice(ATTRIBUTES)
        if not keys & set(attribute.keys):
            keys |= set(attribute.keys)
            chosen.append(attribute)
    roll = rng.random()
    name = (
        words.full_name(rng, held)
        if roll < 0.2
        else words.phrase(rng, held, 3)
        if roll < 0.5
        else words.word(rng, held)
    )
    name = name[:1].upper() + name[1:] if rng.random() < 0.5 else name
    shown = (
        f"{rng.choice(('the', 'The', 'our', 'this'))} {name}" if roll >= 0.5 and rng.random() < 0.7 else name
    )
    told = {"n": shown}
    values: list[tuple[Attribute, Value]] = []
    for slot, attribute in zip(slots, chosen, strict=True):
        told[slot], value = attribute.told(rng, held)
        values.append((attribute, value))
    text = fill(pieces, told)
    rng.shuffle(values)
    keep = len(values) if rng.random() < 0.65 else rng.randint(1, len(values))
    properties: dict[str, Any] = {}
    answer: dict[str, Any] = {}
    required: list[str] = []
    if rng.random() < 0.6:
        key = rng.choice(NAMES)
        properties[key], answer[key] = {"type": "string"}, name
        required.append(key)
    for attribute, value in values[:keep]:
        key = spelled_key(rng, attribute.keys)
        if key in properties:
            continue
        optional = rng.random() < 0.12
        properties[key] = field_schema(rng, value, key, attribute.keys[0], optional)
        answer[key] = value[1]
        if not optional:
            required.append(key)
    if rng.random() < 0.12:
        other = rng.choice(ATTRIBUTES)
        key = other.keys[0]
        if not keys & set(other.keys) and key not in properties:
            properties[key] = {
                "anyOf": [dict(other.kind.value(rng, held)[2]), {"type": "null"}],
                "default": None,
            }
            answer[key] = None
    if not answer:
        return describe(rng, held)
    ask(world, text if text.startswith(name) else text[:1].upper() + text[1:])
    return finish(world, built(rng, properties, required), answer)
