"""Node parameters with type, range and description, declared from a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

Value = bool | int | float | str | list[str]


@dataclass(frozen=True)
class Setting:
    """One parameter: its default gives its type; `minimum` and `maximum` bound a number."""

    name: str
    default: Value
    description: str
    minimum: float | None = None
    maximum: float | None = None

    def descriptor(self) -> ParameterDescriptor:
        described = ParameterDescriptor(name=self.name, description=self.description, read_only=True)
        if self.minimum is None or self.maximum is None:
            return described
        if isinstance(self.default, float):
            limits = FloatingPointRange(from_value=float(self.minimum), to_value=float(self.maximum))
            described.floating_point_range = [limits]
        else:
            limits = IntegerRange(from_value=int(self.minimum), to_value=int(self.maximum), step=1)
            described.integer_range = [limits]
        return described


def declare(node: Node, settings: Iterable[Setting]) -> None:
    """Declare every setting; raises rclpy's parameter exceptions for a value of the wrong type or out of range."""
    for setting in settings:
        node.declare_parameter(setting.name, setting.default, setting.descriptor())
