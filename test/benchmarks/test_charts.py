"""Charts: curves where their numbers are, axes with round numbers, legends and marks that can be read."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from charts import Curve, Mark, chart_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*curves: Curve, marks: tuple[Mark, ...] = ()) -> ElementTree.Element:
    return ElementTree.fromstring(chart_svg("speed & limit", "time [s]", "speed [m/s]", curves, marks))


def words(picture: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


def path(picture: ElementTree.Element) -> str:
    return next(picture.iter(f"{SVG}path")).attrib["d"]


def test_title_axes_and_legend_are_written() -> None:
    picture = drawn(Curve("measured", (0.0, 1.0), (0.0, 0.5)))
    assert {"speed & limit", "time [s]", "speed [m/s]", "measured"} <= set(words(picture))


def test_a_higher_number_stands_higher_and_a_later_one_farther_right() -> None:
    numbers = [float(number) for number in re.findall(r"[\d.]+", path(drawn(Curve("a", (0.0, 1.0), (0.0, 2.0)))))]
    (x0, y0), (x1, y1) = numbers[:2], numbers[2:]
    assert x1 > x0
    assert y1 < y0


def test_the_axis_has_round_numbers_that_enclose_the_curve() -> None:
    shown = [float(word) for word in words(drawn(Curve("a", (0.0, 3.0), (0.0, 0.47)))) if re.fullmatch(r"[\d.]+", word)]
    assert {0.0, 0.1, 0.2, 0.3, 0.4, 0.5} <= set(shown)


def test_a_curve_breaks_where_a_number_is_missing() -> None:
    broken = path(drawn(Curve("a", (0.0, 1.0, 2.0, 3.0), (1.0, float("nan"), float("inf"), 2.0))))
    assert broken.count("M") == 2
    assert "L" not in broken


def test_a_mark_is_an_upright_line_with_its_word() -> None:
    picture = drawn(Curve("a", (0.0, 2.0), (0.0, 1.0)), marks=(Mark(1.0, "slower"),))
    mark = next(line for line in picture.iter(f"{SVG}line") if line.attrib["class"] == "mark")
    assert mark.attrib["x1"] == mark.attrib["x2"]
    assert "slower" in words(picture)


def test_only_the_curve_asked_for_is_dashed() -> None:
    picture = drawn(Curve("a", (0.0, 1.0), (0.0, 1.0)), Curve("b", (0.0, 1.0), (0.0, 1.0), dashed=True))
    assert sum("stroke-dasharray" in curve.attrib for curve in picture.iter(f"{SVG}path")) == 1


def test_nothing_to_draw_is_an_empty_chart() -> None:
    picture = drawn(Curve("a", (), ()))
    assert path(picture) == ""
