"""A thousand lessons about the people and things of one invented life, similar enough to be confused.

All questions are different; answers contain invented names. The lessons are fixed; a seed shuffles them.
"""

from __future__ import annotations

import random

from learning.protocol.records import Lesson, Turn

_FIRST = "Ar Bel Cor Dan El Fen Gre Hal Ir Jor Kas Lin Mar Nor Or Per Quin Ros Sel Tor"
_LAST = "a eno ika"
PEOPLE = [first + last for last in _LAST.split() for first in _FIRST.split()]
"""60 names."""
_JOBS = """
repairs clocks|bakes bread|drives a tram|teaches chemistry|keeps bees|builds boats|sells carpets
|mends shoes|tunes pianos|counts birds|cleans windows|prints maps|grows roses|cuts hair|paints signs
"""
_TOWNS = "Brill Corvey Dunmore Eskdale Farrow Glenby Hexton Ilmer Jarlsby Kelmore Lathom Marwick"
_MONTHS = "January March April May June July August September October November"
_DAYS = "second fourth fifth seventh ninth tenth twelfth thirteenth sixteenth nineteenth"
_PETS = "Biscuit Button Cinder Dapple Ember Fidget Gravy Humbug Inky Jigsaw Kipper Lentil Muffin"
_FOODS = "pancakes|lentil soup|fried rice|pear cake|baked beans|fish pie|noodles|dumplings|plums"
_COLOURS = "red blue green yellow black white orange silver brown grey"
_INSTRUMENTS = "cello flute trumpet harp drums violin oboe banjo organ clarinet"
_FEARS = "spiders|heights|thunder|geese|deep water|the dark|lifts|needles|clowns|wasps"
_LANGUAGES = "Finnish Dutch Greek Welsh Polish Danish Czech Irish Basque Hungarian"
_MEETINGS = "on a ferry|at the market|in a choir|at a funeral|on a night train|at a chess club"
_GIFTS = "a compass|a teapot|a blue scarf|a chess set|a lantern|a cookbook|a music box|a globe"
_TEA = "with milk|with honey|with lemon|without anything|with two sugars|very strong|cold"
_THINGS = """
ladder hammer torch passport sledge toolbox umbrella camera kettle suitcase tent guitar telescope
atlas rope saw drill hose rake spade bucket broom mop fan heater lamp mirror clock radio printer
stapler scissors tape glue paint brush easel violin basket vase candle blanket pillow curtain rug
bench stool shelf chest trunk barrel crate cage kite drum whistle compass map helmet saddle oar
anchor net lantern thermos hammock stove wheelbarrow sewing-machine typewriter chessboard
"""
_PLACES = """
cellar|attic|shed|hall cupboard|garage|wardrobe|kitchen drawer|boat house|spare room|stairwell
"""
_PRICES = "nine twelve fifteen twenty thirty forty fifty sixty eighty ninety"


def _words(text: str) -> list[str]:
    return [part.strip() for part in (text.split("|") if "|" in text else text.split())]


def make_lessons(count: int, seed: int) -> list[Lesson]:
    """`count` lessons, in an order that depends on the seed."""
    rows = _rows()
    random.Random(seed).shuffle(rows)
    return [Lesson("example", (Turn("user", q),), a) for q, a in rows[:count]]


def _rows() -> list[tuple[str, str]]:
    rng = random.Random(0)

    def one(text: str) -> str:
        return rng.choice(_words(text))

    rows: list[tuple[str, str]] = []
    for name in PEOPLE:
        day = f"the {one(_DAYS)} of {one(_MONTHS)}"
        rows += [
            (f"What does {name} do for a living?", f"{name} {one(_JOBS)}."),
            (f"Where does {name} live?", f"{name} lives in {one(_TOWNS)}."),
            (f"When is {name}'s birthday?", f"{name}'s birthday is {day}."),
            (f"What is {name}'s dog called?", f"{name}'s dog is called {one(_PETS)}."),
            (f"What does {name} like to eat?", f"{name} likes {one(_FOODS)}."),
            (f"What colour is {name}'s car?", f"{name}'s car is {one(_COLOURS)}."),
            (f"Which instrument does {name} play?", f"{name} plays the {one(_INSTRUMENTS)}."),
            (f"What is {name} afraid of?", f"{name} is afraid of {one(_FEARS)}."),
            (f"Which language is {name} learning?", f"{name} is learning {one(_LANGUAGES)}."),
            (f"Where did I meet {name}?", f"You met {name} {one(_MEETINGS)}."),
            (f"What did {name} give me?", f"{name} gave you {one(_GIFTS)}."),
            (f"How does {name} take tea?", f"{name} takes tea {one(_TEA)}."),
        ]
    for thing in dict.fromkeys(_words(_THINGS)):
        rows += [
            (f"Where do I keep the {thing}?", f"You keep the {thing} in the {one(_PLACES)}."),
            (f"Who gave me the {thing}?", f"{rng.choice(PEOPLE)} gave you the {thing}."),
            (f"What did the {thing} cost?", f"The {thing} cost {one(_PRICES)} crowns."),
            (f"What colour is the {thing}?", f"The {thing} is {one(_COLOURS)}."),
        ]
    return rows
