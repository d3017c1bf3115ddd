"""Everyday questions and remarks with which people open a conversation, for a teacher to answer.

Whole sentences and patterns with lists of words, all written here. Left out: what benchmarks ask
(a test compares them), and who Vidya is, which is the book's.
"""

from __future__ import annotations

import random
import re
from itertools import product

_WHOLE = """
hello there|hi, how are you today?|good to see you again|hey you, what's new?|hello, nice weather today
good morning, did I wake you?|hi, I just got home|hey, can we talk?|hello, I am bored|anyone home?
thank you so much|thanks, that helped a lot|sorry, I was rude|you are very kind|that was funny
I don't understand|can you say that again?|what do you mean?|that makes sense|let's talk about something else
goodbye|see you tomorrow|I have to go now|talk to you soon|good night, sweet dreams|have a nice day
tell me a joke|tell me something interesting|make me laugh|say something nice|give me a compliment
ask me a question|guess what I did today|I have a secret|I need some advice|can I ask you something?
what should I do this weekend?|what should I eat tonight?|what shall we talk about?|I can't decide
I am tired|I am hungry|I am so happy today|I feel sad|I feel a little lonely|I am stressed out
I am cold|I can't sleep|I have a headache|my back hurts|I caught a cold|I feel much better today
I am excited about tomorrow|I am worried about my exam|I am proud of myself|I am angry with my boss
I miss my family|I miss my old school|I had a bad day|I had a wonderful day|today was long
I lost my job|I got a new job|I got a promotion|I failed my exam|I passed my exam|I broke my phone
I broke up with my girlfriend|I broke up with my boyfriend|I am in love|I am getting married
my dog died|my grandfather is ill|my friend is not talking to me|my son does not listen to me
my daughter starts school tomorrow|we are having a baby|it is my birthday today|I am moving house
I am learning English|I am learning to drive|I am learning the piano|I started running|I quit smoking
I want to lose weight|I want to save money|I want to travel the world|I want to write a book
I want to learn a new language|I want to get up earlier|I want to read more|I want to make friends
how can I sleep better?|how can I make new friends?|how do I stop worrying?|how do I say sorry?
how do I ask for a raise?|how do I prepare for an interview?|how do I stay calm?|how do I learn faster?
how do I remember names?|how do I start a conversation?|how do I say no politely?|how do I save money?
what makes people happy?|what is friendship?|what is love?|what is a good life?|why do we dream?
why do we sleep?|why do people lie?|why do people argue?|why do cats purr?|why do dogs bark?
why is the sky blue?|why is the sea salty?|why is grass green?|why do leaves fall?|why does it rain?
why is ice slippery?|why do we yawn?|why do we laugh?|why do onions make us cry?|why do birds sing?
how do birds fly?|how do fish breathe?|how do planes fly?|how does a fridge work?|how does soap work?
how do plants grow?|how is glass made?|how is paper made?|how is bread made?|how is cheese made?
how far away is the sun?|how hot is the sun?|how old is the earth?|how big is the moon?|how deep is the sea?
how fast is light?|how tall is the tallest mountain?|how long is a marathon?|how many hours are in a day?
how many minutes are in an hour?|how many seconds are in a minute?|how many months are in a year?
how many days are in a year?|how many continents are there?|how many planets are there?
how many letters are in the alphabet?|how many legs has an insect?|how many strings has a guitar?
what is the largest ocean?|what is the largest animal?|what is the fastest animal?|what is the tallest animal?
what is the longest river?|what is the highest mountain?|what is the hottest planet?|what is the largest planet?
what is the opposite of hot?|what is the opposite of early?|what is the opposite of brave?
what comes after Tuesday?|what comes before Friday?|what season comes after summer?|what comes after twelve?
who wrote Romeo and Juliet?|who was Albert Einstein?|who was Isaac Newton?|who was Marie Curie?
who was Mozart?|who was Cleopatra?|who discovered America?|who invented the telephone?|who was Gandhi?
who was the first man on the moon?|who was Charles Darwin?|who was Galileo?|who was Beethoven?
when did the second world war end?|when was the telephone invented?|when do flowers bloom?|when is Christmas?
where do penguins live?|where do kangaroos live?|where do polar bears live?|where does coffee come from?
where does chocolate come from?|where does the sun rise?|where does the sun set?|where is the Great Wall?
where are the pyramids?|where is the Amazon?|where does rain come from?|where does wool come from?
is the sun a star?|is a tomato a fruit?|is a whale a fish?|is water wet?|is coffee bad for you?
is it bad to skip breakfast?|is chocolate healthy?|is it safe to swim after eating?|can penguins fly?
can fish sleep?|can dogs see colours?|can plants feel pain?|can money buy happiness?|can people change?
do animals have feelings?|do bees sleep?|do trees talk to each other?|do you like music?|do you get tired?
do you ever sleep?|do you like jokes?|do you know any games?|do you have a favourite book?
do you have feelings?|can you think?|can you help me?|can you keep a secret?|can you sing?|can you count to ten?
what is your favourite food?|what is your favourite season?|what is your favourite animal?
what do you do all day?|what are you thinking about?|what makes you happy?|what are you afraid of?
my phone is slow|my computer crashed|my internet is down|I forgot my password|my printer does not work
the train is late|I missed the bus|I lost my wallet|I spilled my coffee|I overslept|I am late again
it is raining again|it is so hot today|it is snowing outside|what a storm last night|spring is here
I cooked dinner for my family|I made pancakes this morning|I bought new shoes|I painted my room
I saw a rainbow today|I saw a deer in the forest|I found a lost cat|I planted some roses
I read a good book|I watched a film last night|I went to a concert|I went to the zoo|I visited my mother
let's play a game|tell me about yourself in one sentence|what is the meaning of life?|what is time?
""".strip()
_PLACES = (
    "Australia Austria Belgium Canada Chile China Cuba Denmark Egypt England Finland France Germany Greece "
    "Hungary Iceland India Iran Ireland Italy Mexico Morocco Norway Peru Poland Portugal Russia "
    "Scotland Spain Sweden Switzerland Thailand Turkey Vietnam"
).split()
_THINGS = (
    "atom|bicycle|butterfly|cactus|camera|castle|cloud|comet|compass|computer|desert|dictionary|dinosaur|"
    "dolphin|earthquake|elephant|engine|forest|fossil|galaxy|glacier|hammer|hurricane|island|"
    "jellyfish|kangaroo|keyboard|lake|lens|library|magnet|microscope|mirror|mountain|museum|novel|"
    "octopus|orchestra|parachute|penguin|piano|planet|poem|pyramid|rainbow|river|robot|satellite|"
    "school|shadow|star|submarine|telescope|thermometer|tornado|triangle|tsunami|umbrella|vaccine|"
    "violin|volcano|waterfall|whale|windmill|worm"
).split("|")
_MATTER = (
    "air bread chocolate coal coffee cotton electricity glass gold gravity honey ice iron jazz "
    "light mathematics milk money music oil oxygen paper philosophy plastic poetry rain rice salt "
    "science silk silver snow soap steel sugar tea thunder water wind wood wool yeast yoga"
).split()
_HOW = (
    "bake a cake|boil an egg|clean a window|cook rice|draw a cat|fix a flat tire|fold a shirt|"
    "grow potatoes|keep a diary|keep plants alive|learn to swim|light a fire|make a good first impression|"
    "make bread|make coffee|make lemonade|make pancakes|make soup|make tea|pack a suitcase|paint a wall|"
    "plan a party|plant a tree|play chess|polish shoes|read a map|remove a coffee stain|ride a bicycle|"
    "sharpen a knife|sew on a button|sing better|speak in front of people|start a garden|store apples|"
    "study for a test|take a good photo|take care of a cat|tie a tie|train a dog|wash a sweater|"
    "wrap a present|write a letter|write a poem|write a story|write a thank you note"
).split("|")
_LIKED = (
    "apples autumn baking ballet beaches bread cats chess chocolate coffee cooking cycling dancing dogs "
    "drawing films fishing football gardening hiking history horses languages mountains museums music "
    "painting pancakes photography poetry puzzles rain reading running science skiing snow "
    "spring summer swimming tea tennis trains travelling trees winter writing"
).split()
_HEROES = (
    "an old clock|a lonely robot|a clever mouse|a kind giant|a little cloud|a lost puppy|a magic "
    "pencil|a proud peacock|a talking tree|a tired dragon|a tiny star|a shy ghost|a hungry bear|a young "
    "sailor|two good friends|a king without a crown|a rabbit who could not sleep|a boat that was afraid of "
    "water|a girl who loved numbers|a boy and his kite"
).split("|")
_KIN = "aunt boss brother cousin daughter father friend grandmother husband mother neighbour sister son teacher uncle wife"
_STATES = (
    "is ill today|is coming to visit|forgot my birthday|makes me laugh|is moving away|has a new job|works too "
    "much|is angry with me|cooks very well|needs my help|bought a boat|is learning to dance"
).split("|")
_CHOICES = (
    "apples or pears|books or films|bread or rice|cats or dogs|city or village|coffee or tea|day or night|"
    "football or tennis|lakes or rivers|milk or juice|morning or evening|painting or music|pizza or pasta|"
    "rain or snow|summer or winter|sweet or salty|the sea or the mountains|train or plane"
).split("|")
_NUMBERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 30, 50)
_PATTERNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("What is the capital of {}?", tuple(_PLACES)),
    ("what language do people speak in {}", tuple(_PLACES)),
    ("Tell me something about {}.", tuple(_PLACES)),
    ("Where is {}?", tuple(_PLACES)),
    ("What is {a}?", tuple(_THINGS)),
    ("explain to a child what {a} is", tuple(_THINGS)),
    ("Tell me a fact about {a}.", tuple(_THINGS)),
    ("What is {}?", tuple(_MATTER)),
    ("why do people need {}", tuple(_MATTER)),
    ("Where does {} come from?", tuple(_MATTER)),
    ("How do I {}?", tuple(_HOW)),
    ("can you tell me how to {}", tuple(_HOW)),
    ("I want to {}, any tips?", tuple(_HOW)),
    ("I like {}.", tuple(_LIKED)),
    ("Do you like {}?", tuple(_LIKED)),
    ("Why do people love {}?", tuple(_LIKED)),
    ("I don't really like {}", tuple(_LIKED)),
    ("what do you think about {}?", tuple(_LIKED)),
    ("Tell me a very short story about {}.", tuple(_HEROES)),
    ("write one sentence about {}", tuple(_HEROES)),
    ("What do you prefer, {}?", tuple(_CHOICES)),
    ("{}, and why?", tuple(_CHOICES)),
)


def openings() -> list[str]:
    """All of them, each once, always in the same shuffled order."""
    found = [text.strip() for text in re.split(r"[|\n]", _WHOLE)]
    for pattern, words in _PATTERNS:
        found += [pattern.format(word, a=_with_article(word)) for word in words]
    found += [f"My {kin} {state}." for kin, state in product(_KIN.split(), _STATES)]
    found += [f"What is {a} plus {b}?" for a, b in product(_NUMBERS, _NUMBERS) if a <= b <= 20]
    found += [f"how much is {a} minus {b}" for a, b in product(_NUMBERS, _NUMBERS) if b < a <= 20]
    unique = list(dict.fromkeys(found))
    random.Random(0).shuffle(unique)
    return unique


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
