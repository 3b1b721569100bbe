"""Words are split as BERT's uncased vocabulary splits them."""

from __future__ import annotations

import pytest

from llm_planner.language.embedded.network import LONGEST, UNKNOWN, WordPieces

PIECES = (UNKNOWN, "block", "##s", "##er", "cafe", "_", "top", ",", "5", "##0", "你", "好")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("blocks", ["block", "##s"]),
        ("Blockers", ["block", "##er", "##s"]),
        ("block, 50", ["block", ",", "5", "##0"]),
        ("café", ["cafe"]),
        ("block_top", ["block", "_", "top"]),
        ("你好", ["你", "好"]),
        ("mug", [UNKNOWN]),
        ("blockx", [UNKNOWN]),
        ("s" * (LONGEST + 1), [UNKNOWN]),
        ("", []),
    ],
)
def test_a_word_is_split_into_the_longest_pieces_there_are(text: str, pieces: list[str]) -> None:
    assert [PIECES[piece.number] for piece in WordPieces.of(PIECES).split(text)] == pieces


def test_pieces_know_where_they_stand() -> None:
    text = "Top  blocks"
    assert [text[one.begin : one.end] for one in WordPieces.of(PIECES).split(text)] == ["Top", "block", "s"]
