"""Other words for colours, kinds of things and places on the table."""

from __future__ import annotations

COLORS = ("blue", "red", "green", "orange", "yellow", "purple", "pink", "cyan", "brown", "gray")
MORE_COLORS = ("white", "black", "silver", "gold", "teal", "beige", "violet", "maroon", "turquoise", "navy", "lime",
               "mauve", "magenta", "crimson", "scarlet", "olive", "tan", "indigo", "ivory", "khaki", "lilac",
               "bronze", "copper", "amber")  # fmt: skip
COLOR_WORDS = {
    "gray": ("gray", "grey"),
    "purple": ("purple", "violet"),
    "cyan": ("cyan", "turquoise", "light blue"),
    "orange": ("orange",),
}
COLOR_NAMES = {
    **{color: color for color in (*COLORS, *MORE_COLORS)},
    **{word: color for color, words in COLOR_WORDS.items() for word in words},
}
KIND_WORDS = {
    "block": ("block", "cube", "brick", "box"),
    "bowl": ("bowl", "dish", "basin"),
    "mug": ("mug", "cup", "coffee mug"),
    "cup": ("cup", "mug"),
    "plate": ("plate", "dish", "saucer"),
    "vase": ("vase", "flower vase"),
    "dock": ("dock", "charger"),
}
PEOPLE_WORDS = ("people", "persons", "humans", "person", "human", "everybody", "everyone", "anybody", "anyone")
PERSON_WORDS = ("person", "human", "man", "woman", "guy", "fella", "fellow", "bloke", "chap", "lady", "gentleman")
CONTAINERS = ("bowl", "box", "basket", "bin", "tray", "bucket", "crate", "pot", "pan", "drawer", "jar", "tub", "sink")
SURFACES = ("plate", "tray", "mat", "shelf", "book", "napkin", "coaster", "board", "pad", "lid", "towel", "stand")
REGIONS = {
    "top_left_corner": (
        "top left corner", "upper left corner", "far left corner", "back left corner", "top left", "left far corner",
        "upper left hand corner", "corner at the top left", "upper left", "far left hand corner",
    ),
    "top_right_corner": (
        "top right corner", "upper right corner", "far right corner", "back right corner", "top right",
        "right far corner", "upper right hand corner", "corner at the top right", "upper right",
        "far right hand corner",
    ),
    "bottom_left_corner": (
        "bottom left corner", "lower left corner", "near left corner", "front left corner", "bottom left",
        "left near corner", "lower left hand corner", "corner at the bottom left", "lower left",
    ),
    "bottom_right_corner": (
        "bottom right corner", "lower right corner", "near right corner", "front right corner", "bottom right",
        "right near corner", "lower right hand corner", "corner at the bottom right", "lower right",
    ),
    "left_side": (
        "left side", "left edge", "left hand side", "left side of the table", "left", "left edge of the table",
        "left part of the table", "left of the table", "left half",
    ),
    "right_side": (
        "right side", "right edge", "right hand side", "right side of the table", "right", "right edge of the table",
        "right part of the table", "right of the table",
    ),
    "top_side": (
        "top side", "top edge", "far side", "back of the table", "upper side", "top", "far edge",
        "top side of the table", "far end of the table", "upper edge", "top of the table", "back edge", "back",
    ),
    "bottom_side": (
        "bottom side", "bottom edge", "near side", "front of the table", "lower side", "bottom", "near edge",
        "bottom side of the table", "near end of the table", "lower edge", "front edge", "front",
    ),
    "middle": (
        "middle", "center", "centre", "middle of the table", "center of the table", "centre of the table",
        "table center", "middle of the workspace",
    ),
}  # by the words for each  # fmt: skip
