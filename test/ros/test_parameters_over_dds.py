"""Parameters of the running nodes: every bad value is refused with a reason, and nothing moves."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters

from llm_planner.ros.node_table import NODES_IN_SIMULATION

TEXT = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value="no such value")
LIST = ParameterValue(type=ParameterType.PARAMETER_DOUBLE_ARRAY, double_array_value=[1.0, 2.0])
UNSET = ParameterValue(type=ParameterType.PARAMETER_NOT_SET)
OF_RCLPY = ("use_sim_time", "start_type_description_service")


def double(value: float) -> ParameterValue:
    return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)


def integer(value: int) -> ParameterValue:
    return ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=value)


def bad_values(described: ParameterDescriptor) -> Iterator[ParameterValue]:
    """Values that the parameter must refuse: of a wrong type, not finite, out of range, any if it is read-only."""
    yield LIST
    yield UNSET
    if described.type != ParameterType.PARAMETER_STRING:
        yield TEXT
    for span in described.floating_point_range:
        yield from map(double, (math.nan, math.inf, -1.0, span.from_value - 1.0, span.to_value + 1.0))
    for span in described.integer_range:
        yield from (double(0.5), integer(span.from_value - 1), integer(span.to_value + 1))
    if described.read_only and described.type == ParameterType.PARAMETER_STRING:
        yield TEXT
    if described.read_only and described.type == ParameterType.PARAMETER_BOOL:
        yield ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=True)


@pytest.fixture(scope="module")
def parameters(system) -> dict[str, dict[str, ParameterDescriptor]]:
    """Descriptors of all parameters, by node."""
    found = {}
    for entry in NODES_IN_SIMULATION:
        listed = system.call(ListParameters, f"{entry.name}/list_parameters", ListParameters.Request()).result.names
        names = [name for name in listed if name not in OF_RCLPY and not name.startswith("qos_overrides")]
        request = DescribeParameters.Request(names=names)
        answer = system.call(DescribeParameters, f"{entry.name}/describe_parameters", request)
        found[entry.name] = {one.name: one for one in answer.descriptors}
    return found


def test_every_parameter_is_described_and_every_number_has_a_range(parameters):
    for node, described in parameters.items():
        for one in described.values():
            assert len(one.description) > 10, f"{node}: {one.name}"
            is_number = one.type in (ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_INTEGER)
            assert not is_number or one.floating_point_range or one.integer_range, f"{node}: {one.name}"


def test_bad_values_are_refused_with_a_reason_and_nothing_moves(parameters, fresh):
    fresh.wait_until_at_rest(1.0)
    before, refused = fresh.qpos, 0
    for node, described in parameters.items():
        names = list(described)
        values = fresh.call(GetParameters, f"{node}/get_parameters", GetParameters.Request(names=names)).values
        tried = [Parameter(name=name, value=bad) for name in names for bad in bad_values(described[name])]
        tried.append(Parameter(name="no_such_parameter", value=TEXT))
        answer = fresh.call(SetParameters, f"{node}/set_parameters", SetParameters.Request(parameters=tried))
        for one, result in zip(tried, answer.results, strict=True):
            assert not result.successful, f"{node}: {one}"
            assert result.reason, f"{node}: {one}"
        refused += len(tried)
        after = fresh.call(GetParameters, f"{node}/get_parameters", GetParameters.Request(names=names)).values
        assert after == values
    assert refused >= 50
    fresh.client.spin_for(0.5)
    assert fresh.qpos == pytest.approx(before, abs=1e-3)
    assert fresh.works_again()


def test_every_node_answers_about_the_parameters_of_rclpy(system):
    for entry in NODES_IN_SIMULATION:
        names = GetParameters.Request(names=["use_sim_time"])
        (value,) = system.call(GetParameters, f"{entry.name}/get_parameters", names).values
        request = SetParameters.Request(parameters=[Parameter(name="use_sim_time", value=value)])
        (result,) = system.call(SetParameters, f"{entry.name}/set_parameters", request).results
        assert result.successful, f"{entry.name}: {result.reason}"


def test_what_may_change_does_so_within_its_range(system):
    system.set_parameter("simulator", "real_time_factor", double(1.0))
    system.set_parameter("simulator", "real_time_factor", double(2.0))
