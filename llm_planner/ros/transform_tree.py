"""Transforms between the frames of a robot, as `/tf` and `/tf_static` say: a small part of tf2, which PyPI lacks."""

from __future__ import annotations

from collections import deque

from llm_planner.errors import InputError
from llm_planner.scene.geometry import compose, inverse
from llm_planner.scene.scene import Pose

KEPT = 200  # transforms of a moving frame
TOLERANCE = 0.1  # [s] between a transform of a moving frame and the time for which it is used
DEEPEST = 100  # frames from a frame to the root of its tree
FRAMES_MAX = 1000


class TransformTree:
    """Frames, each with its parent; a transform of a moving frame is taken at the nearest time, not interpolated."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._fixed: dict[str, Pose] = {}  # T_parent_child
        self._moving: dict[str, deque[tuple[float, Pose]]] = {}  # time [s] and T_parent_child

    def add(self, parent: str, child: str, pose: Pose, time: float | None) -> None:
        """Take `pose`, T_parent_child, at `time` [s], None if it is fixed; raise InputError for too many frames."""
        if child not in self._parents and len(self._parents) >= FRAMES_MAX:
            raise InputError(f"the frame {child[:80]!a} is one more than the {FRAMES_MAX} that are kept")
        self._parents[child] = parent
        if time is None:
            self._fixed[child] = pose
            self._moving.pop(child, None)
        else:
            self._fixed.pop(child, None)
            self._moving.setdefault(child, deque(maxlen=KEPT)).append((time, pose))

    def find(self, target: str, frame: str, time: float) -> Pose:
        """Return T_target_frame at `time` [s]; raise InputError if the frames are not connected at that time."""
        (root, T_root_frame), (top, T_top_target) = self._from_root(frame, time), self._from_root(target, time)
        if root != top:
            raise InputError(
                f"no transform leads from {frame!r} to {target!r}: /tf and /tf_static join {frame!r} to {root!r}, and "
                f"{target!r} to {top!r}. Publish one, for instance with: ros2 run tf2_ros static_transform_publisher "
                f"--frame-id {target} --child-frame-id {frame} --x ... "
            )
        return compose(inverse(T_top_target), T_root_frame)

    def _from_root(self, frame: str, time: float) -> tuple[str, Pose]:
        """Return the root of a frame's tree and T_root_frame."""
        pose = Pose((0.0, 0.0, 0.0))
        for _ in range(DEEPEST):
            if frame not in self._parents:
                return frame, pose
            pose = compose(self._at(frame, time), pose)
            frame = self._parents[frame]
        raise InputError(f"the frame {frame!r} of /tf is below itself, or more than {DEEPEST} frames deep")

    def _at(self, frame: str, time: float) -> Pose:
        if frame in self._fixed:
            return self._fixed[frame]
        when, pose = min(self._moving[frame], key=lambda known: abs(known[0] - time))
        if abs(when - time) > TOLERANCE:
            raise InputError(
                f"the transform of {frame!r} is {abs(when - time):.2f} s away from the time {time:.2f} s, for which it "
                f"is wanted; at most {TOLERANCE} s are taken. Do the computers share a clock, and does /tf arrive?"
            )
        return pose
