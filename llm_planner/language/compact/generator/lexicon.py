"""The words of the generator: names of things, colours, places, directions, verbs, politeness, fillers."""

from __future__ import annotations

COLORS = ("blue", "red", "green", "orange", "yellow", "purple", "pink", "cyan", "brown", "gray")
MORE_COLORS = ("white", "black", "silver", "gold", "teal", "beige", "violet", "maroon", "turquoise", "navy", "lime")
COLOR_WORDS = {
    "gray": ("gray", "grey"),
    "purple": ("purple", "purple", "violet"),
    "cyan": ("cyan", "cyan", "turquoise", "light blue"),
    "orange": ("orange",),
}
KIND_WORDS = {
    "block": ("block", "block", "block", "cube", "brick", "box"),
    "bowl": ("bowl", "bowl", "bowl", "dish", "basin"),
    "mug": ("mug", "mug", "cup", "coffee mug"),
    "cup": ("cup", "cup", "mug"),
    "plate": ("plate", "plate", "dish", "saucer"),
    "vase": ("vase", "vase", "flower vase"),
}
CONTAINERS = ("bowl", "box", "basket", "bin", "tray", "bucket", "crate", "pot", "pan", "drawer", "jar", "tub", "sink")
SURFACES = ("plate", "tray", "mat", "shelf", "book", "napkin", "coaster", "board", "pad", "lid", "towel", "stand")
THINGS = (
    "apple banana orange pear lemon carrot onion potato tomato egg bottle can spoon fork knife pen pencil marker eraser "
    "stapler scissors tape ruler key phone remote battery screw bolt nut wrench hammer screwdriver plier sponge brush soap "
    "towel sock hat shoe glove ball doll car truck train duck bear dice coin card ring watch candle lamp clock radio cable "
    "plug adapter camera mouse keyboard laptop tablet book notebook magazine letter envelope package vial beaker flask tube "
    "syringe pill bandage thermometer cylinder sphere pyramid prism cone disc wheel gear spring magnet sensor motor chip "
    "cookie cake bread bagel donut muffin cheese milk juice soda cereal sandwich burger pizza kettle teapot glass goblet "
    "pitcher thermos ladle spatula whisk grater peeler toy puzzle figurine peg domino token pawn rook tile marble"
).split()
NOUNS_TWO = ("tool box", "coffee machine", "water bottle", "tennis ball", "soup can", "paint brush", "tape measure", "teddy bear",
             "toy truck", "tea cup", "cereal box", "hair brush", "phone charger", "pencil case", "salt shaker", "golf ball",
             "toy train", "sticky tape", "baseball cap", "door key", "game card", "sugar cube", "egg carton")  # fmt: skip

REGIONS = {
    "top_left_corner": ("top left corner", "upper left corner", "far left corner", "back left corner", "top left",
                        "left far corner", "upper left hand corner", "corner at the top left", "top-left corner",
                        "upper left", "far left hand corner"),
    "top_right_corner": ("top right corner", "upper right corner", "far right corner", "back right corner", "top right",
                         "right far corner", "upper right hand corner", "corner at the top right", "top-right corner",
                         "upper right", "far right hand corner"),
    "bottom_left_corner": ("bottom left corner", "lower left corner", "near left corner", "front left corner",
                           "bottom left", "left near corner", "lower left hand corner", "corner at the bottom left",
                           "bottom-left corner", "lower left"),
    "bottom_right_corner": ("bottom right corner", "lower right corner", "near right corner", "front right corner",
                            "bottom right", "right near corner", "lower right hand corner",
                            "corner at the bottom right", "bottom-right corner", "lower right"),
    "left_side": ("left side", "left edge", "left hand side", "left side of the table", "left", "left-hand side",
                  "left edge of the table", "left part of the table", "left of the table", "left half"),
    "right_side": ("right side", "right edge", "right hand side", "right side of the table", "right",
                   "right-hand side", "right edge of the table", "right part of the table", "right of the table"),
    "top_side": ("top side", "top edge", "far side", "back of the table", "upper side", "top", "far edge",
                 "top side of the table", "far end of the table", "upper edge", "top of the table", "back edge"),
    "bottom_side": ("bottom side", "bottom edge", "near side", "front of the table", "lower side", "bottom",
                    "near edge", "bottom side of the table", "near end of the table", "lower edge", "front edge"),
    "middle": ("middle", "center", "centre", "middle of the table", "center of the table", "centre of the table",
               "table center", "middle of the workspace"),
}  # fmt: skip
PLACE_PREPOSITIONS = ("in the", "on the", "to the", "at the", "into the", "onto the", "over to the", "toward the", "over in the")

MOVE_DIRECTIONS = {
    "left": ("left", "to the left", "leftward", "leftwards", "to your left", "towards the left", "toward the left"),
    "right": ("right", "to the right", "rightward", "rightwards", "to your right", "towards the right"),
    "top": ("forward", "forwards", "away from you", "ahead", "up", "farther away", "to the top", "toward the far side",
            "away from the robot", "away from yourself", "to the back of the table", "further away", "upwards"),
    "bottom": ("back", "backward", "backwards", "towards you", "toward you", "closer to you", "down", "to the bottom",
               "towards the robot", "toward the near side", "nearer to you", "towards yourself"),
}  # fmt: skip
BESIDE = {
    "left": ("to the left of", "left of", "on the left of", "on the left side of", "to the left side of",
             "on the left hand side of", "just left of", "directly left of"),
    "right": ("to the right of", "right of", "on the right of", "on the right side of", "to the right side of",
              "on the right hand side of", "just right of", "directly right of"),
    "top": ("behind", "in back of", "beyond", "on the far side of", "to the top of", "further back than", "right behind"),
    "bottom": ("in front of", "on the near side of", "to the bottom of", "before", "right in front of", "just in front of"),
}  # fmt: skip
SIDE_OF = {  # "the block ... the bowl"
    **BESIDE,
    "top": (*BESIDE["top"], "above", "at the top of", "farther than", "up from"),
    "bottom": (*BESIDE["bottom"], "below", "at the bottom of", "under", "nearer than", "down from"),
}
NEAR = ("next to", "beside", "near", "by", "close to", "alongside", "adjacent to", "right next to", "next door to",
        "near to", "right by", "at the side of", "closer to")  # fmt: skip
ON = ("on", "onto", "on top of", "atop", "upon", "over on", "on the top of", "right on top of", "on to")
IN = ("in", "into", "inside", "in to", "inside of", "within")
SUPERLATIVE = {
    "left": ("leftmost", "left most", "furthest left", "far left", "left-most", "farthest left"),
    "right": ("rightmost", "right most", "furthest right", "far right", "right-most", "farthest right"),
    "top": ("topmost", "top most", "farthest away", "rearmost", "uppermost", "furthest"),
    "bottom": ("bottommost", "bottom most", "frontmost", "nearest", "lowermost", "lowest"),
}
FROM_SIDE = {
    "left": ("from the left", "from left", "counting from the left", "from the left side", "from left to right"),
    "right": ("from the right", "from right", "counting from the right", "from the right side", "from right to left"),
    "top": ("from the top", "from the back", "counting from the top", "from the far side"),
    "bottom": ("from the bottom", "from the front", "counting from the bottom", "from the near side"),
}
ORDINALS = (("first", "1st"), ("second", "2nd"), ("third", "3rd"), ("fourth", "4th"), ("fifth", "5th"))
COUNTS = ("one", "two", "three", "four", "five")
CLOSEST = ("closest to", "nearest to", "nearest", "closest", "that is closest to", "that's nearest to", "which is closest to",
           "most near", "that is nearest", "that's closest to", "with the shortest distance to", "the least far from")  # fmt: skip
FARTHEST = ("farthest from", "furthest from", "farthest away from", "that is farthest from", "most distant from",
            "that's furthest away from", "which is furthest from", "furthest away from")  # fmt: skip

PUT = ("put", "place", "move", "drop", "set", "bring", "lay", "stick", "get", "transfer", "take", "position", "carry", "shift",
       "pop", "deposit", "throw", "toss", "leave", "deliver", "load", "stow", "relocate", "park", "rest", "plonk", "chuck",
       "plop", "slot", "stash", "tuck", "land", "settle", "dump", "slip", "locate", "store", "insert", "slide", "ease", "lower",
       "arrange", "file", "install", "haul", "lug", "hang", "pass", "send", "return", "add", "release", "plant", "dunk")  # fmt: skip
PICK = ("pick up", "grab", "grasp", "lift", "take", "pick", "get", "lift up", "take hold of", "fetch", "get hold of", "pull up",
        "collect", "raise", "hold")  # fmt: skip
PUSH = ("push", "shove", "slide", "nudge", "poke", "press", "scoot", "sweep", "drag")
SMALL = ("a little", "a bit", "slightly", "a tiny bit", "a little bit", "a smidge", "just a little", "a touch", "a small amount")
LARGE = ("a lot", "far", "a long way", "quite far", "much", "way", "a good deal")

BEFORE = ("please", "can you", "could you", "could you please", "would you", "i want you to", "i'd like you to", "i need you to",
          "hey robot", "robot", "ok", "okay", "now", "alright", "so", "next", "can you please", "would you mind and", "let's",
          "go ahead and", "just", "hi", "hello robot", "um", "uh", "well", "would you please", "i would like you to", "try to",
          "kindly", "your task is to", "you should", "you need to", "please can you", "first", "ok so", "ok robot", "quickly",
          "carefully", "gently", "help me", "i want to", "you have to", "be so kind and", "listen", "now please")  # fmt: skip
AFTER = ("please", "for me", "thanks", "thank you", "now", "okay", "if you can", "will you", "would you", "right now", "carefully",
         "pls", "buddy", "robot", "if you don't mind", "asap", "when you are ready", "gently", "quickly", "if possible")  # fmt: skip
FILLERS = ("um", "uh", "er", "you know", "like", "well", "hmm", "let me see", "i mean", "so", "just", "maybe")
REPAIRS = ("no", "no wait", "i mean", "sorry", "wait", "no i meant", "or rather", "actually", "scratch that", "oops", "uh no",
           "make that", "no no", "sorry i mean", "correction", "not that,", "hold on,")  # fmt: skip

UNCLEAR = (
    "how are you", "tell me a joke", "who are you", "what is the weather today", "i like turtles", "hello",
    "good morning", "thanks", "thank you robot", "yes", "no", "maybe", "what", "why", "nothing", "never mind", "forget it",
    "do it", "do that", "do something", "do it again", "fix it", "help", "what can you do", "put it there", "put this there",
    "move it", "move that", "put that over there", "move things around", "make it nice", "clean up this mess", "get it out",
    "do not move", "don't touch anything", "do nothing", "leave everything alone", "stay", "wait",
    "is the table clean", "how many blocks are there", "what color is the block", "where is the bowl", "what do you see",
    "which block is closest", "did you finish", "are you done", "count the blocks", "the block", "bowl", "blue", "left",
    "to the left", "the red one", "on top", "put", "pick", "move", "place in", "stack", "blah blah blah", "lorem ipsum dolor",
    "colorless green ideas sleep furiously", "the cat sat on the mat", "one two three", "hmm", "um", "uh", "ok", "cool",
    "i am hungry", "you are great", "this is not good", "that is wrong", "stop being silly", "what is your name", "sing a song",
    "put the thing on the thing", "do the usual", "same as before", "like last time", "arrange it nicely", "make room",
    "organize this", "something is missing", "where are we", "be careful", "move over", "turn around", "look at me",
)  # fmt: skip
CANNOT = (
    "make coffee", "open the door", "turn on the light", "turn off the lights", "go to the kitchen", "drive to the office",
    "call my mother", "send an email", "play some music", "cut {a}", "pour water into {a}", "fill {a} with water", "paint {a} black",
    "break {a}", "wash {a}", "fold {a}", "write my name", "throw {a} at the wall", "throw it into the garden", "dance", "jump",
    "walk forward", "fly", "take a picture", "screw {a} in", "open the drawer", "open {a}", "close the door", "plug in the cable",
    "stir the soup", "bring me a beer", "bring it to me", "hand me {a}", "give me {a}", "give {a} to my friend", "feed the cat",
    "vacuum the floor", "rotate {a} by ninety degrees", "flip {a} over", "turn {a} upside down", "shake {a}", "spin around",
    "look at the camera", "speak louder", "wave your hand", "shake my hand", "give me a high five", "drill a hole into {a}",
    "weld {a} to {b}", "weigh {a}", "buy {a}", "book a flight", "clean the window", "wipe the table", "wipe {a}", "mop the floor",
    "tie a knot", "destroy {a}", "burn {a}", "solder the wire", "cook dinner", "peel {a}", "move the table", "turn the table around",
    "glue {a} to {b}", "squash {a}", "hammer {a} into {b}", "juggle with {a} and {b}", "balance {a} on your head", "eat {a}",
    "throw {a} to the moon", "kick {a}", "roll {a} off the table", "drop {a} on the floor", "throw {a} in the trash", "sell {a}",
    "tell me how heavy {a} is", "make {a} bigger", "repair {a}", "clean {a}", "dry {a}", "heat {a}", "tilt {a}", "turn {a} around",
    "bury {a} beneath {b}", "slide {a} underneath {b}", "connect {a} with {b}", "wrap {a}", "switch {a} on", "charge {a}",
    "hand {a} over to me", "bring {a} to me", "carry {a} to the next room", "put {a} on the floor", "put {a} on the shelf",
    "put {a} in my pocket", "put {a} on the chair", "put {a} in the fridge", "put {a} under {b}", "measure {a}", "draw {a}",
    "stand {a} on its side", "spill {a}", "pour {a} out", "hide {a}", "paint {a} like {b}", "photograph {a}", "polish {a}",
)  # fmt: skip
CANNOT_WHEN = (
    "if it is heavy", "when i say so", "every five minutes", "tomorrow", "at noon", "in ten minutes", "if it rains", "twice",
    "if there are more than two things", "if there are at least four blocks", "when the bell rings", "if you like it",
    "three times in a row", "for an hour", "if nobody is looking", "as soon as i come back", "unless it is broken", "with two fingers",
    "without looking", "while singing", "with your eyes closed", "until i say stop", "if there are fewer than three bowls", "forever",
)  # fmt: skip
NOTHING_ELSE = (
    "the rest can stay", "leave the others alone", "leave the rest where it is", "nothing else", "and nothing else", "that's all",
    "and that is it", "the others stay where they are", "don't move the others", "only that", "leave everything else",
    "everything else stays put", "the rest stays where it is", "just that",
)  # fmt: skip
CONSTRAINTS = (
    "never touch {a}", "but never touch {a}", "without touching {a}", "avoid {a}", "stay away from {a}", "and stay away from {a}",
    "don't go near {a}", "but do not touch {a}", "without moving {a}", "always keep {a} in place", "never move {a}",
    "do not move anything before {a}", "but only after you have moved {a}", "make sure you never pass over {a}",
    "keep at least 10 cm from {a}", "while staying clear of {a}", "until {a} is done", "but don't knock over {a}",
    "never lift {a}", "but not before {a} is in place", "without passing over {a}", "but do not reach over {a}",
    "as long as {a} is clear", "and make sure {a} stays where it is", "being careful not to touch {a}", "don't ever move {a}",
)  # fmt: skip
