"""Compiled inner loops of the safety filter (`kernel.cpp`, `model.hpp`); `make setup` builds them.

Arrays are C-contiguous, of float64 or int64. A wrong type raises TypeError, BufferError or ValueError, and shapes that
disagree raise ValueError; indices inside arrays are trusted.
"""

from llm_planner.control.safety_filter.bodies import Indices
from llm_planner.robots.motion import Array

class Model:
    """Copy of a body and its gaps, on which look-aheads and proofs run. `len` is the number of gaps."""

    def __init__(
        self,
        joints: Array,
        slides: Indices,
        link: Indices,
        local: Array,
        bend: Array,
        most: Array,
        solids: Array,
        between: Indices,
        kept: Array,
        weights: Array,
        reach: Array,
        /,
    ) -> None:
        """Copy the attributes of a `bodies.Body` and of its `distances.Gaps` that have these names."""

    def __len__(self) -> int: ...
    def widened(self, margin: float, /) -> Model:
        """Return it with all clearances increased by `margin` [m] for each moving point."""

    def near(self, qpos: Array, way: Array, more: float, /) -> Model:
        """Reduce it to point 0 and the gaps that can close to `more` [m] for each moving point.

        Args:
            qpos: Joint positions, (nq,) [rad, m].
            way: Motion of each joint from these, (nq,) [rad, m].
        """

    def least(self, qpos: Array, /) -> float:
        """Return the smallest clearance at joint positions (n, nq) [m]; infinity without gaps."""

    def path(self, qpos: Array, between: Array, shrinks: float, enough: float, /) -> tuple[float, int, float]:
        """Bound all clearances from below along a path.

        Args:
            qpos: Joint positions, (n, nq) [rad, m].
            between: Deviation of the body's points from their chords in each step, (n - 1,) [m].
            shrinks: How much a clearance that is violated at the start may shrink [m].
            enough: Bound above which a closer look is not needed [m].

        Returns:
            Bound [m], exact only up to `enough`; the number of the solid behind the first gap that violates its
            clearance, or a violated one that becomes smaller, or -1; the longest step of point 0 [m].
        """

    def look_ahead(self, qpos: Array, qvel: Array, qacc: Array, braking: Array, dt: float, samples: int, /) -> Ahead:
        """Look ahead over a hold of `qacc` for `dt` [s] and at most `samples` samples of braking with `braking`.

        Arrays (nq,) have the units [rad], [rad/s] and [rad/s^2].
        """

class Ahead:
    """Look ahead over a hold of one acceleration and the braking after it, made by `Model.look_ahead`."""

    def unseen(self) -> tuple[float, float]:
        """Return bounds on the deviation of points from their chords during the hold and while braking [m]."""

    def lowest(self, shrinks: float, enough: float, /) -> tuple[float, int]:
        """Bound all clearances along the path from below; arguments and results are those of `Model.path`."""

    def room(self, gamma: float, margin: float, /) -> float:
        """Return the least by which a clearance exceeds its barrier [m], at rest or half way there.

        The barrier is 1 - `gamma` of the clearance at which immediate braking ends, or of the present one if that is
        smaller, and `gamma` of `margin` [m]. A violated clearance must not shrink. Without gaps it is infinite.
        """

    def speed(self, jacobian: Array, /) -> float:
        """Write the Jacobian (3, nq) of point 0 after the hold, and return its speed there [m/s]."""

    def rows(self, gamma: float, margin: float, acceleration: Array, slopes: Array, needs: Array, /) -> list[int]:
        """Linearise the barriers that a change of the acceleration of twice `acceleration` (nq,) can violate.

        Args:
            gamma: As in `room`.
            margin: As in `room`.
            acceleration: Unit of a change u, (nq,) [rad/s^2].
            slopes: Receives at most k rows, (k, nq) [m]; if there are more, those with the largest needs.
            needs: Receives what slope . u must reach, (k,) [m].

        Returns:
            The number of the solid behind each row, in the order of gaps.
        """

def way_to_rest(qpos: Array, qvel: Array, qacc: Array, braking: Array, dt: float, way: Array, off: Array) -> int:
    """Write to `way` (most + 3, nq) and `off` (most + 1, nq) what `proof.way_to_rest` returns; return its samples."""

def deviation(qpos: Array, qvel: Array, qacc: Array, dt: float, elapsed: float, measured: Array, lags: Array) -> float:
    """Return the largest deviation of a joint from a motion, for the delay that fits best [rad].

    Args:
        qpos: Positions at the knots of the motion, (n + 1, nq) [rad].
        qvel: Velocities there, (n + 1, nq) [rad/s].
        qacc: Accelerations between them, (n, nq) [rad/s^2].
        dt: Interval of the knots [s].
        elapsed: Time since the first one [s]; the first and the last knot hold outside.
        measured: Measured positions, (nq,) [rad].
        lags: Possible delays, (k,) [s].
    """

def sag(qpos: Array, off: Array, bend: Array, most: Array, result: Array) -> None:
    """Write to `result` (n - 1,) what `proof.sag` returns."""

def acceleration_bounds(
    qpos: Array,
    qvel: Array,
    lower: Array,
    upper: Array,
    velocity: Array,
    acceleration: Array,
    braking: Array,
    dt: float,
    result: Array,
) -> None:
    """Write to `result` (2, nq) what `proof.acceleration_bounds` returns."""

def fill(
    rows: Array, lower: Array, first: int, column: int, penalty: float, least: float, slopes: Array, needs: Array
) -> None:
    """Write rows of one rank, scaled to unit norm, from row `first` of a program on.

    Args:
        rows: Matrix of the program, (k, n).
        lower: Lower bounds of its rows, (k,).
        first: Row of the first one.
        column: Variable of the slack that they share.
        penalty: Coefficient of the slack.
        least: Norm below which a row is dropped.
        slopes: Slopes, (m, nq).
        needs: What slope . u must reach, (m,).
    """

def place(
    qpos: Array, joints: Array, slides: Indices, link: Indices, local: Array, frames: Array, points: Array
) -> None:
    """Place a body (see `bodies.Body`) at `qpos` (n, nq) [rad, m].

    Args:
        frames: Receives the first three rows of the frames of all joints, (n, nq, 12).
        points: Receives the positions of all points, (3, n, S) [m].
    """

def slopes(
    frames: Array,
    points: Array,
    slides: Indices,
    link: Indices,
    posture: Indices,
    point: Indices,
    normals: Array,
    result: Array,
) -> None:
    """Write to `result` (m, nq) the derivatives by each joint of `point` in `posture` (m,) along `normals` (m, 3)."""

def clearances(points: Array, solids: Array, between: Indices, kept: Array, values: Array, normals: Array) -> None:
    """Compute the clearances of gaps (see `distances.Gaps`).

    Args:
        points: Positions of the points, (3, n, S) [m].
        values: Receives the clearances, (M, n) [m].
        normals: Receives the gradients of the clearances by the point, (M, n, 3).
    """
