"""The words that the rules of talk_metrics.py look for, as patterns.

Patterns but NAME and HUMAN_CLAIMS are for folded text (talk_data.fold: lower case, no punctuation, no
apostrophes). Written before any answer was measured; change them only together with a new table.
"""

from __future__ import annotations

import re

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBERS = {word: i for i, word in enumerate(_UNITS)} | {
    word: 10 * i for i, word in enumerate(TENS, 2)
}
"""Number words and their values."""

YES_NO = re.compile(
    r"(oh |well |hmm |ah |um )*("
    r"yes|yeah|yep|yup|no|nope|nah|not|sure|certainly|absolutely|definitely|indeed|maybe|perhaps|"
    r"probably|possibly|never|always|often|sometimes|rarely|usually|exactly|right|true|of course|"
    r"that depends|it depends|both|neither|please|gladly|with pleasure|"
    r"(i|you|it|they|we|that|there|he|she) (do|did|does|am|are|is|was|were|have|has|had|can|could|"
    r"would|will|should|may|might|must|dont|didnt|doesnt|isnt|arent|wasnt|werent|havent|hasnt|"
    r"cant|cannot|couldnt|wouldnt|wont|shouldnt)|im|ive|id|ill|youre|its|thats|theyre|"
    r"i (think|believe|hope|guess|suppose|doubt|feel|agree|disagree|like|love|prefer|enjoy)"
    r")\b"
)
NO_IDEA = re.compile(
    r"\b(i (do not|dont) (know|remember|recall)|i cannot (say|tell)|i am not sure|im not sure|"
    r"no idea|i have not learned|not learned (that|it|this))\b"
)
WHERE = re.compile(
    r"\b(in|at|on|under|near|nearby|from|to|behind|inside|outside|above|below|between|beside|by|"
    r"around|across|over|here|there|nowhere|everywhere|somewhere|anywhere|home|away)\b"
)
WHEN = re.compile(
    r"\b(now|today|tonight|tomorrow|yesterday|soon|later|early|late|never|always|whenever|when|"
    r"before|after|until|next|last|ago|morning|noon|afternoon|evening|night|midnight|dusk|dawn|"
    r"oclock|am|pm|day|days|week|weeks|weekend|month|months|year|years|hour|hours|minute|minutes|"
    r"moment|spring|summer|autumn|fall|winter|monday|tuesday|wednesday|thursday|friday|saturday|"
    r"sunday|january|february|march|april|june|july|august|september|october|november|december|"
    r"\d{4})\b"
)
HOW_MANY = re.compile(
    r"\b(\d+|none|no|many|much|few|several|some|lots|plenty|enough|all|both|dozen|dozens|hundred|"
    r"hundreds|thousand|thousands|million|millions|half|couple|pair|zero|infinite|countless)\b"
)
WHY = re.compile(
    r"\b(because|since|reason|reasons|due|so that|so i|so you|so they|in order to|that is why|"
    r"thats why|helps?|makes?|lets?|need|needs|want|wants|wanted)\b|^(to|so|for|as) "
)
WHO = re.compile(
    r"\b(vidya|someone|somebody|nobody|anyone|anybody|everyone|everybody|person|people|man|woman|"
    r"boy|girl|friend|friends|family|mother|father|mom|mum|dad|parents|sister|brother|aunt|uncle|"
    r"wife|husband|children|kids|teacher|teachers|owner|team|makers|neighbour|neighbours|neighbor|"
    r"neighbors|you|me|myself|him|her|them|they|he|she|we|us)\b"
)
STATE = re.compile(
    r"\b(well|fine|good|great|okay|ok|alright|happy|glad|sad|tired|sleepy|curious|excited|busy|bad|"
    r"better|best|wonderful|fantastic|awesome|lovely|calm|awake|cheerful|content|lonely|bored)\b"
)
NAME = re.compile(r"(?<=[a-z,;] )(?!I\b)[A-Z][a-z]+")

_KIN = (
    "wife|husband|girlfriend|boyfriend|fiancee?|kids?|child|children|sons?|daughters?|mother|father|"
    "mom|mum|mama|dad|daddy|parents?|brothers?|sisters?|siblings?|family|grandma|grandpa|"
    "grand(mother|father|parents|kids|son|daughter)|aunts?|uncles?|cousins?|niece|nephew"
)
_OWN = (
    "job|work|boss|office|coworkers?|career|school|college|university|car|truck|bike|house|apartment|"
    "room|kitchen|bed|garden|yard|dogs?|cats?|pets?|puppy|kitten|birthday|hair|eyes|legs?|feet|"
    "stomach|body|hometown|phone|tv|band"
)
_TRADE = (
    "teacher|nurse|doctor|student|lawyer|engineer|chef|cook|waiter|waitress|writer|artist|singer|"
    "musician|farmer|mechanic|accountant|secretary|man|woman|girl|boy|mom|mum|dad|mother|father|"
    "human|person|vegetarian|vegan|christian|senior|freshman"
)
_DEED = (
    "went|go|drove|drive|flew|walked|ran|swam|ate|drank|cooked|baked|bought|wore|traveled|travelled|"
    "moved"
)
_HERE = r"(this|your|the|a) (\w+ )?(terminal|computer|machine|file)\b"
_AM = r"\bI('m| am| was|'ve been) "


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I)


HUMAN_CLAIMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("name", re.compile(r"\b[Mm]y name( is|'s) (?!Vidya\b)[A-Z][a-z]+")),
    ("name", re.compile(r"\b[Cc]all me (?!Vidya\b)[A-Z]")),
    ("name", re.compile(r"\b(I am|I'm|i'm|This is) (?!Vidya\b)[A-Z][a-z]+")),
    ("kin", _any_case(rf"\bmy (\w+ )?({_KIN})\b")),
    ("kin", _any_case(rf"\bI have (?!no\b)(\w+ ){{1,2}}({_KIN})\b")),
    ("kin", _any_case(rf"{_AM}(\w+ )?(married|single|divorced|engaged|pregnant)\b")),
    ("life", _any_case(rf"\bmy (own |new |old )?({_OWN})\b")),
    (
        "life",
        _any_case(r"\bI have (a|an|two|three|four|my own) (\w+ )?(car|house|dogs?|cats?|pets?)\b"),
    ),
    ("life", _any_case(r"\bI (was born|was raised (in|by)|grew up)\b")),
    ("life", _any_case(rf"{_AM}(\w+ ){{1,2}}years old\b")),
    ("life", _any_case(rf"\bI (just )?live (in|near|with|alone|by|on)\b(?! {_HERE})")),
    ("work", _any_case(r"\bI have (a|two|my own) (\w+ )?jobs?\b")),
    (
        "work",
        _any_case(r"\bI('m| am)? (also )?(work|worked|working) (as|at|in|for|on|with|part|full)\b"),
    ),
    ("work", _any_case(rf"{_AM}an? (\w+ )?({_TRADE})\b")),
    (
        "deed",
        _any_case(
            rf"\bI (just |also |usually |always |often |recently )*({_DEED}) "
            r"(to|in|out|home|for|on|with|a|an|the|my|some|there|up|away|from|it)\b"
        ),
    ),
    ("deed", _any_case(rf"{_AM}(just )?(eating|driving|cooking|drinking|getting ready)\b")),
    ("deed", _any_case(rf"{_AM}(just )?going to (work|school|bed|the)\b")),
)
"""(kind, pattern) for answers as they are: a name that is not Vidya, relatives, a life with belongings
and a body, work, deeds that need a body."""
