"""Ways round the vase as an SVG picture, seen from above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from several_ways import LEFT, WITHIN, Point, Setting, Trial

SCALE = 640.0  # pixels a metre
HALF_LENGTH, HALF_WIDTH = 0.31, 0.155  # [m] that a panel shows around the vase
VASE_RADIUS = 0.024  # [m] of one of full size
_MARGIN, _TOP = 16.0, 34.0
_STYLE = """
  text { font: 12px "DejaVu Sans", "Helvetica Neue", Arial, sans-serif; fill: #1f2933; }
  .title { font-weight: 600; font-size: 14px; }
  .table { fill: #f5f7fa; }
  .way { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-opacity: 0.8; }
  .left { stroke: #0b69a3; } .right { stroke: #1b7f4d; } .failed { stroke: #c52707; }
  .vase { fill: #387882; } .cross { fill: none; stroke: #c52707; stroke-width: 2; }
  .goal { fill: none; stroke: #1f2933; stroke-width: 1.4; } .start { fill: #1f2933; }
"""


@dataclass(frozen=True)
class Panel:
    """Trials in (nearly) one setting."""

    title: str
    setting: Setting
    trials: tuple[Trial, ...]


def picture(panels: Sequence[Panel]) -> str:
    """The panels one below the other, each turned so that the goal is on the right."""
    height = _TOP + 2 * HALF_WIDTH * SCALE
    size = f"{2 * HALF_LENGTH * SCALE + 2 * _MARGIN:.0f}", f"{len(panels) * height + 40:.0f}"
    title = "Ways of the hand from its start (dot) to its goal (circle), from above"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *(part for k, panel in enumerate(panels) for part in _drawn(panel, k * height + _TOP)),
        f'<text x="{_MARGIN}" y="{len(panels) * height + 24:.0f}">{_legend()}</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _legend() -> str:
    words = {"#0b69a3": "went left", "#1b7f4d": "went right", "#c52707": "failed; cross: the vase was moved"}
    return " · ".join(f'<tspan fill="{colour}">{word}</tspan>' for colour, word in words.items())


def _drawn(panel: Panel, top: float) -> Iterator[str]:
    setting, length, width = panel.setting, 2 * HALF_LENGTH * SCALE, 2 * HALF_WIDTH * SCALE
    done = sum(trial.succeeded for trial in panel.trials)
    words = f"{panel.title}: {done} of {len(panel.trials)}"
    yield f'<text class="title" x="{_MARGIN}" y="{top - 8:.0f}">{escape(words)}</text>'
    yield f'<svg x="{_MARGIN}" y="{top:.0f}" width="{length:.0f}" height="{width:.0f}">'
    yield '<rect class="table" width="100%" height="100%"/>'
    yield _circle("vase", _place(setting, setting.vase), setting.scale * VASE_RADIUS)
    for trial in panel.trials:
        yield from _way(setting, trial)
    yield _circle("goal", _place(setting, (setting.goal.x, setting.goal.y)), WITHIN)
    yield "</svg>"


def _way(setting: Setting, trial: Trial) -> Iterator[str]:
    places = [_place(setting, place) for place in trial.places]
    kind = "failed" if not trial.succeeded else "left" if trial.way == LEFT else "right"
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline class="way {kind}" points="{points}"/>'
    yield _circle("start", places[0], 0.003)
    if not trial.kept:
        x, y = places[-1]
        yield f'<path class="cross" d="M {x - 5:.1f} {y - 5:.1f} l 10 10 m 0 -10 l -10 10"/>'


def _place(setting: Setting, point: Point) -> Point:
    """On the panel, in pixels."""
    forward, left = setting.seen_from_vase(*point)
    return (HALF_LENGTH + forward) * SCALE, (HALF_WIDTH - left) * SCALE


def _circle(kind: str, place: Point, radius: float) -> str:
    return f'<circle class="{kind}" cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius * SCALE:.1f}"/>'
