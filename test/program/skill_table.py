"""The skills of docs/policy_programs.md as signatures, for tests that need a library but no robot."""

from llm_planner.program.signatures import Parameter, Precondition, Signature
from llm_planner.world.atoms import parse_atom
from llm_planner.world.scene import IDENTITY, Scene, SceneObject

_OBJECT = Parameter("object", "object")
_DIRECTION = Parameter("direction", "direction")


def skill(name, *parameters, before=(), after=()):
    names = [parameter.name for parameter in parameters]
    return Signature(
        name,
        parameters,
        is_skill=True,
        preconditions=tuple(Precondition(parse_atom(text, names), f"{text} is not so") for text in before),
        effects=tuple(parse_atom(text, names) for text in after),
    )


SKILLS = (
    skill("pick", _OBJECT, before=["empty()"], after=["held(object)"]),
    skill("place_on", _OBJECT, before=["holding()", "different(held, object)"], after=["on(held, object)", "empty()"]),
    skill("place_in", _OBJECT, before=["holding()", "container(object)"], after=["in(held, object)", "empty()"]),
    skill(
        "place_beside",
        _OBJECT,
        Parameter("direction", "direction", "left"),
        Parameter("distance", "number", 0.04, 0.02, 0.3, unit="m"),
        before=["holding()"],
        after=["beside(held, object, direction, distance)", "empty()"],
    ),
    skill("place_at", Parameter("place", "place"), before=["holding()"], after=["at(held, place)", "empty()"]),
    skill(
        "place_offset",
        _DIRECTION,
        Parameter("distance", "number", minimum=0.01, maximum=0.6, unit="m"),
        before=["holding()"],
        after=["moved(held, direction, distance)", "empty()"],
    ),
    skill(
        "push",
        _OBJECT,
        _DIRECTION,
        Parameter("distance", "number", minimum=0.02, maximum=0.3, unit="m"),
        before=["empty()"],
        after=["moved(object, direction, distance)"],
    ),
    skill("open_gripper", after=["empty()"]),
    skill("close_gripper"),
    skill("go_home"),
)

BLOCK = (0.04, 0.04, 0.04)
BOWL = (0.15, 0.15, 0.06)


def thing(name, x, y, z=None, size=None):
    color, _, kind = name.rpartition(" ")
    size = size or (BOWL if kind == "bowl" else BLOCK)
    return SceneObject(name, kind, color, (x, y, size[2] / 2 if z is None else z), IDENTITY, size)


def table(*things, held=""):
    return Scene(0.0, things, held)


def usual_scene():
    """Three blocks and three bowls; seen from behind: red block far left, green in the middle, blue near right."""
    return table(
        thing("red block", 0.55, 0.25),
        thing("green block", 0.45, 0.0),
        thing("blue block", 0.35, -0.25),
        thing("red bowl", 0.45, -0.12),
        thing("green bowl", 0.55, -0.3),
        thing("blue bowl", 0.35, 0.15),
    )
