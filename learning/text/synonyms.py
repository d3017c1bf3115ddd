"""Words that people exchange for one another when they ask about their own lives.

Groups of everyday English, near enough in meaning that a question stays the same question. A word may
stand in several groups. Behind ">" stand words that may stand for the first one and not the other way
round, since they mean much else. Left out: whether a word fits its sentence.
"""

from __future__ import annotations

_GROUPS = """
called, named
surname, last name, family name
nickname, pet name, short name
first name, given name, forename
mother, mum, mom, mama
father, dad, papa, daddy
parents, folks, mum and dad
son, boy, lad
daughter, girl, little girl
child, kid, little one
children, kids, little ones
baby, infant, newborn
brother, sibling, bro
sister, sibling, sis
grandmother, grandma, granny, gran, nan
grandfather, grandpa, grandad, granddad
grandparents, grandma and grandpa
aunt, auntie
uncle > mother's brother
cousin > relative
nephew > sister's son
niece > sister's daughter
husband, spouse
husband > partner, man
wife, spouse, partner
partner, other half, better half
boyfriend, partner, sweetheart
girlfriend, partner, sweetheart
friend, mate, pal, buddy
neighbour, neighbor, person next door
colleague, workmate, coworker
boss, manager, supervisor, chief
teacher, tutor, instructor
doctor, physician, GP
dentist, tooth doctor
vet, animal doctor
dog, hound, puppy, pup
cat, kitty, kitten
rabbit, bunny
horse, pony, mare
bird, feathered friend
parrot > bird
goldfish > fish
hamster > little pet
guinea pig > little pet
tortoise, turtle
pet, animal
goat > farm animal
chicken, hen
house, home, residence
flat, apartment, home
room, chamber
garden, yard, green
balcony, terrace
street, road, lane
town, city
town > place
village, little town
country, nation, land
live, reside
live > dwell
born, come into the world
birthday, day of birth, date of birth
birthplace, town of birth
hometown, home town, native town
job, work, profession, occupation, trade
work, be employed
office, workplace
company, firm, business, employer
earn, make, get paid
salary, pay, wage, income
school, college
university, college
study, learn
subject > field
exam, test, examination
class, course, lesson
homework, school work
language, tongue
speak, talk
instrument, musical instrument
play, perform
song, tune
song > piece of music
music, songs, sound
band, group
singer, vocalist
book, novel
author, writer
poem, verse
film, movie, picture
series, show, programme
game > pastime
sport, exercise, training
football, soccer
team, club
team > side
hobby, pastime, leisure activity
dance, move to music
paint, draw
write, put on paper
read > go through
cook, prepare, make
bake, make in the oven
food, dish, meal
dish, food, meal, thing to eat
breakfast, morning meal
lunch, midday meal
dinner, evening meal, supper
snack, bite, nibble
dessert, pudding
dessert > sweet
cake, pastry
vegetable, greens
meat > flesh
bread, loaf
cheese, dairy
drink, beverage
tea, cup of tea
coffee, cup of coffee
juice, squash
wine, glass of wine
beer, ale
eat, consume
eat > have
taste, flavour
hungry, starving
thirsty, parched
colour, color, shade, hue
favourite, favorite, best loved, preferred, dearest, number one
like, love, enjoy, be fond of
hate, dislike, detest, loathe, cannot stand
prefer, like better, would rather have
want, wish for, would like
need, require
afraid, scared, frightened
fear, be afraid of, dread
happy, glad, cheerful
sad, unhappy, down
angry, cross, mad
tired, sleepy, weary
worried, anxious, nervous
dream, hope
wish, desire
hope, wish
collect, gather, save up
own, possess
own > have
keep, store
keep > put, have
put, place, leave, keep
hide, keep secret, stash
lose, misplace
find, locate
wallet, purse, billfold
bag, backpack, rucksack
umbrella, brolly
glasses, spectacles
phone, mobile, telephone
number > digits
password, secret word, passcode
code, pin
code > number
computer, laptop, machine
car, vehicle, motor, automobile
bike, bicycle, cycle
motorbike, motorcycle
train, railway
bus, coach
plane, flight, aeroplane
boat, ship
drive, steer
ride, go on
travel, go, journey
trip, journey, tour
holiday, vacation, break
summer, warm season
winter, cold season
visit, go to see
ticket, pass
hotel > place to stay
beach, seaside, shore
mountain, peak, hill
lake > water
river, stream
forest, wood, woods
clothes, clothing, things to wear
shirt > top
trousers, pants
dress, frock, gown
coat, jacket
shoe, footwear, boot
hat, cap
wear, put on, have on
size, measure
heavy, weighty
old, aged
big, large
small, little, tiny
biggest, largest, greatest
smallest, tiniest
best, finest, greatest
worst, most awful
closest, nearest
oldest, eldest
youngest, latest born
first > earliest, very first
last, final, latest
often, frequently, how many times
usually, normally, mostly, as a rule
always, every time
never, at no time
now, at present, these days
tonight, this evening
morning, early part of the day
evening, end of the day
weekend, saturday and sunday
day, date
date, day
time, hour
begin, start
end, finish
wake up, get up, rise
go to bed, go to sleep, turn in
sleep, rest
meet, see, get together
meeting, appointment, get-together
appointment, meeting, date
wedding, marriage, big day
marry, wed, get married
party, celebration
gift, present
buy, get, purchase
sell, give away for money
pay, spend
cost, be worth, come to
price, cost
money, cash
shop, store
market, place to buy
bank > money house
church, house of God
hospital, clinic
ill, sick, unwell
medicine, pills, drug
allergic, sensitive, allergy
pain, ache, hurt
hair > locks
leg, limb
tooth, teeth
plant > flower, green thing
tree > plant
flower, bloom, blossom
rose > flower
weather, sky
rain, wet weather
sun, sunshine
photo, picture, photograph
letter, post, mail
story, tale
word, term, expression
rule, law
joke > funny thing
reason, cause, why
problem, trouble, worry
plan, intention
idea, thought
lucky, fortunate
number one, best
reply, answer, respond
greet, say hello to
think, believe
mean, stand for, signify
live in, be at home in
come from, be from, originate from
move, relocate
stay, remain
wait, hang on
help, aid, assist
build, make, construct
repair, fix, mend
clean, wash, tidy
grow, raise
run, jog
walk, stroll, go on foot
swim, go in the water
climb > go up
sing, hum
listen to, hear
watch, see, look at
smell, scent
"""


def _exchanged() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for line in _GROUPS.split("\n"):
        first, _, one_way = line.partition(">")
        words = [word.strip() for word in (one_way or first).split(",") if word.strip()]
        for word in [first.strip()] if one_way else words:
            others = found.setdefault(word, [])
            others += [other for other in words if other != word and other not in others]
    return {word: tuple(others) for word, others in found.items()}


EXCHANGED = _exchanged()
"""Word or phrase, in small letters -> what may stand for it."""
