"""Lists of names, places and sounds, each a text of words."""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


ONSETS = listed(
    """
    b br bl c ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p ph pl pr qu r s sc sh sk sl sm sn sp st
    str t th tr v w wh y z zh
    """
)

VOWELS = listed(
    """
    a e i o u a e i o ai au ea ee ei ia ie io oa oo ou ue y
    """
)

CODAS = (
    listed(
        """
    b ck d f g k l ll m n nd ng nk nt p r rd rk rn rt s sh sk ss st t th x z
    """
    )
    + ("",) * 34
)

FIRST = listed(
    """
    Ada Aisha Alan Alice Amir Ana Andre Anna Anton Ben Bianca Boris Bruno Carla Carlos Chen Chloe Clara
    Claire Dana Daniel David Deepa Diego Dora Elena Elias Ella Emma Eric Erik Eva Farah Felix Fiona
    Frank Freya George Grace Greta Hana Hannah Hassan Helen Henry Hugo Ian Ida Igor Ines Ingrid Irene
    Isaac Ivan Jack Jamal James Jane Jin Joan John Jonas Jorge Julia Kai Karen Karl Kate Kenji Kim Laila
    Lara Lars Laura Lea Leo Liam Lina Linda Lucas Lucy Luis Maja Marco Maria Mark Marta Martin Mary
    Mateo Max Maya Mei Mia Mila Mira Mohamed Monica Nadia Nina Noah Nora Olga Oliver Omar Oscar Otto
    Paul Pavel Pedro Peter Petra Priya Rachel Rahul Ravi Rita Robert Rosa Ruth Sam Sana Sara Sofia Sonia
    Stefan Sven Tara Theo Thomas Tim Tina Tom Uma Vera Victor Wanda Wei Will Yara Yuki Yusuf Zara Zoe
    """
)

LAST = listed(
    """
    Adams Ali Andersen Baker Bauer Becker Bell Berg Brown Carter Chan Chen Clark Cohen Costa Cruz Diaz
    Dubois Evans Fischer Foster Garcia Gomez Gray Green Gupta Haas Hall Hansen Harris Hill Hughes Ito
    Ivanov Jackson Jansen Jones Kaya Kelly Khan Kim King Klein Kumar Lang Larsen Lee Lewis Lopez Marino
    Martin Meyer Miller Moore Morris Muller Murphy Nakamura Nguyen Novak Okafor Olsen Ortiz Park Patel
    Perez Peters Popov Price Reed Reyes Rossi Russo Santos Sato Schmidt Scott Silva Singh Smith Stone
    Suzuki Tanaka Taylor Torres Turner Vega Walker Wang Weber White Wilson Wong Wright Young Yilmaz
    Zhang
    """
)

CITIES = listed(
    """
    Accra Amsterdam Athens Austin Baghdad Bangkok Barcelona Basel Beijing Belfast Berlin Bergen Bogota
    Boston Bristol Brussels Budapest Cairo Calgary Chicago Cologne Cork Dakar Dallas Delhi Denver Dubai
    Dublin Edinburgh Florence Geneva Genoa Ghent Glasgow Hamburg Hanoi Havana Helsinki Houston Istanbul
    Jakarta Karachi Kyoto Lagos Leeds Leipzig Lima Lisbon London Lyon Madrid Manila Marseille Melbourne
    Miami Milan Montreal Moscow Mumbai Munich Nairobi Naples Nice Osaka Oslo Ottawa Oxford Paris Perth
    Porto Prague Quito Riga Rome Rotterdam Santiago Seattle Seoul Seville Sofia Stockholm Sydney Tallinn
    Tokyo Toronto Turin Utrecht Valencia Vienna Vilnius Warsaw York Zagreb Zurich
    """
)

MONTHS = listed(
    """
    January February March April May June July August September October November December
    """
)

WEEKDAYS = listed(
    """
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday
    """
)

TITLE_NOUNS = listed(
    """
    list plan ideas notes budget recipe meeting trip code password schedule project address party report
    order house garden team diary goals contacts menu
    """
)

NUMBER_WORDS = dict(
    zip(
        listed(
            """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
            """
        ),
        [*range(1, 21), 30, 40, 50, 60, 70, 80, 90],
        strict=True,
    )
)
