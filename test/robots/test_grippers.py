"""A gripper is described by data; its simulation, its grasps and the filter's solids follow from them."""

from __future__ import annotations

import math
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from llm_planner.control.safety_filter.robots import arm_body
from llm_planner.errors import InputError
from llm_planner.robots.arm_file import load_arm
from llm_planner.robots.arm_model import ArmKinematics, ArmModel, arm_model
from llm_planner.robots.gripper import DEFAULT_HAND, Gripper
from llm_planner.robots.urdf import simulated_urdf
from llm_planner.scene.scene import Scene, SceneObject
from llm_planner.share import share_folder
from llm_planner.simulation.objects import ObjectSpec, parse_objects
from llm_planner.simulation.tabletop import Placement, standing
from llm_planner.simulation.world import World
from llm_planner.skills.contract import SkillError, SkillErrorCode
from llm_planner.skills.episode import Episode
from llm_planner.skills.grasps import choose_grasp
from llm_planner.skills.hand_geometry import HandPose, hand_slices
from llm_planner.skills.library import load_skills

UR5E = share_folder("config") / "robots" / "ur5e"
NARROW = """
  kind: parallel
  length: 0.11
  opening: [0.0, 0.05]
  speed: 0.08
  force: 20.0
  fingers: [[0.008, 0.006, -0.008], [0.014, 0.008, 0.012]]
  palm: [0.025, 0.05, 0.035]
"""
WIDE = """
  kind: parallel
  length: 0.17
  opening: [0.02, 0.14]
  speed: 0.25
  force: 60.0
  fingers: [[0.014, 0.0125, -0.012], [0.022, 0.015, 0.02]]
  palm: [0.04, 0.06, 0.07]
"""
CUP = "{kind: suction, length: 0.12, cup: 0.015, force: 30.0, palm: [0.03, 0.03, 0.06]}"
SHORT = "{kind: parallel, length: 0.05, opening: [0, 0.05], speed: 0.1, force: 9.0, fingers: [[0.01, 0.01, 0.0]]"


def with_gripper(folder: Path, section: str) -> ArmModel:
    """Return the UR5e with another gripper."""
    text = (UR5E / "robot.yaml").read_text(encoding="utf-8").replace(": ur5e.urdf", f": {UR5E / 'ur5e.urdf'}")
    (folder / "robot.yaml").write_text(f"{text}gripper: {section}\n", encoding="utf-8")
    return load_arm(folder)


@pytest.mark.parametrize("name", ["ur5e_jaw", "ur5e_narrow_jaw", "ur5e_suction", "ur5e_wide_jaw", "xarm7_suction"])
def test_the_example_robots_rest_where_their_files_say(name):
    arm = load_arm(Path(__file__).parents[2] / "examples" / "robots" / name)
    place, rotation = ArmKinematics(arm.fixed_fingers_spec().compile()).forward(np.array(arm.home))
    assert place == pytest.approx(arm.shape.rest, abs=0.001)
    assert rotation[2, 2] == pytest.approx(-1.0, abs=1e-3)


def test_an_arm_has_the_hand_of_the_panda_unless_its_file_names_another_gripper(tmp_path):
    assert arm_model("ur5e").gripper is arm_model("panda").gripper is DEFAULT_HAND
    jaw = with_gripper(tmp_path, "jaw_85").gripper
    assert (jaw.is_suction, jaw.widest, jaw.length) == (False, 0.085, 0.1493)


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("jaw", "gripper is 'jaw'; choose one of: default_hand, jaw_85, suction_cup"),
        (
            "{kind: parallel, length: 0.1, force: 9, palm: [1, 1, 1]}",
            "gripper has no key 'opening'; a parallel gripper",
        ),
        (CUP.replace("}", ", speed: 0.1}"), "gripper.speed does not belong to a suction gripper; leave it out"),
        (CUP.replace("0.12", "-0.12"), "gripper.length must be greater than 0, not '-0.12'"),
        (SHORT + ", palm: [0.02, 0.02, 0.06]}", "list the parts of a finger from its end up, and let the palm begin"),
        (SHORT.replace("0.0]]", "0.01]]") + ", palm: [0.02, 0.02, 0.04]}", "end 0.01 m above the grip point"),
    ],
)
def test_a_gripper_that_is_described_wrongly_is_refused_with_the_line_and_what_to_write(tmp_path, section, told):
    with pytest.raises(InputError, match=rf"robot.yaml, line \d+: .*{re.escape(told)}"):
        with_gripper(tmp_path, section)


@pytest.mark.parametrize("section", [NARROW, WIDE, CUP, "jaw_85"], ids=["narrow", "wide", "cup", "jaw_85"])
def test_the_filter_covers_every_solid_of_the_hand_by_a_reader_of_its_own(tmp_path, section):
    arm, rng = with_gripper(tmp_path, section), np.random.default_rng(0)
    model = arm.make().compile()
    data, body, gripper = mujoco.MjData(model), arm_body(arm), arm.gripper
    hand = model.body(arm.hand).id
    solids = [
        g for g in range(model.ngeom) if hand in (model.geom_bodyid[g], model.body_parentid[model.geom_bodyid[g]])
    ]
    assert len(solids) == (2 if gripper.is_suction else 1 + 2 * len(gripper.fingers))
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    for width in gripper.opening:
        qpos = rng.uniform(arm.limits.qpos_min, arm.limits.qpos_max)
        data.qpos[:] = [*qpos, *[width / 2] * gripper.joints]
        mujoco.mj_kinematics(model, data)
        centres = body.place(qpos[None]).points[:, 0].T
        for geom in solids:
            inside = np.concatenate([corners, rng.uniform(-1, 1, (400, 3)), np.sign(rng.uniform(-1, 1, (400, 3)))])
            inside[-400:, rng.integers(3)] *= rng.uniform(0, 1, 400)  # edges
            points = (inside * model.geom_size[geom]) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            away = np.linalg.norm(points[:, None] - centres, axis=2) - body.radii
            assert away.min(axis=1).max() <= 0.0, model.geom(geom).name


@pytest.mark.parametrize("section", [NARROW, CUP], ids=["narrow", "cup"])
def test_controller_and_filter_have_the_grip_point_at_the_same_place(tmp_path, section):
    arm = with_gripper(tmp_path, section)
    qpos = np.random.default_rng(0).uniform(arm.limits.qpos_min, arm.limits.qpos_max, (20, arm.nq))
    kinematics = ArmKinematics(arm.fixed_fingers_spec().compile())
    theirs = [kinematics.forward(row)[0] for row in qpos]
    assert np.abs(arm_body(arm).place(qpos).points[:, :, 0].T - theirs).max() < 1e-9


def test_a_filter_that_cannot_read_the_gripper_says_so(tmp_path):
    arm = with_gripper(tmp_path, CUP)
    (tmp_path / "robot.yaml").write_text("gripper: {kind: suction, length: 0.12}", encoding="utf-8")
    with pytest.raises(InputError, match=r"the safety filter cannot read the gripper in .*robot.yaml: KeyError 'palm'"):
        arm_body(arm)


@pytest.mark.parametrize("section", [NARROW, WIDE, CUP], ids=["narrow", "wide", "cup"])
def test_the_slices_of_a_hand_contain_the_solids_of_the_simulator(tmp_path, section):
    gripper = with_gripper(tmp_path, section).gripper
    grip, opening = HandPose(0.5, 0.0, 0.1, 0.0), gripper.widest
    slices = hand_slices(grip, opening, gripper)
    palm, *fingers = slices
    assert palm.shape.half == gripper.palm[:2]
    assert palm.begins == pytest.approx(0.1 + gripper.palm[2])
    assert min(part.begins for part in fingers) == pytest.approx(0.1 - gripper.tip)
    inner = min(abs(part.shape.center[1]) - part.shape.half[1] for part in fingers)
    assert inner == pytest.approx(-gripper.cup if gripper.is_suction else opening / 2)


def at_table(arm: ArmModel, *names: str) -> tuple[World, Scene]:
    """Return a world with the things side by side in front of the arm, and its scene."""
    specs = parse_objects(", ".join(names))
    places = [Placement(0.5, 0.18 * k - 0.09 * (len(specs) - 1), 0.0) for k in range(len(specs))]
    things = tuple(standing(spec, place) for spec, place in zip(specs, places, strict=True))
    world = World(0, layout=Scene(0.0, things, arm=arm.name), arm=arm)
    return world, world.scene()


def thing(scene: Scene, name: str) -> SceneObject:
    return scene.find(name)


def test_the_fingers_decide_what_fits_between_them(tmp_path):
    _, scene = at_table(with_gripper(tmp_path, NARROW), "red block", "sponge", "mug")
    assert choose_grasp(scene, thing(scene, "red block")).width == pytest.approx(0.04)
    with pytest.raises(SkillError, match=r"sponge is too wide to grasp: 0.055 m of at most 0.044 m") as refused:
        choose_grasp(scene, thing(scene, "sponge"))
    assert refused.value.code is SkillErrorCode.NO_GRASP
    assert choose_grasp(scene, thing(scene, "mug")).width == pytest.approx(0.005)  # by its wall


def test_what_is_thinner_than_a_jaw_closes_is_refused(tmp_path):
    _, scene = at_table(with_gripper(tmp_path, WIDE), "green bowl")
    with pytest.raises(SkillError, match=r"bowl is too thin to grasp: 0.005 m of at least 0.020 m"):
        choose_grasp(scene, thing(scene, "green bowl"))


def test_a_cup_takes_level_faces_on_which_it_fits(tmp_path):
    _, scene = at_table(with_gripper(tmp_path, CUP), "red block", "mug", "green bowl")
    block, bowl = thing(scene, "red block"), thing(scene, "green bowl")
    assert choose_grasp(scene, block).grip.z == pytest.approx(0.04, abs=0.002)
    assert choose_grasp(scene, bowl).grip.z == pytest.approx(0.005, abs=0.002)  # inside, on its floor
    with pytest.raises(SkillError, match=r"the mug has no flat face on top in which the suction cup of 3.0 cm fits"):
        choose_grasp(scene, thing(scene, "mug"))


def test_a_bowl_that_is_not_empty_leaves_no_room_for_the_cup(tmp_path):
    _, scene = at_table(with_gripper(tmp_path, CUP), "green bowl", "red block")
    x, y, _ = thing(scene, "green bowl").position
    lying = standing(ObjectSpec("red block", "block", "red"), Placement(x, y, 0.0))
    full = Scene(0.0, (thing(scene, "green bowl"), lying), arm=scene.arm)
    with pytest.raises(
        SkillError, match="the suction cup does not fit onto the green bowl: the red block is too close"
    ):
        choose_grasp(full, thing(full, "green bowl"))


@pytest.mark.parametrize(
    ("section", "name"),
    [(NARROW, "mug"), (WIDE, "red block"), ("jaw_85", "mug"), (CUP, "vase"), (CUP, "plate")],
    ids=["narrow", "wide", "jaw_85", "cup at a vase", "cup in a plate"],
)
def test_each_gripper_carries_an_object_beside_another_and_lets_it_go(tmp_path, section, name):
    world, before = at_table(with_gripper(tmp_path, section), name, "blue block")
    episode, library = Episode(world), load_skills(learned=False)
    assert episode.run(library.find("pick"), {"object": name}).code is SkillErrorCode.SUCCEEDED
    lifted = world.scene()
    assert lifted.held == name
    assert lifted.find(name).position[2] > before.find(name).position[2] + 0.05
    put = episode.run(library.find("place_beside"), {"object": "blue block", "direction": "top", "distance": 0.05})
    assert put.code is SkillErrorCode.SUCCEEDED, put.message
    after = world.scene()
    assert after.held == ""
    assert after.find(name).position[2] == pytest.approx(before.find(name).position[2], abs=0.003)
    assert math.dist(after.find(name).position[:2], before.find(name).position[:2]) > 0.05


def test_a_cup_holds_nothing_while_it_is_off_and_pulls_no_more_than_its_force(tmp_path):
    arm = with_gripper(tmp_path, CUP)
    world, _ = at_table(arm, "red block")
    assert world.gripper_width() == arm.gripper.widest
    assert world.scene().held == ""
    assert world.model.actuator("gripper").gainprm[0] == 30.0


def test_a_jaw_opens_and_closes_at_its_own_speed_and_force(tmp_path):
    arm = with_gripper(tmp_path, NARROW)
    world, _ = at_table(arm, "red block")
    still = world.joint_state().qpos
    from llm_planner.control.formulation import hold

    world.follow(hold(still, world.time, 0.1, 0.0), 0.25)
    assert world.gripper_width() == pytest.approx(0.05 - 0.25 * 0.08, abs=0.003)
    assert world.model.actuator("gripper").forcerange.tolist() == [-20.0, 20.0]


def test_a_gripper_whose_opening_is_no_range_is_refused():
    with pytest.raises(InputError, match=r"opens from 0.05 to 0.02 m"):
        Gripper("odd", False, 0.1, (0.05, 0.02), 0.1, 9.0, ((0.01, 0.01, 0.0),), (0.02, 0.02, 0.05))


def test_a_gripper_is_a_file_of_its_own(tmp_path):
    (tmp_path / "claw.yaml").write_text("\n".join(line.strip() for line in NARROW.splitlines()), encoding="utf-8")
    arm = with_gripper(tmp_path, "claw.yaml")
    assert arm.gripper.name == "claw"
    assert arm.gripper.opening == (0.0, 0.05)
    assert arm.gripper.file == tmp_path / "claw.yaml"  # which the safety filter reads by itself


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("claw", "choose one of: default_hand, jaw_85, suction_cup; a file of your own ends in .yaml"),
        ("jaw85", "did you mean 'jaw_85'"),
        (NARROW.replace("0.05]", "0.9]"), "opening goes up to 0.9 m, and 0.3 m is the most; give it in metres"),
    ],
)
def test_a_gripper_that_cannot_be_is_refused(tmp_path, section, told):
    with pytest.raises(InputError, match=re.escape(told)):
        with_gripper(tmp_path, section)


def test_a_mesh_or_joint_that_is_nearly_right_is_named(tmp_path):
    (tmp_path / "forearm.stl").write_bytes(b"")
    (tmp_path / "arm.urdf").write_text(
        '<robot name="a"><link name="base"/><link name="tip"><collision><geometry><mesh filename="foreram.stl"/>'
        '</geometry></collision></link><joint name="elbow_joint" type="revolute"><parent link="base"/>'
        '<child link="tip"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>',
        encoding="utf-8",
    )
    with pytest.raises(InputError, match=r"did you mean 'forearm\.stl'"):
        simulated_urdf(tmp_path / "arm.urdf", "base", ("elbow_joint",))
    with pytest.raises(InputError, match="did you mean 'elbow_joint'"):
        simulated_urdf(tmp_path / "arm.urdf", "base", ("elbow_jonit",))
