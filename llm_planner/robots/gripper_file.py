"""Grippers in files: the `gripper` of a `robot.yaml`, given in full or as the name of one in `config/grippers`.

    gripper: suction_cup            # of config/grippers; default_hand if left out

    gripper:
      kind: parallel
      length: 0.1493                # from the mounting to the grip point [m]
      opening: [0.0, 0.085]         # between the fingertips [m]
      speed: 0.15                   # of the opening [m/s]
      force: 40                     # [N]
      fingers: [[0.012, 0.011, -0.011], [0.022, 0.0135, 0.018]]
      palm: [0.0375, 0.0375, 0.055]

`Gripper` explains the values. A suction gripper has a `cup`, the radius [m], and neither opening, speed nor fingers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from llm_planner.robots.gripper import DEFAULT_HAND, SWITCH, Gripper, GripperKind
from llm_planner.share import share_folder
from llm_planner.strict_yaml import FileModel, Interval, LocatedError, Positive, at, no_choice, read_file

JAW = ("opening", "speed", "fingers")  # keys of a parallel gripper alone


class GripperEntry(FileModel):
    """Gripper as in a file."""

    kind: Literal["parallel", "suction"] = Field(description="what it holds with")
    length: Positive = Field(description="from the mounting on the tool to the grip point [m]")
    force: Positive = Field(description="between the fingertips, or pull of the cup [N]")
    palm: tuple[Positive, Positive, Positive] = Field(
        description="half extents along x and the closing axis, height of the lower end above the grip point [m]"
    )
    mass: Positive = Field(default=0.7, description="[kg]")
    opening: Interval | None = Field(
        default=None, description="least and largest distance between the fingertips [m]; parallel only"
    )
    speed: Positive | None = Field(default=None, description="of the opening [m/s]; parallel only")
    fingers: tuple[tuple[Positive, Positive, float], ...] = Field(
        default=(),
        description="parts of a finger from its end up: thickness outwards from the inner face, half breadth, height "
        "of the lower end above the grip point [m]; parallel only",
    )
    cup: Positive | None = Field(default=None, description="radius of the cup [m]; suction only")

    @model_validator(mode="after")
    def _is_complete(self) -> GripperEntry:
        wanted = JAW if self.kind == "parallel" else ("cup",)
        for key in (*JAW, "cup"):
            given = getattr(self, key) not in (None, ())
            if given and key not in wanted:
                raise LocatedError(f"does not belong to a {self.kind} gripper; leave it out", key)
            if key in wanted and not given:
                raise LocatedError(f"has no key {key!r}; a {self.kind} gripper needs: {', '.join(wanted)}")
        return self

    def build(self, name: str, file: Path) -> Gripper:
        """Return the gripper; raises InputError if its parts do not fit together."""
        if self.cup is not None:
            stem = (2 * self.cup, self.cup, 0.0)
            return Gripper(
                name, GripperKind.SUCTION, self.length, (0.0, SWITCH), 1.0, self.force, (stem,), self.palm, self.mass,
                file,
            )  # fmt: skip
        assert self.opening is not None
        assert self.speed is not None
        return Gripper(
            name, GripperKind.PARALLEL, self.length, self.opening, self.speed, self.force, self.fingers, self.palm,
            self.mass, file,
        )  # fmt: skip


def read_gripper(given: GripperEntry | str, robot: Path) -> Gripper:
    """Return the gripper of the file `robot`; raises InputError for an unknown name or parts that do not fit."""
    with at("gripper"):
        if isinstance(given, GripperEntry):
            return given.build("in robot.yaml", robot)
    return DEFAULT_HAND if given == DEFAULT_HAND.name else shipped_gripper(given)


def shipped_gripper(name: str) -> Gripper:
    """Return a gripper of `config/grippers` by name; raises InputError that lists them for an unknown one."""
    folder = share_folder("config") / "grippers"
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in names:
        raise no_choice(repr(name), (DEFAULT_HAND.name, *names), "gripper")
    path = folder / f"{name}.yaml"
    return read_file(path, GripperEntry, lambda entry: entry.build(name, path))
