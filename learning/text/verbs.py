"""English verbs as they are typed: third person and past of a base form. No dictionary, a short table."""

from __future__ import annotations

_PAST = """
be was, become became, begin began, bite bit, blow blew, break broke, bring brought, build built,
buy bought, catch caught, choose chose, come came, cost cost, cut cut, do did, draw drew, dream dreamt,
drink drank, drive drove, eat ate, fall fell, feed fed, feel felt, fight fought, find found, fly flew,
forget forgot, freeze froze, get got, give gave, go went, grow grew, hang hung, have had, hear heard,
hide hid, hit hit, hold held, hurt hurt, keep kept, know knew, lead led, learn learnt, leave left,
lend lent, let let, lie lay, lose lost, make made, mean meant, meet met, pay paid, put put, read read,
ride rode, ring rang, rise rose, run ran, say said, see saw, sell sold, send sent, set set, shake shook,
shine shone, shoot shot, show showed, shut shut, sing sang, sit sat, sleep slept, speak spoke,
spend spent, spill spilled, stand stood, steal stole, swim swam, take took, teach taught, tear tore,
tell told, think thought, throw threw, understand understood, wake woke, wear wore, win won, write wrote
"""
_PLAIN = """
add adopt answer arrive ask bake believe belong boil brush burn call carry celebrate chase clean climb
close collect cook cough cry cycle dance die dislike dress drop earn end enjoy enter fear finish fish fit
follow greet hate help hope join jump kick laugh like listen live lock look love marry miss move name need
open own paint park phone plan plant play practise prefer produce promise pull push rain repair rest sail
save shop ski smell smoke sneeze snow start stay stop study support taste train travel try turn use visit
wait walk want wash watch water wish work worry
"""
_IRREGULAR = dict(pair.split() for pair in _PAST.replace("\n", " ").split(",") if pair.strip())
VERBS = frozenset(_IRREGULAR) | frozenset(_PLAIN.split())
"""Base forms of the commonest verbs."""
_THIRD = {"have": "has", "be": "is"}
_VOWELS = "aeiou"


def third_person(verb: str) -> str:
    """ "live" to "lives", "study" to "studies"."""
    if verb in _THIRD:
        return _THIRD[verb]
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"


def past(verb: str) -> str:
    """ "buy" to "bought", "stop" to "stopped"; regular where it is not known."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return f"{verb[:-1]}ied"
    short = len(verb) in (3, 4) and verb[-1] not in "aeiouwxy" and verb[-2] in _VOWELS
    doubled = short and verb[-3] not in _VOWELS
    return f"{verb}{verb[-1]}ed" if doubled else f"{verb}ed"
