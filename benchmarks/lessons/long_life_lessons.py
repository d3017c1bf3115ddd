"""Ten thousand lessons about the people and things of one invented life, similar enough to be confused.

All questions are different, and each asks for another property of a person or thing, so no two lessons
contradict each other. The lessons are fixed; a seed shuffles them. The first 1,004 are the same for every
number of lessons, so a long run begins like a short one.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from engine.errors import DataError
from learning.protocol.records import Lesson, Turn

COUNT_VARIABLE = "VIDYA_LONG_LIFE_LESSONS"
"""The variable of the environment that says how many lessons are taught."""
_FIRST = "Ar Bel Cor Dan El Fen Gre Hal Ir Jor Kas Lin Mar Nor Or Per Quin Ros Sel Tor"
_LAST = "a eno ika"
PEOPLE = [first + last for last in _LAST.split() for first in _FIRST.split()]
"""60 names."""
_MORE_LAST = "ix une ard wen olo is etta uk yra ovan emi ush ando"
MORE_PEOPLE = [first + last for last in _MORE_LAST.split() for first in _FIRST.split()]
"""260 further names."""
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
    """`count` lessons, in an order that depends on the seed. Raises DataError for a number below 1 or above
    that of the lessons that can be made."""
    rows, more = _rows(), _more_rows()
    most = len(rows) + len(more)
    if not 1 <= count <= most:
        raise DataError(
            f"{count:,} lessons cannot be made ({COUNT_VARIABLE})", f"choose 1 to {most:,}"
        )
    for part in (rows, more):
        random.Random(seed).shuffle(part)
    return [Lesson("example", (Turn("user", q),), a) for q, a in [*rows, *more][:count]]


def _people_rows(name: str, one: Callable[[str], str]) -> list[tuple[str, str]]:
    """The properties of a person in the first lessons. one: draws one of the alternatives in a text."""
    day = f"the {one(_DAYS)} of {one(_MONTHS)}"
    return [
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


def _rows() -> list[tuple[str, str]]:
    rng = random.Random(0)

    def one(text: str) -> str:
        return rng.choice(_words(text))

    rows: list[tuple[str, str]] = []
    for name in PEOPLE:
        rows += _people_rows(name, one)
    for thing in dict.fromkeys(_words(_THINGS)):
        rows += [
            (f"Where do I keep the {thing}?", f"You keep the {thing} in the {one(_PLACES)}."),
            (f"Who gave me the {thing}?", f"{rng.choice(PEOPLE)} gave you the {thing}."),
            (f"What did the {thing} cost?", f"The {thing} cost {one(_PRICES)} crowns."),
            (f"What colour is the {thing}?", f"The {thing} is {one(_COLOURS)}."),
        ]
    return rows


# ------------------------------------------------------------ beyond a thousand

_SPORTS = "tennis|chess|rowing|fencing|football|judo|archery|skating|volleyball|badminton|darts"
_STREETS = "Mill Lane|Kiln Road|Ferry Street|Orchard Way|Abbey Row|Quarry Hill|Linden Close"
_FLOWERS = "tulips|roses|lilies|poppies|daisies|irises|violets|asters|peonies|orchids|lupins"
_DRINKS = "cider|cocoa|apple juice|ginger beer|water|milk|coffee|lemonade|red wine|cold beer"
_HATS = "a straw hat|a beret|a bowler|a woollen cap|a sun hat|a helmet|a bonnet|a top hat"
_SCHOOL = "algebra|history|geography|drawing|Latin|physics|botany|singing|geometry|gymnastics"
_STUFF = "stamps|coins|shells|buttons|postcards|bottles|maps|keys|spoons|marbles|feathers|labels"
_ALLERGIES = "nuts|cats|pollen|dust|eggs|wool|strawberries|feathers|shellfish|latex|horses"
_BOOKS = "ghost stories|cookbooks|poems|crime novels|travel books|biographies|fairy tales"
_HOLIDAYS = "in the mountains|by the sea|on a farm|in Norway|on a canal boat|in Lisbon|at home"
_FLOORS = "ground first second third fourth fifth sixth seventh"
_TIMES = "at five|at half past five|at six|at half past six|at seven|at eight|at nine|at noon"
_SEASONS = "spring summer autumn winter"
_DANCES = "tango waltz polka foxtrot samba jive rumba quickstep"
_EYES = "brown|blue|green|grey|hazel|nearly black"
_SIZES = "36 37 38 39 40 41 42 43 44 45"
_VEHICLES = "the bus|the tram|a bicycle|the ferry|a scooter|the train|a horse|an old van"
_TREES = "an oak|an elm|a birch|a lime tree|a plum tree|a willow|a pine|a maple|a walnut tree"
_MAKERS = "Abelard Brevoort Castell Dornier Eschbach Falkner Grimaldi Hasselt Ibsen Jessop"
_YEARS = "1951 1958 1962 1967 1973 1979 1984 1988 1991 1996 2003 2008 2012 2017"
_FAULTS = "rattles|leaks|squeaks|sticks|wobbles|smells|has a crack|is too heavy|scratches"


def _more_rows() -> list[tuple[str, str]]:
    """Further lessons: new properties of everybody and everything, and people who are new."""
    rng = random.Random(1)

    def one(text: str) -> str:
        return rng.choice(_words(text))

    rows: list[tuple[str, str]] = []
    for name in MORE_PEOPLE:
        rows += _people_rows(name, one)
    for name in (*PEOPLE, *MORE_PEOPLE):
        rows += [
            (f"Which sport does {name} do?", f"{name} does {one(_SPORTS)}."),
            (f"In which street is {name}'s shop?", f"{name}'s shop is in {one(_STREETS)}."),
            (f"Which flowers does {name} like?", f"{name} likes {one(_FLOWERS)}."),
            (f"What does {name} drink at night?", f"At night {name} drinks {one(_DRINKS)}."),
            (f"What does {name} wear on the head?", f"{name} wears {one(_HATS)}."),
            (f"What was {name} good at in school?", f"{name} was good at {one(_SCHOOL)}."),
            (f"What does {name} collect?", f"{name} collects {one(_STUFF)}."),
            (f"What is {name} allergic to?", f"{name} is allergic to {one(_ALLERGIES)}."),
            (f"What does {name} read?", f"{name} reads {one(_BOOKS)}."),
            (f"Where does {name} spend holidays?", f"{name} spends them {one(_HOLIDAYS)}."),
            (f"On which floor is {name}'s office?", f"It is on the {one(_FLOORS)} floor."),
            (f"When does {name} get up?", f"{name} gets up {one(_TIMES)}."),
            (f"Which season does {name} like best?", f"{name} likes {one(_SEASONS)} best."),
            (f"Which dance can {name} do?", f"{name} can dance the {one(_DANCES)}."),
            (f"What colour are {name}'s eyes?", f"{name}'s eyes are {one(_EYES)}."),
            (f"Which shoe size has {name}?", f"{name} has size {one(_SIZES)}."),
            (f"How does {name} get to work?", f"{name} takes {one(_VEHICLES)} to work."),
            (f"Which tree did {name} plant?", f"{name} planted {one(_TREES)}."),
        ]
    for thing in dict.fromkeys(_words(_THINGS)):
        rows += [
            (f"Who made the {thing}?", f"The {thing} was made by {one(_MAKERS)}."),
            (f"How old is the {thing}?", f"The {thing} is from {one(_YEARS)}."),
            (f"What is wrong with the {thing}?", f"The {thing} {one(_FAULTS)}."),
            (f"Who borrowed the {thing}?", f"{rng.choice(PEOPLE)} borrowed the {thing}."),
        ]
    return rows
