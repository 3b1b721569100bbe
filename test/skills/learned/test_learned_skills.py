"""Learned skills: what they see, how they act, when they give up."""

import json
import math
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from llm_planner.errors import InputError
from llm_planner.robots.arm_model import default_arm
from llm_planner.robots.motion import MotionReference
from llm_planner.scene.scene import Pose
from llm_planner.scene.zones import Shape, Subject, Zone
from llm_planner.share import share_folder
from llm_planner.skills.arm import ArmSettings
from llm_planner.skills.contract import SkillError, SkillErrorCode, SkillResult
from llm_planner.skills.hand_geometry import Aim, HandPose, grip_of
from llm_planner.skills.learned.chunk import TWIST, Decision, chunk_from
from llm_planner.skills.learned.features import STEP, View, feature_names, frame_of, goal_numbers, observed
from llm_planner.skills.learned.loading import POLICY_FILE, digest, load_sampler, policy_folder, trained_on
from llm_planner.skills.learned.skill import FallbackRun, LearnedOrScripted, StallMonitor
from llm_planner.skills.library import read_skill
from llm_planner.skills.manifest import read_manifest
from llm_planner.skills.scripted import ScriptedRun
from llm_planner.skills.sliding import push

BLOCK = {"object": "red block"}


@pytest.fixture
def table(scene_of, thing, ghost):
    """A hand at home over a table with two blocks."""
    return ghost(scene_of(thing("red block", 0.45, 0.1), thing("blue block", 0.5, -0.2)))


def test_a_hand_is_the_same_after_a_frame_and_back():
    frame = frame_of(Aim(HandPose(0.45, 0.2, 0.02, 0.9)))
    for hand in (HandPose(0.3, -0.2, 0.4, -1.0), HandPose(0.6, 0.3, 0.1, 1.7), HandPose(0.45, 0.2, 0.02, 0.9)):
        back = frame.grip_at(frame.place_of(hand))
        assert (back.x, back.y, back.z) == pytest.approx((hand.x, hand.y, hand.z))
        assert math.remainder(back.yaw - hand.yaw, math.tau) == pytest.approx(0.0, abs=1e-9)


def test_the_aim_itself_is_the_origin_of_its_frame():
    aim = Aim(HandPose(0.45, 0.2, 0.02, 0.9))
    assert frame_of(aim).place_of(aim.grip) == pytest.approx((0.0, 0.0, 0.0, 0.0))


def test_turned_about_the_base_everything_looks_the_same(table):
    """The robot may stand any way round at its table: what it sees from its aim does not change."""
    before = table.observation()
    angle = 0.7

    def turned(point):
        c, s = math.cos(angle), math.sin(angle)
        return c * point[0] - s * point[1], s * point[0] + c * point[1], point[2]

    grip, aim = grip_of(before.T_base_gripper), Aim(HandPose(0.45, 0.1, 0.02, 0.3))
    x, y, z = turned((grip.x, grip.y, grip.z))
    after = replace(before, T_base_gripper=HandPose(x, y, z, grip.yaw + angle).pose())
    ax, ay, az = turned((aim.grip.x, aim.grip.y, aim.grip.z))
    there = Aim(HandPose(ax, ay, az, aim.grip.yaw + angle))
    seen = [observed(("hand", "fingers"), View(o, a, BLOCK)) for o, a in ((before, aim), (after, there))]
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-6)


def test_features_have_as_many_names_as_numbers(table):
    observe = ("hand", "start", "fingers", "holding", "reach", "thing:object", "beside:object")
    view = View(table.observation(), Aim(HandPose(0.45, 0.1, 0.02, 0.3), start=HandPose(0.4, 0.1, 0.02, 0.3)), BLOCK)
    assert len(feature_names(observe, ["object"])) == len(observed(observe, view))


def test_a_hand_is_seen_from_where_it_must_be_first(table):
    aim = Aim(HandPose(0.5, 0.0, 0.02, 0.0), heading=0.0, start=HandPose(0.4, 0.0, 0.02, 0.0))
    table.pose = HandPose(0.43, 0.01, 0.05, 0.0).pose()
    view = View(table.observation(), aim, BLOCK)
    assert observed(("start",), view)[:3] == pytest.approx((0.03, 0.01, 0.03))
    assert observed(("hand",), view)[:3] == pytest.approx((-0.07, 0.01, 0.03))


def test_a_start_that_no_demonstrator_says_is_refused(table):
    view = View(table.observation(), Aim(HandPose(0.45, 0.1, 0.02, 0.3)), BLOCK)
    with pytest.raises(InputError, match="a policy cannot observe 'start': its demonstrator sets no start"):
        observed(("start",), view)


def test_an_unknown_feature_is_refused_with_what_there_is():
    with pytest.raises(InputError, match=r"cannot observe 'thumb'; it can: hand, start, .*thing:object"):
        feature_names(["thumb"], ["object"])


def test_a_number_that_the_aim_has_not_is_refused():
    with pytest.raises(InputError, match="has no 'depth'; it has: cruise"):
        goal_numbers(("depth",), Aim(HandPose(0.4, 0.0, 0.1, 0.0), {"cruise": 0.1}))


def test_a_chunk_goes_no_faster_than_the_speed_limit(table):
    actions = np.zeros((16, 6), np.float32)
    actions[:, 2] = np.linspace(0.4, 0.0, 16)
    aim = Aim(HandPose(0.45, 0.1, 0.02, 0.3))
    free, slow = (chunk_from(actions, aim, replace(table.observation(), speed_limit=v)) for v in (math.inf, 0.1))
    assert free.dt == STEP
    for a, b in zip(slow.poses, slow.poses[1:], strict=False):
        assert math.dist(a.position, b.position) / slow.dt <= 0.1


def test_a_chunk_is_followed_from_where_it_is(table):
    aim = Aim(HandPose(0.45, 0.1, 0.02, 0.3))
    chunk = chunk_from(np.zeros((16, 6), np.float32), aim, table.observation())
    later = chunk.reference(chunk.time + 3 * chunk.dt)
    assert later.poses == chunk.poses[3:]
    assert later.start_time == pytest.approx(chunk.time + 3 * chunk.dt)
    assert chunk.reference(chunk.time + 100.0).poses == chunk.poses[15:]


def test_a_slow_chunk_is_valid_until_its_next_action(table):
    aim, seen = Aim(HandPose(0.45, 0.1, 0.02, 0.3)), replace(table.observation(), speed_limit=0.01)
    actions = np.zeros((16, 6), np.float32)
    actions[:, 2] = np.linspace(0.4, 0.0, 16)
    chunk = chunk_from(actions, aim, seen)
    reference = chunk.reference(chunk.time + 0.9 * chunk.dt)
    assert reference.start_time + reference.valid_for > chunk.time + chunk.dt


def test_widths_that_fingers_cannot_have_are_cut(table):
    actions = np.full((16, 6), -0.3, np.float32)
    chunk = chunk_from(actions, Aim(HandPose(0.45, 0.1, 0.02, 0.3)), table.observation())
    assert set(chunk.widths) == {0.0}


def test_a_policy_is_asked_again_after_its_action_steps(table, learned_pick, sampler):
    run = learned_pick.start(BLOCK, table.observation())
    for _ in range(2 * sampler.spec.n_action_steps):
        reference = run.step(table.observation())
        assert isinstance(reference, MotionReference)
        table.pose, table.time = reference.poses[1], table.time + STEP
    assert sampler.asked == 2


def test_a_chunk_is_not_followed_under_a_lower_speed_limit_than_it_was_made_for(table, learned_pick, sampler):
    run = learned_pick.start(BLOCK, table.observation())
    run.step(table.observation())
    slow = replace(table.observation(), speed_limit=0.05)
    reference = run.step(slow)
    assert sampler.asked == 2
    fastest = max(math.dist(a.position, b.position) for a, b in pairwise(reference.poses)) / reference.dt
    assert fastest < 0.05


def test_a_hand_that_was_shoved_is_asked_for_at_once(table, learned_pick, sampler):
    run = learned_pick.start(BLOCK, table.observation())
    run.step(table.observation())
    x, y, z = table.pose.position
    table.pose, table.time = Pose((x, y + 0.05, z), table.pose.orientation), table.time + STEP
    run.step(table.observation())
    assert sampler.asked == 2


def test_what_was_moved_is_aimed_at_anew(table, learned_pick, thing, scene_of):
    run = learned_pick.start(BLOCK, table.observation())
    first = run.step(table.observation())
    table.scene = scene_of(thing("red block", 0.5, 0.15), thing("blue block", 0.5, -0.2))
    table.time += STEP
    second = run.step(table.observation())
    assert first.poses[-1].position[:2] == pytest.approx((0.45, 0.1), abs=0.002)
    assert second.poses[-1].position[:2] == pytest.approx((0.5, 0.15), abs=0.002)


def test_a_thing_that_hardly_moved_is_not_aimed_at_anew(table, learned_pick, thing, scene_of, sampler):
    run = learned_pick.start(BLOCK, table.observation())
    reference = run.step(table.observation())
    table.scene = scene_of(thing("red block", 0.452, 0.1), thing("blue block", 0.5, -0.2))
    table.pose, table.time = reference.poses[1], table.time + STEP
    run.step(table.observation())
    assert sampler.asked == 1


def test_while_a_thing_is_pushed_the_aim_stays_and_its_start_follows(table, thing, scene_of):
    """Else every centimetre would begin a new demonstration."""
    arguments = {"object": "red block", "direction": "left", "distance": 0.1}
    decision = Decision(push, ArmSettings(), arguments, table.observation())
    first = decision.aim(table.observation())
    table.scene = scene_of(thing("red block", 0.45, 0.13), thing("blue block", 0.5, -0.2))
    second = decision.aim(table.observation())
    assert (first.grip, first.heading) == (second.grip, second.heading)
    assert (first.grip.x, first.grip.y) == pytest.approx((0.45, 0.2))
    assert second.start.y - first.start.y == pytest.approx(0.03)
    assert first.start.y < 0.1


def test_a_policy_that_is_done_has_succeeded_where_the_scene_shows_it(table, learned_pick, sampler, scene_of, thing):
    sampler.done = 1.0
    run = learned_pick.start(BLOCK, table.observation())
    table.scene = scene_of(thing("red block", 0.45, 0.1, z=0.2), held="red block")
    assert run.step(table.observation()) == SkillResult(SkillErrorCode.SUCCEEDED)


def test_a_policy_that_takes_itself_for_done_is_believed_for_a_while_only(table, learned_pick, sampler):
    sampler.done = 1.0
    result = table.run(learned_pick.start(BLOCK, table.observation()))
    assert result.code is SkillErrorCode.EFFECT_MISSING
    assert "the scene does not show its effect" in result.message


def test_a_hand_that_does_not_follow_is_told(table, learned_pick):
    run = learned_pick.start(BLOCK, table.observation())
    outcome, steps = None, 0
    while not isinstance(outcome, SkillResult) and steps < 300:
        outcome = run.step(table.observation())
        table.time, steps = table.time + STEP, steps + 1
    assert outcome.code in (SkillErrorCode.UNREACHABLE, SkillErrorCode.TIMEOUT)


def test_a_hand_that_is_far_behind_for_long_ends_the_motion():
    patience = StallMonitor("pick")
    patience.see((0.4, 0.0, 0.2), lag=0.1, undone=False, achieved=False, passed=2.0)
    with pytest.raises(SkillError, match="the hand does not follow during pick: something is in the way"):
        patience.see((0.4, 0.0, 0.2), lag=0.1, undone=False, achieved=False, passed=2.0)


def test_a_hand_that_dithers_though_all_is_done_has_done_it():
    patience = StallMonitor("sweep")
    for z in (0.1, 0.2) * 6:
        patience.see((0.4, 0.0, z), lag=0.0, undone=False, achieved=True, passed=0.5)
    assert patience.lingers
    assert not patience.needs_nudge
    patience.see((0.4, 0.0, 0.2), lag=0.0, undone=False, achieved=False, passed=2.0)
    assert not patience.lingers


def test_fingers_that_hold_something_let_go_of_it_only_at_the_aim(table, thing, scene_of):
    actions = np.zeros((16, 6), np.float32)
    actions[:, 2], actions[:, 4] = [0.1] * 8 + [0.01] * 8, 0.010
    table.width, aim = 0.006, Aim(HandPose(0.45, 0.1, 0.02, 0.3))
    assert chunk_from(actions, aim, table.observation()).widths == pytest.approx((0.010,) * 16)
    table.scene = scene_of(thing("red plate", 0.45, 0.1, z=0.2), held="red plate")
    assert chunk_from(actions, aim, table.observation()).widths == pytest.approx((0.0,) * 8 + (0.010,) * 8)


@pytest.mark.parametrize(("depth", "lowest"), [({}, 0.02), ({"depth": 0.008}, 0.012)])
def test_a_hand_goes_no_lower_than_its_demonstrator_would(table, depth, lowest):
    actions = np.zeros((16, 6), np.float32)
    actions[:, 2] = -0.015
    aim = Aim(HandPose(0.45, 0.1, 0.02, 0.3), depth)
    heights = [pose.position[2] for pose in chunk_from(actions, aim, table.observation()).poses]
    assert min(heights) == pytest.approx(lowest)


@pytest.mark.parametrize(
    ("numbers", "highest"), [({}, 0.52), ({"cruise": 0.1}, 0.14), ({"cruise": 0.1, "lift": 0.2}, 0.24)]
)
def test_a_hand_goes_hardly_higher_than_its_demonstrator_would(table, numbers, highest):
    table.pose = HandPose(0.45, 0.1, 0.05, 0.3).pose()
    actions = np.zeros((16, 6), np.float32)
    actions[:, 2] = 0.5
    aim = Aim(HandPose(0.45, 0.1, 0.02, 0.3), numbers)
    heights = [pose.position[2] for pose in chunk_from(actions, aim, table.observation()).poses]
    assert max(heights) == pytest.approx(highest)


def test_a_hand_that_is_lower_already_is_not_thrown_up(table):
    actions = np.zeros((16, 6), np.float32)
    table.pose = HandPose(0.45, 0.1, 0.012, 0.3).pose()
    actions[:, 2] = np.linspace(-0.006, 0.05, 16)
    aim = Aim(HandPose(0.45, 0.1, 0.02, 0.3))
    heights = [pose.position[2] for pose in chunk_from(actions, aim, table.observation()).poses]
    assert heights[:2] == pytest.approx([0.012, 0.014])


@pytest.mark.parametrize(("twisted", "wanted", "told"), [(0.0, 3.0, TWIST), (2.5, 3.0, 2.5), (0.0, -3.0, -TWIST)])
def test_a_hand_is_twisted_no_farther_than_demonstrators_twist_it(table, twisted, wanted, told):
    """Else one that searches winds up the arm's last joint."""
    aim, actions = Aim(HandPose(0.45, 0.0, 0.02, 0.3)), np.zeros((16, 6), np.float32)
    frame = frame_of(aim)
    actions[:, 3] = wanted - frame.turn
    table.pose = frame.grip_at((0.0, 0.0, 0.1, twisted - frame.turn)).pose()
    last = grip_of(chunk_from(actions, aim, table.observation()).poses[-1])
    assert last.yaw - math.atan2(last.y, last.x) == pytest.approx(told)


@pytest.mark.parametrize(("objective", "nudged"), [("flow", True), ("regression", False)])
def test_a_hand_that_rests_undone_is_nudged(table, learned_pick, sampler, objective, nudged):
    """No noise is what a flow is most sure of; another sample may lead on. A regression has only one."""
    sampler.spec = replace(sampler.spec, objective=objective)
    run = learned_pick.start(BLOCK, table.observation())
    for _ in range(40):
        run.step(table.observation())
        table.pose, table.time = HandPose(0.45, 0.1, 0.02, 0.0).pose(), table.time + STEP
    assert not sampler.noises[0].any()
    assert sampler.noises[-1].any() == nudged


def test_a_slow_hand_carries_out_what_it_began(table, learned_pick, sampler):
    """Each chunk begins slowly, where the hand rests."""
    table.pose = HandPose(0.45, 0.1, 0.02, 0.0).pose()
    run = learned_pick.start(BLOCK, table.observation())
    asked_at = []
    for step in range(24):
        before = sampler.asked
        run.step(table.observation())
        table.time += STEP
        asked_at += [step] if sampler.asked > before else []
    assert asked_at == [0, 4, 8, 23]


def test_a_hand_that_rests_where_all_is_done_has_succeeded(table, learned_pick, thing, scene_of):
    run = learned_pick.start(BLOCK, table.observation())
    table.scene = scene_of(thing("red block", 0.45, 0.1, z=0.2), held="red block")
    outcomes = []
    for _ in range(20):
        outcomes.append(run.step(table.observation()))
        table.pose, table.time = HandPose(0.45, 0.1, 0.02, 0.0).pose(), table.time + STEP
    assert SkillResult(SkillErrorCode.SUCCEEDED) in outcomes


def test_a_thing_that_left_the_scene_ends_the_motion(table, learned_pick, scene_of, thing):
    run = learned_pick.start(BLOCK, table.observation())
    table.scene = scene_of(thing("blue block", 0.5, -0.2))
    assert run.step(table.observation()).code is SkillErrorCode.OBJECT_LOST


def test_a_motion_that_takes_too_long_ends(table, learned_pick):
    run = learned_pick.start(BLOCK, table.observation())
    run.step(table.observation())
    table.time += 100.0
    result = run.step(table.observation())
    assert result.code is SkillErrorCode.TIMEOUT
    assert "pick was not done after 25 s" in result.message


def test_what_the_demonstrator_refuses_the_learned_skill_refuses(learned_pick, scene_of, thing, ghost):
    table = ghost(scene_of(thing("red block", 0.9, 0.4)))
    with pytest.raises(SkillError, match="out of reach"):
        learned_pick.start(BLOCK, table.observation())


def test_where_rules_bar_the_room_the_script_moves(table, learned_pick, library, sampler):
    both = LearnedOrScripted({"panda": learned_pick}, library.find("pick").implementation)
    zone = Zone("vase", Shape.BOX, (0.1, 0.1, 0.1), Pose((0.3, 0.4, 0.05)), 0.05, Subject.GRIPPER)
    both.start(BLOCK, replace(table.observation(), zones=(zone,))).step(table.observation())
    assert sampler.asked == 0
    both.start(BLOCK, table.observation()).step(table.observation())
    assert sampler.asked == 1


def test_with_things_that_the_policy_has_not_seen_the_script_moves(table, learned_pick, library, sampler):
    both = LearnedOrScripted({"panda": learned_pick}, library.find("pick").implementation, frozenset({"block"}))
    both.start(BLOCK, table.observation()).step(table.observation())
    assert sampler.asked == 0
    both = LearnedOrScripted({"panda": learned_pick}, library.find("pick").implementation, frozenset({"drawer"}))
    both.start(BLOCK, table.observation()).step(table.observation())
    assert sampler.asked == 1


def test_on_another_arm_than_the_policy_has_learned_on_the_script_moves(table, learned_pick, library, sampler):
    both = LearnedOrScripted({"panda": learned_pick}, library.find("pick").implementation)
    table.scene = replace(table.scene, arm="fr3")
    both.start(BLOCK, table.observation()).step(table.observation())
    assert sampler.asked == 0


def test_an_arm_that_a_policy_has_learned_on_moves_by_it(table, learned_pick, library, sampler):
    both = LearnedOrScripted({"fr3": learned_pick}, library.find("pick").implementation)
    table.scene = replace(table.scene, arm="fr3")
    both.start(BLOCK, table.observation()).step(table.observation())
    assert sampler.asked == 1


@pytest.mark.parametrize(("mover", "robots"), [("policy", {"panda", "ur5e"}), ("script", {"panda"})])
def test_a_policy_of_another_arm_is_loaded_if_its_own_trials_allow_it(tmp_path, mover, robots):
    shutil.copytree(share_folder("skills") / "pick", tmp_path / "pick")
    other = policy_folder(tmp_path / "pick", "ur5e")
    other.mkdir(parents=True)
    shutil.copy(tmp_path / "pick" / POLICY_FILE, other)
    report = {"robot": "ur5e", "policy": digest(other / POLICY_FILE), "commands": {"mover": mover}}
    (other / "report.json").write_text(json.dumps(report), encoding="utf-8")
    assert set(read_skill(tmp_path / "pick" / "skill.yaml").implementation.learned) == robots


def test_the_report_beside_a_policy_names_the_arm_that_it_has_learned_on(tmp_path):
    assert trained_on(share_folder("skills") / "pick") == "panda"
    assert trained_on(tmp_path) == default_arm().name
    (tmp_path / "report.json").write_text('{"robot": "ur5e"}', encoding="utf-8")
    assert trained_on(tmp_path) == "ur5e"


def test_into_a_drawer_the_script_puts_things():
    assert read_manifest(share_folder("skills") / "place_in" / "skill.yaml").unseen == {"drawer"}


def test_where_a_policy_gets_stuck_the_script_goes_on(table, learned_pick, library):
    """This policy leads to the block, and never closes the fingers."""
    both = LearnedOrScripted({"panda": learned_pick}, library.find("pick").implementation)
    result = table.run(both.start(BLOCK, table.observation()))
    assert result.code is SkillErrorCode.SUCCEEDED
    assert table.scene.held == "red block"


def test_a_policy_that_takes_long_leaves_the_rest_to_the_script(table, learned_pick, library):
    run = LearnedOrScripted({"panda": learned_pick}, library.find("pick").implementation).start(
        BLOCK, table.observation()
    )
    run.step(table.observation())
    assert run.phase == "pick"
    table.time += 11.0
    run.step(table.observation())
    assert run.phase == "approach"


class Stuck:
    """A policy that gets no farther."""

    phase, spent = "stuck", 0.0

    def step(self, observation):
        return SkillResult(SkillErrorCode.EFFECT_MISSING, "it is stuck")


def test_the_script_that_goes_on_measures_from_where_the_skill_began(library, ghost, scene_of, thing):
    """The block has come the 10 cm that were asked for; pushed by another ten it would be too far."""
    table = ghost(scene_of(thing("red block", 0.45, 0.0)), grasps=False)
    began = table.observation()
    table.scene = scene_of(thing("red block", 0.45, 0.1))
    arguments = {"object": "red block", "direction": "left", "distance": 0.1}
    run = FallbackRun(Stuck(), library.find("push").implementation, arguments, began)
    assert table.run(run).code is SkillErrorCode.SUCCEEDED


def test_what_is_done_already_is_left_to_the_script(table, learned_pick, library, scene_of, thing):
    """It has no aim any more, and a policy without one cannot begin."""
    table.scene = scene_of(thing("red block", 0.45, 0.1, z=0.2), held="red block")
    run = LearnedOrScripted({"panda": learned_pick}, library.find("pick").implementation).start(
        BLOCK, table.observation()
    )
    assert isinstance(run, ScriptedRun)


def test_where_the_script_cannot_go_on_either_it_says_why(table, learned_pick, library, scene_of, thing):
    run = LearnedOrScripted({"panda": learned_pick}, library.find("pick").implementation).start(
        BLOCK, table.observation()
    )
    run.step(table.observation())
    table.time, table.scene = table.time + 100.0, scene_of(thing("red block", 0.9, 0.4))
    result = run.step(table.observation())
    assert result.code is SkillErrorCode.UNREACHABLE
    assert "out of reach" in result.message


def test_the_weights_of_another_skill_are_refused(tmp_path):
    """Of the same sizes, so that nothing else in the file tells."""
    shipped = share_folder("skills")
    (tmp_path / POLICY_FILE).write_bytes((shipped / "open_drawer" / POLICY_FILE).read_bytes())
    message = "it has learned with skill 'open_drawer', but skill.yaml declares 'press'; train it anew"
    with pytest.raises(InputError, match=message):
        load_sampler(read_manifest(shipped / "press" / "skill.yaml"), tmp_path / POLICY_FILE)
    load_sampler(read_manifest(shipped / "press" / "skill.yaml"), shipped / "press" / POLICY_FILE)


def test_what_a_policy_observes_in_another_order_is_refused():
    press = share_folder("skills") / "press"
    manifest = read_manifest(press / "skill.yaml")
    hand, fingers, *others = manifest.policy.observe
    changed = replace(manifest, policy=replace(manifest.policy, observe=(fingers, hand, *others)))
    with pytest.raises(
        InputError, match=r"it has learned with observe \['hand', 'fingers', .*, but skill.yaml declares"
    ):
        load_sampler(changed, press / POLICY_FILE)


def test_a_file_that_is_damaged_says_how_to_replace_it(tmp_path):
    shipped = share_folder("skills") / "press"
    folder = tmp_path / "press"
    folder.mkdir()
    (folder / POLICY_FILE).write_bytes((shipped / POLICY_FILE).read_bytes()[:1000])
    with pytest.raises(
        InputError, match=r"cannot be read as safetensors.*train it anew: llm-planner train press --skills"
    ):
        load_sampler(read_manifest(shipped / "skill.yaml"), folder / POLICY_FILE)
