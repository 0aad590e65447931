"""The tool ``convert_units``: exact factors to one base unit for each kind of quantity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from kimi_sdk.errors import Retry
from kimi_sdk.tools.arithmetic import rounding, significant


@dataclass(frozen=True, slots=True)
class Unit:
    """``value * factor + offset`` is the same quantity in the base unit of its kind."""

    kind: str
    factor: Fraction
    offset: Fraction = Fraction(0)


# Kind, then lines of "factor: names"; the names of a line are one unit, and "s" may follow any long one.
TABLE = {
    "length": """
1: m meter metre
1e-9: nm nanometer nanometre
1e-6: um µm micrometer micrometre micron
1e-3: mm millimeter millimetre
1e-2: cm centimeter centimetre
1e-1: dm decimeter decimetre
1e3: km kilometer kilometre
0.0254: in inch inches "
0.3048: ft foot feet '
0.9144: yd yard
1609.344: mi mile
1852: nmi nautical-mile
9460730472580800: ly light-year lightyear
149597870700: au astronomical-unit
""",
    "mass": """
1: kg kilogram kilogramme kilo
1e-9: ug µg microgram
1e-6: mg milligram
1e-3: g gram gramme
1e3: t tonne metric-ton
0.45359237: lb lbs pound
0.028349523125: oz ounce
6.35029318: st stone
907.18474: ton short-ton us-ton
1016.0469088: long-ton
""",
    "volume": """
1: l liter litre
1e-3: ml milliliter millilitre cc cm3 cubic-centimeter cubic-centimetre
1e-2: cl centiliter centilitre
1e-1: dl deciliter decilitre
1e3: m3 cubic-meter cubic-metre
3.785411784: gal gallon us-gallon
0.946352946: qt quart
0.473176473: pt pint
0.2365882365: cup
0.0295735295625: fl-oz floz fluid-ounce
0.01478676478125: tbsp tablespoon
0.00492892159375: tsp teaspoon
4.54609: imperial-gallon uk-gallon
0.56826125: imperial-pint uk-pint
28.316846592: ft3 cubic-foot cubic-feet
0.016387064: in3 cubic-inch cubic-inches
""",
    "time": """
1: s sec second
1e-9: ns nanosecond
1e-6: us µs microsecond
1e-3: ms millisecond
60: min minute
3600: h hr hour
86400: d day
604800: wk week
1209600: fortnight
2629746: mo month
31556952: yr year
315569520: decade
3155695200: century centuries
""",
    "speed": """
1: m/s mps meter-per-second metre-per-second meters-per-second metres-per-second
1/3.6: km/h kmh kph kilometer-per-hour kilometre-per-hour kilometers-per-hour kilometres-per-hour
0.44704: mph mi/h mile-per-hour miles-per-hour
0.3048: ft/s fps foot-per-second feet-per-second
1852/3600: kn kt knot
""",
    "area": """
1: m2 sqm sq-m square-meter square-metre
1e-4: cm2 sq-cm square-centimeter square-centimetre
1e-6: mm2 sq-mm square-millimeter square-millimetre
1e6: km2 sq-km square-kilometer square-kilometre
1e4: ha hectare
100: are
0.09290304: ft2 sqft sq-ft square-foot square-feet
0.00064516: in2 sqin sq-in square-inch square-inches
0.83612736: yd2 sq-yd square-yard
4046.8564224: ac acre
2589988.110336: mi2 sq-mi square-mile
""",
    "data size": """
1: B byte
1/8: b bit
1e3: kB KB kb kilobyte
1e6: MB mb megabyte
1e9: GB gb gigabyte
1e12: TB tb terabyte
1e15: PB pb petabyte
125: Kb kbit kilobit
125000: Mb mbit megabit
125000000: Gb gbit gigabit
1024: KiB kib kibibyte
1048576: MiB mib mebibyte
1073741824: GiB gib gibibyte
1099511627776: TiB tib tebibyte
""",
    "energy": """
1: J joule
1e3: kJ kilojoule
1e6: MJ megajoule
3600: Wh watt-hour
3600000: kWh kilowatt-hour
3600000000: MWh megawatt-hour
4.184: cal calorie
4184: kcal kilocalorie
1055.05585262: BTU btu british-thermal-unit
1.602176634e-19: eV electronvolt electron-volt
1.3558179483314004: ft-lb foot-pound
""",
}
TEMPERATURES = {
    ("K", "kelvin"): (Fraction(1), Fraction(0)),
    ("C", "°C", "celsius", "centigrade"): (Fraction(1), Fraction("273.15")),
    ("F", "°F", "fahrenheit"): (Fraction(5, 9), Fraction("459.67") * 5 / 9),
}


def _factor(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or "1")


def _exact() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for kind, lines in TABLE.items():
        for line in lines.strip().splitlines():
            factor, _, names = line.partition(": ")
            found.update(dict.fromkeys(names.split(), Unit(kind, _factor(factor))))
    for names_of, (factor_of, shift) in TEMPERATURES.items():
        found.update(dict.fromkeys(names_of, Unit("temperature", factor_of, shift)))
    return found


EXACT = _exact()
FOLDED: dict[str, Unit] = {}
for _name, _unit in EXACT.items():
    FOLDED.setdefault(_name.lower(), _unit)


def convert_units(
    value: Annotated[float, Field(description="How many")],
    from_unit: Annotated[str, Field(description="Such as km, pounds, celsius")],
    to_unit: Annotated[str, Field(description="Unit wanted")],
) -> str:
    """Convert a quantity to another unit."""
    source, target = _unit_of(from_unit), _unit_of(to_unit)
    if source.kind != target.kind:
        raise Retry(
            f"{from_unit} is a {source.kind} and {to_unit} is a {target.kind}: they cannot be converted."
        )
    try:
        amount = Fraction(repr(value))
    except ValueError:
        raise Retry(f"{value} is not a number that can be converted.") from None
    base = amount * source.factor + source.offset
    if source.kind == "temperature" and base < 0:
        raise Retry(f"{_digits(amount)} {from_unit} is below absolute zero.")
    return f"{_digits((base - target.offset) / target.factor)} {to_unit.strip()}"


def _unit_of(name: str) -> Unit:
    """The unit of a name in any usual spelling: "sq. ft", "Square Feet", "m²", "degrees Celsius"."""
    text = (
        name.strip().replace("²", "2").replace("³", "3").replace("^", "").replace("μ", "µ").replace("º", "°")
    )
    if text in EXACT:
        return EXACT[text]
    joined = "-".join(text.lower().replace(".", " ").replace("-", " ").split())
    for start in ("degrees-", "degree-", "deg-"):
        joined = joined.removeprefix(start)
    for candidate in (
        joined,
        joined.removesuffix("s"),
        joined.removesuffix("es"),
        joined.replace("s-per-", "-per-"),
    ):
        if candidate in FOLDED:
            return FOLDED[candidate]
    raise Retry(
        f"The unit {name!r} is not known; examples are km, miles, kg, pounds, liters, celsius, hours, mph."
    )


def _digits(value: Fraction) -> str:
    """At most 4 decimals, or 6 significant digits where the value is below 1 or very large."""
    if value == 0 or (value.denominator == 1 and abs(value) < 10**15):
        return str(value.numerator)
    if not 1 <= abs(value) < 10**15:
        return significant(value)
    whole, part = divmod(abs(rounding(value * 10**4)), 10**4)
    text = f"{whole}.{part:04d}".rstrip("0").rstrip(".")
    return f"-{text}" if value < 0 else text
