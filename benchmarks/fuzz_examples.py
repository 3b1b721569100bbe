"""Messages as a system that works sends them: what the fuzz changes."""

from __future__ import annotations

import numpy as np
from fuzzed_messages import Examples
from geometry_msgs.msg import Point
from llm_planner_interfaces.action import ExecuteSkill
from llm_planner_interfaces.msg import PlanStatus
from llm_planner_interfaces.srv import EditPlan

from llm_planner.control.motion_constraints import MotionConstraints as Constraints
from llm_planner.control.motion_constraints import Patch
from llm_planner.corrections.edits import Adjust, Answer, Change, Edit, Outcome
from llm_planner.ltl.formula import Constraint as Rule
from llm_planner.ltl.parser import parse
from llm_planner.plans.plan import Plan as PlanValue
from llm_planner.plans.plan import PlanStep as Step
from llm_planner.robots.arm_model import arm_model
from llm_planner.robots.motion import JointState as State
from llm_planner.robots.motion import JointTrajectory as Trajectory
from llm_planner.robots.motion import MotionReference as Reference
from llm_planner.ros.conversions import camera_messages as camera
from llm_planner.ros.conversions import correction_messages as corrections
from llm_planner.ros.conversions import motion_messages as motion
from llm_planner.ros.conversions import plan_messages as plans
from llm_planner.ros.conversions import robot_messages as robots
from llm_planner.ros.conversions import scene_messages as scenes
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape
from llm_planner.scene.zones import Zone as ZoneValue
from llm_planner.simulation.loaded import open_loaded
from llm_planner.skills.tuning import Tuning

PANDA = arm_model("panda")


def examples() -> Examples:
    """What a system that works would send."""
    known, zone = Examples(), ZoneValue("the mug", Shape.BOX, (0.05, 0.05, 0.05), Pose((0.5, 0.0, 0.05)), 0.02)
    for world in ("tabletop", "rooms"):
        known.add(scenes.scene_to_msg(open_loaded(world, 0.0, 1, None).scene(), "panda_link0", world, 7))
    step = Step("1", "pick", {"object": "red block", "height": 0.1, "place": (0.5, 0.0, 0.1)}, 1)
    rule = Rule(parse("G !near(hand, mug)"), "keep away from the mug")
    edit = corrections.edit_to_text(Edit((Adjust("speed", Change.SCALE, 0.5),), "slower"))
    plan = plans.plan_to_msg(PlanValue("pick it", 'pick("red block")', (step,), True, (rule,)), "7", 1.0)
    still = np.zeros((3, 7))
    for message in (
        plan,
        PlanStatus(
            plan_id="7", steps=plan.steps, constraints=plan.constraints, edits=[edit], things=["mug"],
            origins=[Point()], command="pick it", state=PlanStatus.RUNNING,
        ),
        robots.joint_state_to_msg(State(1.0, np.zeros(7), np.zeros(7), np.zeros(7)), 0.04, PANDA),
        robots.trajectory_to_msg(Trajectory(1.0, 0.05, still, still, still[:2], 0.04), PANDA),
        motion.reference_to_msg(Reference(1.0, 0.05, (Pose((0.5, 0.0, 0.2)),) * 5, 0.04), "panda_link0"),
        camera.image_to_msg(np.zeros((4, 6, 3), np.uint8), 1.0, "camera"),
        robots.odometry_to_msg(State(1.0, np.zeros(3), np.zeros(3))),
        robots.velocity_to_msg((0.1, 0.0, 0.2)),
        motion.patch_to_msg(Patch("a rule", 1.0, 2.0, 3, 0.2, 0.5, 0.01, (zone,), {"position": 2.0}), "panda_link0"),
        motion.constraints_to_msg(Constraints(0.2, 0.5, (zone,), 1, {"position": 2.0}), 1.0, "panda_link0"),
        corrections.result_to_msg(Answer(Outcome.APPLIED, "slower"), "slower", "", plan.header),
        corrections.tuning_to_msg(Tuning((0.01, 0.0, 0.0)), "1", 7, plan.header),
        EditPlan.Request(plan_id="7", edit=edit),
        ExecuteSkill.Goal(skill="pick", arguments=plan.steps[0].arguments, zones=[motion.zone_to_msg(zone)]),
        ExecuteSkill.Goal(skill="pick", arguments=plan.steps[0].arguments[:1]),
    ):  # fmt: skip
        known.add(message)
    return known
