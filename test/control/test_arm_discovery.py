"""An arm is found in a URDF: base, tool and joints; what is ambiguous or malformed is refused with the choices."""

import mujoco
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_discovery import MOUNT, Mount, find_arm, joints_of, with_tool
from llm_planner.robots.arm_model import Mounting, resolve
from llm_planner.robots.urdf import LIGHT, urdf_spec

SOLID = '<collision><geometry><box size="0.05 0.05 0.2"/></geometry></collision>'
MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
AXES = ("0 0 1", "0 1 0", "0 1 0", "0 0 1", "0 1 0", "0 0 1")
LIMIT = '<limit lower="-2" upper="2" velocity="3" effort="50"/>'


def link(name, content=SOLID + MASS):
    return f'<link name="{name}">{content}</link>'


def joint(name, parent, child, kind="fixed", axis="0 0 1", xyz="0 0 0.2", rpy="0 0 0", limit=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def chain(prefix="", base="base_link", count=6):
    parts, below = [], base
    for k in range(1, count + 1):
        parts.append(link(f"{prefix}link{k}"))
        parts.append(joint(f"{prefix}joint{k}", below, f"{prefix}link{k}", "revolute", AXES[k - 1], limit=LIMIT))
        below = f"{prefix}link{k}"
    return "".join(parts)


BASE = link("world", "") + link("base_link") + joint("stand", "world", "base_link", xyz="0 0 1")
FLANGE = link("tool0", "") + joint("flange", "link6", "tool0")
CAMERA = link("camera", "") + joint("camera_mount", "link6", "camera", rpy="1.57 0 0")
GRIPPER = (
    link("palm") + joint("gripper_mount", "link6", "palm")
    + link("finger") + joint("finger_joint", "palm", "finger", "revolute", limit=LIMIT)
)  # fmt: skip


@pytest.fixture
def urdf(tmp_path):
    def written(*parts):
        path = tmp_path / "arm.urdf"
        path.write_text(f'<robot name="arm">{"".join(parts)}</robot>', encoding="utf-8")
        return path

    return written


def test_the_longest_chain_stands_on_the_link_below_it_and_ends_at_the_flange(urdf):
    found = find_arm(urdf(BASE, chain(), CAMERA, FLANGE))
    assert (found.base, found.tool, found.mount) == ("base_link", "tool0", None)
    assert [one.name for one in found.joints] == [f"joint{k}" for k in range(1, 7)]
    assert found.joints[0].range == (-2.0, 2.0)
    assert any("tool0 (of link6, camera, tool0" in note for note in found.notes)


def test_a_gripper_of_the_description_is_no_part_of_the_arm(urdf):
    path = urdf(BASE, chain(), GRIPPER)
    found = find_arm(path)
    assert len(found.joints) == 6
    assert found.grippers == ("palm", "finger")
    assert "finger" not in with_tool(path, found, str)


SLIDING = link("block") + link("plate") + joint("slide", "block", "plate", "prismatic", limit=LIMIT)


def test_what_slides_and_the_solid_that_bears_it_are_a_gripper_in_whose_place_the_hand_is_mounted(urdf):
    found = find_arm(urdf(BASE, chain(), SLIDING, joint("mounted", "link6", "block", xyz="0 0 0.1", rpy="0 0 0.5")))
    assert found.grippers == ("block", "plate")
    assert (found.tool, found.mount) == (MOUNT, Mount("link6", Mounting(position=(0.0, 0.0, 0.1), rpy=(0.0, 0.0, 0.5))))


def test_a_flange_without_solids_is_no_part_of_the_gripper_that_it_bears(urdf):
    found = find_arm(urdf(BASE, chain(), FLANGE, SLIDING, joint("mounted", "tool0", "block")))
    assert (found.grippers, found.tool, found.mount) == (("block", "plate"), "tool0", None)


def test_a_tool_is_added_where_no_link_has_z_out_of_the_arm(urdf, tmp_path):
    path = urdf(BASE, chain(count=5), link("link6", SOLID.replace("0.05 0.05 0.2", "0.25 0.05 0.05") + MASS),
                joint("joint6", "link5", "link6", "revolute", "1 0 0", "0.2 0 0", limit=LIMIT))  # fmt: skip
    found = find_arm(path)
    assert found.tool == MOUNT
    copy = tmp_path / "copy.urdf"
    copy.write_text(with_tool(path, found, str), encoding="utf-8")
    model = urdf_spec(copy, found.base, [one.name for one in found.joints])[0].compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    axis = data.joint("joint6").xaxis
    assert data.body(MOUNT).xmat.reshape(3, 3)[:, 2] == pytest.approx(axis, abs=1e-6)
    assert (data.body(MOUNT).xpos - data.body("link6").xpos) @ axis == pytest.approx(0.125)  # the end of its box


def test_what_the_urdf_does_not_say_is_unknown(urdf):
    endless = joint("joint6", "link5", "link6", "continuous")
    found = joints_of(urdf(BASE, chain(count=5), link("link6"), endless))["joint6"]
    assert (found.range, found.velocity, found.torque) == (None, None, None)


def test_only_the_subtree_of_the_base_is_simulated_and_only_its_joints_move(urdf):
    path = urdf(BASE, chain(), GRIPPER)
    spec, _ = urdf_spec(path, "base_link", [f"joint{k}" for k in range(1, 7)])
    model = spec.compile()
    assert model.nq == 6
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    assert data.body("link1").xpos == pytest.approx((0.0, 0.0, 0.2))  # not a metre up, on its stand


def test_a_moving_link_without_mass_is_given_a_small_one(urdf):
    path = urdf(BASE, chain().replace(link("link6"), link("link6", "")), FLANGE)
    model = urdf_spec(path, "base_link", [f"joint{k}" for k in range(1, 7)])[0].compile()
    assert model.body("link6").mass[0] == LIGHT


@pytest.mark.parametrize(
    ("parts", "choice", "told"),
    [
        ((BASE, chain("left_"), chain("right_")), {}, "2 arms of 6 joints.*--tool left_link6, --tool right_link6"),
        ((BASE, chain(count=3)), {}, "its longest chain has 3 turning joints"),
        ((BASE, chain()), {"tool": "hand"}, "no link 'hand'; its links are: world, base_link"),
        ((BASE, chain()), {"tool": "world"}, "no turning joint leads to the link 'world'"),
        ((BASE, chain(), joint("loop", "link3", "base_link")), {}, "'base_link' of .* has two parents"),
        ((chain(), joint("loop", "link6", "base_link")), {}, "hangs on itself; a URDF is a tree"),
        (
            (BASE, chain().replace('lower="-2" upper="2"', 'lower="2" upper="-2"')),
            {},
            "'joint1' is the wrong way round",
        ),
        ((BASE, chain().replace('velocity="3"', 'velocity="fast"')), {}, "velocity='fast'.* is not a number"),
        ((BASE, chain().replace(SOLID, "<collision/>")), {}, "MuJoCo refuses .*arm.urdf: .*mend this element"),
    ],
)
def test_what_is_no_single_arm_is_refused(urdf, parts, choice, told):
    with pytest.raises(InputError, match=told):
        find_arm(urdf(*parts), **choice)


def test_of_several_arms_one_is_chosen_by_its_tool(urdf):
    found = find_arm(urdf(BASE, chain("left_"), chain("right_")), tool="right_link6")
    assert found.joints[0].name == "right_joint1"


@pytest.mark.parametrize(
    ("text", "told"),
    [("<robot", "is not XML"), ("<sdf/>", "is a <sdf>, not the <robot> of a URDF")],
)
def test_a_file_that_is_no_urdf_is_refused(tmp_path, text, told):
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        find_arm(path)


def test_a_mesh_of_another_kind_is_refused_with_what_to_do(urdf):
    mesh = '<collision><geometry><mesh filename="elbow.3ds"/></geometry></collision>'
    with pytest.raises(
        InputError, match=r"not an STL, OBJ or COLLADA file; convert it .assimp export elbow.3ds elbow.stl"
    ):
        find_arm(urdf(BASE, chain().replace(SOLID, mesh, 1)))


def test_a_package_is_found_above_the_file(tmp_path):
    mesh = tmp_path / "my_description" / "meshes" / "a.stl"
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b"")
    assert resolve("package://my_description/meshes/a.stl", tmp_path / "my_description" / "urdf") == mesh
    with pytest.raises(InputError, match="pip install nowhere, source the ROS 2 workspace"):
        resolve("package://nowhere/a.stl", tmp_path)


def test_a_joint_that_its_limits_lock_stands_still_and_one_in_degrees_is_refused(urdf):
    locked = chain().replace(LIMIT, '<limit lower="0" upper="0" velocity="1" effort="9"/>', 1)
    found = find_arm(urdf(BASE, locked))
    assert [one.name for one in found.joints] == [f"joint{k}" for k in range(2, 7)]
    assert found.base == "base_link"
    degrees = chain().replace('lower="-2" upper="2"', 'lower="-170" upper="170"', 1)
    with pytest.raises(InputError, match=r"'joint1' is -170 to 170, in degrees it seems; .* -2.967 to 2.967"):
        find_arm(urdf(BASE, degrees))
    aside = chain().replace('lower="-2" upper="2"', 'lower="1" upper="1"', 1)
    with pytest.raises(InputError, match="'joint1' is locked at 1 rad by its limits; make it a fixed joint"):
        find_arm(urdf(BASE, aside))


@pytest.mark.parametrize("prefix", ["left_handed_", "handyman_", "clawson", "jawline_"])
def test_a_part_of_a_word_makes_no_gripper(urdf, prefix):
    assert len(find_arm(urdf(BASE, chain(prefix))).joints) == 6


@pytest.mark.parametrize("name", ["left_finger_2", "gripperStator", "leftHand", "fingers", "HAND_1"])
def test_a_word_of_a_name_does(urdf, name):
    hand = link(name) + joint("mount", "link6", name)
    assert find_arm(urdf(BASE, chain(), hand, FLANGE)).grippers == (name,)


def test_an_arm_chosen_by_its_last_link_gets_a_hand_mount_if_z_is_not_out_of_it(urdf):
    found = find_arm(urdf(BASE, chain().replace('axis xyz="0 0 1"', 'axis xyz="1 0 0"')), tool="link6")
    assert (found.tool, found.mount.link) == (MOUNT, "link6")


def test_what_stands_still_may_have_any_inertia(urdf):
    wrong = MASS.replace('ixx="0.01"', 'ixx="-1"')
    text = urdf(link("base_link", SOLID + wrong), chain()).read_text(encoding="utf-8")
    assert wrong in text
    assert len(find_arm(urdf(link("base_link", SOLID + wrong), chain())).joints) == 6
