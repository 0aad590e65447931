"""Builds the packaged files of kimi_sdk/data from their public sources.

``countries FOLDER``: the package of PyPI countryinfo 1.0.1, unpacked. ``words FOLDER``: folder ``wordnet``
of Debian's wordnet-base 3.0, unpacked; PyPI wordfreq 3 must be installed, it only ranks the words by use.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "kimi_sdk" / "data"

# Entries that repeat another one, or name what no longer exists.
DROPPED = {
    "Antilles néerlandaises",
    "Serbia and Montenegro",
    "Palestine, State of",
    "Holy See (Vatican City State)",
}
RENAMED = {
    "Republic of Macedonia": "North Macedonia",
    "Swaziland": "Eswatini",
    "Vatican City State": "Vatican City",
    "The Bahamas": "Bahamas",
    "The Gambia": "Gambia",
    "Federated States of Micronesia": "Micronesia",
    "Virgin Islands, British": "British Virgin Islands",
    "Virgin Islands, U.S.": "United States Virgin Islands",
}
ALIASES = {
    "Brunei": ["Brunei Darussalam"],
    "Cape Verde": ["Cabo Verde"],
    "Czech Republic": ["Czechia"],
    "Democratic Republic of the Congo": ["DR Congo", "DRC", "Congo-Kinshasa"],
    "East Timor": ["Timor-Leste"],
    "Eswatini": ["Swaziland"],
    "Ivory Coast": ["Côte d'Ivoire", "Cote d'Ivoire"],
    "Macau": ["Macao"],
    "Myanmar": ["Burma"],
    "Netherlands": ["Holland", "The Netherlands"],
    "North Macedonia": ["Macedonia", "Republic of Macedonia"],
    "Republic of the Congo": ["Congo", "Congo-Brazzaville"],
    "South Korea": ["Republic of Korea"],
    "Turkey": ["Türkiye", "Turkiye"],
    "United Arab Emirates": ["UAE", "Emirates"],
    "United Kingdom": ["Britain", "England", "U.K."],
    "United States": ["America", "U.S.", "U.S.A.", "the States"],
    "Vatican City": ["Vatican", "Holy See"],
}
# Codes that were replaced, and codes that are no money one can hold (fund and settlement codes).
MONEY = {
    "BGN": "EUR", "BYR": "BYN", "HRK": "EUR", "MRO": "MRU", "SLL": "SLE", "STD": "STN", "VEF": "VES",
    "ZMK": "ZMW", "USN": "", "USS": "", "CHE": "", "CHW": "", "BOV": "", "CLF": "", "UYI": "", "CUC": "",
    "CSD": "",
}  # fmt: skip
CAPITALS_ADDED = {"Macau": "Macau"}
LANGUAGES_ADDED = {"Malaysia": ["ms"], "Martinique": ["fr"], "Mayotte": ["fr"], "Réunion": ["fr"]}
CURRENCIES = """
AED United Arab Emirates dirham|AFN Afghan afghani|ALL Albanian lek|AMD Armenian dram|AOA Angolan kwanza
ARS Argentine peso|AUD Australian dollar|AWG Aruban florin|AZN Azerbaijani manat|BAM convertible mark
BBD Barbadian dollar|BDT Bangladeshi taka|BHD Bahraini dinar|BIF Burundian franc|BMD Bermudian dollar
BND Brunei dollar|BOB Bolivian boliviano|BRL Brazilian real|BSD Bahamian dollar|BTN Bhutanese ngultrum
BWP Botswana pula|BYN Belarusian ruble|BZD Belize dollar|CAD Canadian dollar|CDF Congolese franc
CHF Swiss franc|CLP Chilean peso|CNY Chinese yuan|COP Colombian peso|CRC Costa Rican colon|CUP Cuban peso
CVE Cape Verdean escudo|CZK Czech koruna|DJF Djiboutian franc|DKK Danish krone|DOP Dominican peso
DZD Algerian dinar|EGP Egyptian pound|ERN Eritrean nakfa|ETB Ethiopian birr|EUR euro|FJD Fijian dollar
FKP Falkland Islands pound|GBP pound sterling|GEL Georgian lari|GHS Ghanaian cedi|GIP Gibraltar pound
GMD Gambian dalasi|GNF Guinean franc|GTQ Guatemalan quetzal|GYD Guyanese dollar|HKD Hong Kong dollar
HNL Honduran lempira|HTG Haitian gourde|HUF Hungarian forint|IDR Indonesian rupiah|ILS Israeli new shekel
INR Indian rupee|IQD Iraqi dinar|IRR Iranian rial|ISK Icelandic krona|JMD Jamaican dollar
JOD Jordanian dinar|JPY Japanese yen|KES Kenyan shilling|KGS Kyrgyz som|KHR Cambodian riel
KMF Comorian franc|KPW North Korean won|KRW South Korean won|KWD Kuwaiti dinar|KYD Cayman Islands dollar
KZT Kazakh tenge|LAK Lao kip|LBP Lebanese pound|LKR Sri Lankan rupee|LRD Liberian dollar|LSL Lesotho loti
LYD Libyan dinar|MAD Moroccan dirham|MDL Moldovan leu|MGA Malagasy ariary|MKD Macedonian denar
MMK Burmese kyat|MNT Mongolian tugrik|MOP Macanese pataca|MRU Mauritanian ouguiya|MUR Mauritian rupee
MVR Maldivian rufiyaa|MWK Malawian kwacha|MXN Mexican peso|MYR Malaysian ringgit|MZN Mozambican metical
NAD Namibian dollar|NGN Nigerian naira|NIO Nicaraguan cordoba|NOK Norwegian krone|NPR Nepalese rupee
NZD New Zealand dollar|OMR Omani rial|PAB Panamanian balboa|PEN Peruvian sol|PGK Papua New Guinean kina
PHP Philippine peso|PKR Pakistani rupee|PLN Polish zloty|PYG Paraguayan guarani|QAR Qatari riyal
RON Romanian leu|RSD Serbian dinar|RUB Russian ruble|RWF Rwandan franc|SAR Saudi riyal
SBD Solomon Islands dollar|SCR Seychellois rupee|SDG Sudanese pound|SEK Swedish krona|SGD Singapore dollar
SHP Saint Helena pound|SLE Sierra Leonean leone|SOS Somali shilling|SRD Surinamese dollar
SSP South Sudanese pound|STN Sao Tome and Principe dobra|SVC Salvadoran colon|SYP Syrian pound
SZL Swazi lilangeni|THB Thai baht|TJS Tajikistani somoni|TMT Turkmenistani manat|TND Tunisian dinar
TOP Tongan pa'anga|TRY Turkish lira|TTD Trinidad and Tobago dollar|TWD New Taiwan dollar
TZS Tanzanian shilling|UAH Ukrainian hryvnia|UGX Ugandan shilling|USD United States dollar
UYU Uruguayan peso|UZS Uzbekistani sum|VES Venezuelan bolivar|VND Vietnamese dong|VUV Vanuatu vatu
WST Samoan tala|XAF Central African CFA franc|XCD East Caribbean dollar|XOF West African CFA franc
XPF CFP franc|YER Yemeni rial|ZAR South African rand|ZMW Zambian kwacha
"""
LANGUAGES = """
af Afrikaans|am Amharic|ar Arabic|ay Aymara|az Azerbaijani|be Belarusian|bg Bulgarian|bi Bislama|bn Bengali
bs Bosnian|ca Catalan|ch Chamorro|cnr Montenegrin|cs Czech|da Danish|de German|dv Dhivehi|dz Dzongkha
el Greek|en English|es Spanish|et Estonian|fa Persian|ff Fula|fi Finnish|fj Fijian|fo Faroese|fr French
ga Irish|gn Guarani|gv Manx|he Hebrew|hi Hindi|hr Croatian|ht Haitian Creole|hu Hungarian|hy Armenian
id Indonesian|is Icelandic|it Italian|ja Japanese|ka Georgian|kg Kongo|kk Kazakh|kl Greenlandic|km Khmer
ko Korean|ku Kurdish|ky Kyrgyz|la Latin|lb Luxembourgish|ln Lingala|lo Lao|lt Lithuanian|lu Luba-Katanga
lv Latvian|mg Malagasy|mh Marshallese|mi Maori|mk Macedonian|mn Mongolian|ms Malay|mt Maltese|my Burmese
na Nauruan|nb Norwegian Bokmal|nd Northern Ndebele|ne Nepali|nl Dutch|nn Norwegian Nynorsk|no Norwegian
nr Southern Ndebele|ny Chichewa|oc Occitan|pa Punjabi|pl Polish|ps Pashto|pt Portuguese|qu Quechua
rn Kirundi|ro Romanian|rs Serbian|ru Russian|rw Kinyarwanda|sg Sango|si Sinhala|sk Slovak|sl Slovene
sm Samoan|sn Shona|so Somali|sq Albanian|sr Serbian|ss Swazi|st Southern Sotho|sv Swedish|sw Swahili
ta Tamil|tg Tajik|th Thai|ti Tigrinya|tk Turkmen|tn Tswana|to Tongan|tr Turkish|ts Tsonga|uk Ukrainian
ur Urdu|uz Uzbek|ve Venda|vi Vietnamese|xh Xhosa|zh Chinese|zu Zulu
"""


def table(text: str) -> dict[str, str]:
    rows = [row for line in text.strip().splitlines() for row in line.split("|")]
    return {code: name for code, _, name in (row.partition(" ") for row in rows)}


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def countries(package: Path) -> None:
    """One object a country: name, other names, and the facts that ``country_facts`` tells."""
    currencies, languages = table(CURRENCIES), table(LANGUAGES)
    entries: dict[str, dict[str, Any]] = {}
    codes: dict[str, str] = {}
    for path in sorted((package / "data").glob("*.json")):
        raw = json.loads(path.read_text("utf-8"))
        name = RENAMED.get(raw["name"], raw["name"])
        raw["capital"] = raw.get("capital") or CAPITALS_ADDED.get(name)
        if raw["name"] in DROPPED or name in entries or not (raw["capital"] and raw.get("population")):
            continue
        money = [MONEY.get(code, code) for code in raw["currencies"] or ()]
        codes[raw["ISO"]["alpha3"]] = name
        others = [raw["name"], *raw.get("altSpellings", ()), *ALIASES.get(name, ()), *raw["ISO"].values()]
        entries[name] = {
            "aliases": sorted({alias for alias in others if alias and not alias.isdigit()} - {name}),
            "capital": raw["capital"],
            "population": raw["population"],
            "area": raw.get("area") or None,
            "currency": [f"{currencies[code]} ({code})" for code in dict.fromkeys(money) if code],
            "languages": [languages[code] for code in raw["languages"] or LANGUAGES_ADDED.get(name, ())],
            "region": ", ".join(part for part in (raw.get("subregion"), raw.get("region")) if part),
            "borders": raw.get("borders") or [],
        }
    for entry in entries.values():
        entry["borders"] = sorted(codes[code] for code in entry["borders"] if code in codes)
    text = ",\n".join(
        f"{json.dumps(name, ensure_ascii=False)}:{compact(entry)}" for name, entry in sorted(entries.items())
    )
    (DATA / "countries.json").write_text("{\n" + text + "\n}\n", "utf-8")
    print(f"{len(entries)} countries")


KINDS = {"noun": "1", "verb": "2", "adj": "3", "adv": "4"}
LABELS = {"noun": "noun", "verb": "verb", "adj": "adjective", "adv": "adverb"}
LONGEST = 120
BYTES = 900_000


def gloss(text: str) -> str:
    """The definition without examples, cut between its parts where it is long."""
    parts = [part.strip() for part in text.split(";") if part.strip() and not part.strip().startswith('"')]
    kept = re.split(r':\s|"', parts[0])[0].strip()
    if len(kept) > 90:
        kept = re.sub(r"\s*\([^()]*\)", "", kept) or kept
    for part in parts[1:]:
        if len(kept) + len(part) + 2 > 70 or '"' in part:
            break
        kept = f"{kept}; {part}"
    kept = re.sub(r"\s+", " ", kept).strip(" :")
    if len(kept) <= LONGEST:
        return kept
    joints = [
        m.start() for m in re.finditer(r",? (?:with|having|that|which|and|or|by|for|from|usually) ", kept)
    ]
    return kept[: max((at for at in joints if 40 < at <= LONGEST), default=len(kept))].rstrip(",")


def counts(folder: Path) -> dict[tuple[str, str, int], int]:
    """How often each sense occurs in tagged text, by (lemma, kind, sense number)."""
    found = {}
    for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
        key, number, count = line.split()
        lemma, _, sense = key.partition("%")
        kind = {"5": "3"}.get(sense[0], sense[0])
        found[lemma, kind, int(number)] = int(count)
    return found


def senses(folder: Path) -> dict[str, tuple[int, str, str]]:
    """For each lemma: how common it is, and kind and gloss of its most common sense."""
    tagged = counts(folder)
    best: dict[str, tuple[int, str, str]] = {}
    for kind, code in KINDS.items():
        glosses = {}
        for line in (folder / f"data.{kind}").read_text("utf-8").splitlines():
            if not line.startswith("  "):
                glosses[line[:8]] = gloss(line.partition(" | ")[2])
        for line in (folder / f"index.{kind}").read_text("utf-8").splitlines():
            if line.startswith("  "):
                continue
            lemma, *rest = line.split()
            first = glosses[rest[-int(rest[1])]]
            total = tagged.get((lemma, code, 1), 0)
            # A noun is what people mostly ask for, so another kind must be clearly more common.
            if lemma not in best or total > 2 * best[lemma][0] + 5:
                best[lemma] = (total, LABELS[kind], first)
    return best


def words(folder: Path) -> None:
    """Lines of lemma, kind, definition; then lines of irregular form and lemma, marked by "="."""
    found = senses(folder)
    from wordfreq import zipf_frequency

    plain = re.compile(r"[a-z]+([-'][a-z]+)*")
    usable = {
        lemma: sense
        for lemma, sense in found.items()
        if plain.fullmatch(lemma.replace("_", "")) and len(sense[2]) <= LONGEST
    }
    common = {lemma: zipf_frequency(lemma.replace("_", " "), "en") for lemma in usable}
    # wordfreq guesses phrases from their words, which is too much; WordNet's tagged text helps them.
    common |= {lemma: common[lemma] - 1.3 + usable[lemma][0] / 10 for lemma in usable if "_" in lemma}
    ranked = sorted(usable, key=lambda lemma: (-common[lemma], lemma))
    low, high = 0, len(ranked)
    while high - low > 100:
        middle = (low + high) // 2
        low, high = (middle, high) if len(pack(folder, usable, ranked[:middle])) <= BYTES else (low, middle)
    (DATA / "words.txt.gz").write_bytes(pack(folder, usable, ranked[:low]))
    print(f"{low} words of {len(ranked)}")


def pack(folder: Path, usable: dict[str, tuple[int, str, str]], chosen: list[str]) -> bytes:
    known = set(chosen)
    lines = [f"{w.replace('_', ' ')}\t{usable[w][1]}\t{usable[w][2]}" for w in sorted(chosen)]
    irregular = {}
    for kind in ("verb", "noun", "adj", "adv"):
        for line in (folder / f"{kind}.exc").read_text("utf-8").splitlines():
            form, lemma = line.split()[:2]
            if lemma in known and form not in known and "_" not in form:
                irregular.setdefault(form, lemma)
    lines += [f"={form}\t{lemma}" for form, lemma in sorted(irregular.items())]
    return gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0)


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("countries", "words"))
    parser.add_argument("source", type=Path)
    given = parser.parse_args(argv)
    {"countries": countries, "words": words}[given.what](given.source)


if __name__ == "__main__":
    main(sys.argv[1:])
