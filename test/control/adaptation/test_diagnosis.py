import numpy as np
import pytest

from llm_planner.control.adaptation import Diagnoser, Diagnosis, Fault
from llm_planner.control.adaptation_estimator import Belief, Kind, Layout

LAYOUT = Layout(7)


def belief(**values: float) -> Belief:
    """What is believed of kinds of unknowns: payload_0=1.5, viscous_2=3.0 (joints count from 0)."""
    theta, groups = np.zeros(LAYOUT.size), []
    for name, value in values.items():
        kind, joint = Kind[name.rsplit("_", 1)[0].upper()], int(name.rsplit("_", 1)[1])
        group = next(group for group in LAYOUT.groups() if group.kind is kind and group.joint in (joint, -1))
        theta[group.index[0]] = value
        groups.append(group)
    return Belief(tuple(groups), theta, np.full(LAYOUT.size, 0.01))


def after(seconds: float, held: Belief) -> tuple[Diagnosis, ...]:
    diagnoser = Diagnoser()
    for tick in range(round(10 * seconds) + 1):
        diagnoser.update(held, 100.0 + 0.1 * tick)
    return diagnoser.diagnoses


def test_what_was_believed_for_a_moment_is_not_said() -> None:
    assert after(2.5, belief(mass_0=1.5)) == ()


@pytest.mark.parametrize(
    ("held", "sentence"),
    [
        (belief(mass_0=1.52), "about 1.5 kg more than expected hangs from the hand, since 12 s"),
        (belief(coulomb_3=3.1), "joint 4 drags with 3.1 Nm: its friction has grown, since 12 s"),
        (belief(viscous_1=4.0, coulomb_1=1.0), "joint 2 drags with 3.0 Nm: its friction has grown, since 12 s"),
        (belief(gain_3=-0.12), "the drive of joint 4 gives 12% less torque than commanded, since 12 s"),
        (belief(gain_0=0.2), "the drive of joint 1 gives 20% more torque than commanded, since 12 s"),
    ],
)
def test_what_is_believed_for_long_is_said_in_words(held: Belief, sentence: str) -> None:
    (diagnosis,) = after(12.0, held)

    assert diagnosis.words(112.0) == sentence


@pytest.mark.parametrize("held", [belief(mass_0=0.2), belief(coulomb_1=0.3), belief(gain_2=-0.03), belief(push_0=50.0)])
def test_what_is_small_or_a_push_is_not_said(held: Belief) -> None:
    assert after(60.0, held) == ()


def test_what_is_believed_no_more_is_taken_back_and_the_oldest_is_said_first() -> None:
    diagnoser = Diagnoser()
    for now in range(10):
        diagnoser.update(belief(coulomb_3=3.0) if now < 4 else belief(mass_0=1.5, coulomb_3=3.0), float(now))
    both = [(diagnosis.fault, diagnosis.joint, diagnosis.since) for diagnosis in diagnoser.diagnoses]
    diagnoser.update(belief(), 10.0)

    assert both == [(Fault.FRICTION, 4, 0.0), (Fault.PAYLOAD, 0, 4.0)]
    assert diagnoser.diagnoses == ()
