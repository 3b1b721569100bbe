#!/usr/bin/env bash
# Do what the README says for a machine with ROS 2: build with colcon, launch, command, correct, stop, look, record.
#
#   source /opt/ros/jazzy/setup.bash     # and the virtual environment of the workspace
#   test/ros/walkthrough.sh [SOURCE]     # SOURCE: folder of this repository, the one of this script by default
#
# Needs `ros2` and `colcon` on the path. Works in a new workspace below $TMPDIR, in a ROS domain of its own
# (ROS_DOMAIN_ID, 86 if it is not set), on this machine only. Prints one line a step: PASS, FAIL or SKIP with the reason.
# The exit status is the number of steps that failed. WALKTHROUGH_KEEP=1 keeps the workspace and its logs.
# A shell that starts this in the background may have it ignore SIGINT, which no program below could then take.
if (( 0x$(awk '/^SigIgn/ {print $2}' /proc/$$/status) & 2 )); then
	exec python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv("/usr/bin/env", sys.argv)' \
		env bash "$0" "$@"
fi
set -um # with job control, as in a terminal: what starts in the background has its own group and takes an interrupt

SOURCE=$(cd "${1:-$(dirname "$0")/../..}" && pwd)
WORKSPACE=$(mktemp -d "${TMPDIR:-/tmp}/walkthrough.XXXXXX")
PATIENCE=${WALKTHROUGH_PATIENCE:-120} # [s] that anything in the running system may take
export ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-86} ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
export ROS_LOG_DIR=$WORKSPACE/log/ros ROS_HOME=$WORKSPACE/ros_home HOME=$WORKSPACE OMP_NUM_THREADS=1
export PYTHONWARNINGS=${PYTHONWARNINGS:-ignore} PYTHONUNBUFFERED=1
passed=0 failed=0 skipped=0
declare -A launches=() # process group of each launch by its namespace

# ---- steps ---------------------------------------------------------------------------------------------------------

# step WHAT COMMAND...: run it; what it prints is the reason of a failure.
step() {
	local what=$1 began=$SECONDS output=$WORKSPACE/step.txt status
	shift
	"$@" >"$output" 2>&1
	status=$?
	if [ $status = 0 ]; then
		passed=$((passed + 1))
		echo "PASS  $what ($((SECONDS - began)) s)"
	elif [ $status = 77 ]; then
		skipped=$((skipped + 1))
		echo "SKIP  $what: $(tail -n 1 "$output")"
	else
		failed=$((failed + 1))
		echo "FAIL  $what (status $status, $((SECONDS - began)) s):"
		tail -n "${WALKTHROUGH_LINES:-12}" "$output" | sed 's/^/      /'
	fi
	return $status
}

skip() {
	echo "$*"
	return 77
}

# expect PATTERN COMMAND...: the command succeeds and prints a line that matches; within PATIENCE, tried again until then.
expect() {
	local pattern=$1 deadline=$((SECONDS + PATIENCE)) text
	shift
	while :; do
		if text=$(timeout "$PATIENCE" "$@" 2>&1) && grep -Eq -- "$pattern" <<<"$text"; then
			printf '%s\n' "$text"
			return 0
		fi
		if [ $SECONDS -ge $deadline ]; then
			printf '%s\n' "$text" "nothing matches: $pattern   in the output of: $*"
			return 1
		fi
		sleep 1
	done
}

# say_it TOPIC WORDS: publish the words once, as the README does, when somebody listens.
say_it() {
	timeout "$PATIENCE" ros2 topic pub --once --wait-matching-subscriptions 1 "$1" std_msgs/msg/String "data: $2"
}

# ---- the system ----------------------------------------------------------------------------------------------------

# launch NAMESPACE ARGUMENTS...: start a system in a process group of its own.
launch() {
	local namespace=$1 log
	shift
	log=$WORKSPACE/launch_${namespace:-root}.log
	ros2 launch llm_planner bringup.launch.py "$@" >"$log" 2>&1 </dev/null &
	launches[_$namespace]=$!
	expect "active \[3\]" ros2 lifecycle get "${namespace:+/$namespace}/language_planner" &&
		expect "active \[3\]" ros2 lifecycle get "${namespace:+/$namespace}/safety_filter" ||
		{ tail -n 20 "$log"; return 1; }
}

# end_launch NAMESPACE: interrupt it, as Ctrl-C does; no process of it may be left.
end_launch() {
	local group=${launches[_$1]} deadline=$((SECONDS + PATIENCE))
	kill -INT -- "-$group" 2>/dev/null
	while kill -0 -- "-$group" 2>/dev/null; do
		if [ $SECONDS -ge $deadline ]; then
			echo "still running ${PATIENCE} s after the interrupt:"
			ps -e -o pgid,pid,args --no-headers | awk -v group="$group" '$1 == group'
			return 1
		fi
		sleep 0.5
	done
	unset "launches[_$1]"
}

# scene_shows NAMESPACE EXPRESSION: whether the expression over `at` (name -> position) and `held` holds in the scene.
scene_shows() {
	local deadline=$((SECONDS + PATIENCE)) topic=${1:+/$1}/scene
	while :; do
		timeout 30 ros2 topic echo --once --no-lost-messages "$topic" >"$WORKSPACE/scene.yaml" 2>/dev/null &&
			python3 - "$WORKSPACE/scene.yaml" "$2" <<-'PYTHON' && return 0
				import math, sys, yaml
				scene = next(yaml.safe_load_all(open(sys.argv[1])))
				at = {item["name"]: tuple(item["pose"]["position"][axis] for axis in "xyz") for item in scene["objects"]}
				def apart(a, b): return math.dist(at[a][:2], at[b][:2])
				holds = eval(sys.argv[2], {"at": at, "held": scene["held"], "apart": apart})
				print({name: tuple(round(x, 3) for x in place) for name, place in at.items()}, "held:", scene["held"] or "nothing")
				sys.exit(not holds)
			PYTHON
		[ $SECONDS -ge $deadline ] && { echo "the scene of $topic never showed: $2"; return 1; }
		sleep 1
	done
}

# moving NAMESPACE, resting NAMESPACE: whether the arm comes to that, by the speed of its fastest joint [rad/s].
fastest_joint() {
	timeout 30 ros2 topic echo --once --no-lost-messages "${1:+/$1}/joint_states" | python3 -c '
import sys, yaml
print(max(map(abs, next(yaml.safe_load_all(sys.stdin))["velocity"])))'
}

# comes_to NAMESPACE CONDITION FAILURE: whether that speed comes to meet a condition.
comes_to() {
	local deadline=$((SECONDS + PATIENCE)) speed=""
	while [ $SECONDS -lt $deadline ]; do
		speed=$(fastest_joint "$1") && python3 -c "import sys; sys.exit(not $speed $2)" && return 0
	done
	echo "the arm of ${1:-the root} $3: ${speed:-unknown} rad/s"
	return 1
}

moving() { comes_to "$1" "> 0.05" "never moved"; }
resting() { comes_to "$1" "< 0.01" "did not come to rest"; }

# say_moving WORDS: say them until the arm moves; on a starved machine it may lose sight of the scene, and stops.
say_moving() {
	local attempt
	for attempt in 1 2 3; do
		say_it /language_command "$1" && PATIENCE=$((PATIENCE / 4)) moving "" && return 0
		echo "attempt $attempt: the arm does not move"
	done
	return 1
}

# lay_out NAMESPACE SEED: a fresh table.
lay_out() {
	expect "error_code=1" ros2 service call "${1:+/$1}/reset_world" llm_planner_interfaces/srv/ResetWorld \
		"{seed: $2, objects: [red block, blue block, green bowl]}"
}

# at_pace FACTOR: simulated seconds a second; a slow one gives the time to correct and stop a motion.
at_pace() { expect 'Set parameter successful' ros2 param set /simulator real_time_factor "$1"; }

# heard PATTERN FILE: wait until `ros2 topic echo` has written the pattern.
heard() {
	local deadline=$((SECONDS + PATIENCE))
	while ! grep -Eq -- "$1" "$2"; do
		[ $SECONDS -ge $deadline ] && { echo "nothing matches: $1   in:"; tail -n 30 "$2"; return 1; }
		sleep 0.5
	done
}

listen() { # listen FILE TOPIC [TYPE]: write what is published there, until `stop_listening`; TYPE before anything publishes
	ros2 topic echo "${@:2}" >"$1" 2>&1 </dev/null &
	launches[listen_$!]=$!
}

stop_listening() {
	local key
	for key in "${!launches[@]}"; do
		if [[ $key == listen_* ]]; then
			kill -INT -- "-${launches[$key]}" 2>/dev/null
			unset "launches[$key]"
		fi
	done
}

end_everything() {
	local key
	for key in "${!launches[@]}"; do kill -INT -- "-${launches[$key]}" 2>/dev/null; done
	sleep 1
	for key in "${!launches[@]}"; do
		for _ in $(seq 40); do
			kill -0 -- "-${launches[$key]}" 2>/dev/null || break
			sleep 0.5
		done
		kill -KILL -- "-${launches[$key]}" 2>/dev/null
	done
	timeout 30 ros2 daemon stop >/dev/null 2>&1
	cd /
	if [ -n "${WALKTHROUGH_KEEP:-}" ]; then echo "the workspace is kept: $WORKSPACE"; else rm -rf "$WORKSPACE"; fi
}
trap end_everything EXIT
trap 'exit 130' INT TERM

finish() {
	echo "$passed passed, $failed failed, $skipped skipped"
	exit "$failed"
}

# ---- the walk ------------------------------------------------------------------------------------------------------

have_tools() {
	local tool
	for tool in ros2 colcon python3; do
		command -v $tool || { echo "$tool is not on the path; source the setup.bash of your ROS 2 installation"; return 1; }
	done
}
step "the tools are on the path: ros2, colcon" have_tools || finish

copy() {
	mkdir -p src/llm_planner
	if git -C "$SOURCE" rev-parse --git-dir >/dev/null 2>&1; then
		(cd "$SOURCE" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
			[ -e "$file" ] && printf '%s\0' "$file"
		done | tar --null -c -T -) | tar -x -C src/llm_planner
	else
		cp -r "$SOURCE/." src/llm_planner
	fi
}
cd "$WORKSPACE" || exit 1
step "a workspace with the sources" copy || finish

BASE_PATHS="--base-paths src/llm_planner src/llm_planner/llm_planner_interfaces"
# shellcheck disable=SC2086  # the two paths are words
step "colcon build" colcon build $BASE_PATHS || finish
# shellcheck disable=SC1091
set +u; source install/setup.bash; set -u

packages() { expect '^llm_planner$' ros2 pkg list && expect '^llm_planner_interfaces$' ros2 pkg list; }
step "both packages are found" packages
on_the_path() {
	[[ $(command -v llm-planner) == "$WORKSPACE"/* ]] || { echo "llm-planner is $(command -v llm-planner || echo not on the path)"; return 1; }
	timeout 60 llm-planner --help
}
step "llm-planner is on the path" on_the_path
# shellcheck disable=SC2086
quick_tests() {
	colcon test $BASE_PATHS --packages-select llm_planner --event-handlers console_direct+ --pytest-args test/scene &&
		colcon test-result --verbose && expect '[1-9][0-9]* tests' colcon test-result
}
step "colcon test (the tests of test/scene)" quick_tests
step "ros2 pkg executables" expect 'llm_planner safety_filter' ros2 pkg executables llm_planner
step "ros2 interface list" expect 'llm_planner_interfaces/msg/Scene' ros2 interface list
step "ros2 interface show" expect 'SceneObject\[\] objects' ros2 interface show llm_planner_interfaces/msg/Scene
step "ros2 launch --show-args" expect "'world'" ros2 launch llm_planner bringup.launch.py --show-args

step "ros2 launch: every node becomes active, and a recorder" launch "" world:=tabletop record:=true || finish
nodes() {
	local name
	for name in simulator mpc_controller safety_filter skill_server plan_executor language_planner correction_listener camera; do
		expect "^/$name\$" ros2 node list || return 1
	done
}
step "ros2 node list" nodes
step "ros2 node info" expect 'joint_command: trajectory_msgs/msg/JointTrajectory' ros2 node info /safety_filter
step "ros2 lifecycle nodes" expect '/safety_filter' ros2 lifecycle nodes
step "ros2 action list" expect '/execute_command \[llm_planner_interfaces/action/ExecuteCommand\]' ros2 action list -t
step "ros2 topic list" expect '/tf \[tf2_msgs/msg/TFMessage\]' ros2 topic list -t
# Jazzy's ros2 fails after an interrupt, Kilted's does not.
for topic in /scene /camera/image_raw /camera/points; do
	step "ros2 topic hz $topic" expect 'average rate' sh -c "timeout -s INT 15 ros2 topic hz $topic; true"
done
step "ros2 param describe" expect 'Description: simulated seconds' ros2 param describe /simulator real_time_factor
parameters() {
	at_pace 1.5 && expect '1\.5' ros2 param get /simulator real_time_factor &&
		expect 'rate: 250.0' ros2 param dump /safety_filter &&
		! timeout 60 ros2 param set /safety_filter rate 10.0 | grep -q 'successful'
}
step "ros2 param: set, get, dump; what is read once is refused" parameters
lifecycle() {
	expect 'Transitioning successful' ros2 lifecycle set /camera deactivate &&
		expect 'inactive \[2\]' ros2 lifecycle get /camera &&
		expect 'Transitioning successful' ros2 lifecycle set /camera activate
}
step "ros2 lifecycle: deactivate and activate the camera" lifecycle

listen "$WORKSPACE/status.txt" /command_status
listen "$WORKSPACE/corrections.txt" /correction_result
command_of_the_readme() {
	lay_out "" 1 &&
		say_it /language_command "put the red block in the green bowl" &&
		scene_shows "" "apart('red block', 'green bowl') < 0.06 and held == ''" &&
		resting ""
}
step "the README's command: the scene shows the red block in the bowl" command_of_the_readme
correction() {
	lay_out "" 2 && at_pace 0.4 &&
		say_moving "put the red block in the green bowl" &&
		say_it /correction "no, the blue one" &&
		heard 'words: .?no, the blue one' "$WORKSPACE/corrections.txt" && at_pace 1.0 &&
		scene_shows "" "apart('blue block', 'green bowl') < 0.06 < apart('red block', 'green bowl') and held == ''"
}
step "a correction: the blue block is in the bowl, the red one is not" correction
stop() {
	lay_out "" 3 && at_pace 0.4 &&
		say_moving "put the red block in the green bowl" &&
		expect 'error_code=1' ros2 service call /stop llm_planner_interfaces/srv/StopRobot "{reason: walkthrough}" &&
		resting "" && at_pace 1.0 && scene_shows "" "apart('red block', 'green bowl') > 0.06"
}
step "a stop: the arm rests, the block is not in the bowl" stop
goal() {
	expect 'SUCCEEDED' ros2 action send_goal --feedback /execute_command llm_planner_interfaces/action/ExecuteCommand \
		"{command: go home}"
}
step "ros2 action send_goal /execute_command" goal
command_line() { timeout "$PATIENCE" llm-planner say "go home" && timeout 60 llm-planner stop; }
step "llm-planner say and stop" command_line

RECORDED="/joint_states /tf /tf_static /robot_description /scene /plan /plan_status /command_status /diagnostics"
have_bag() { ros2 bag --help >/dev/null 2>&1 || skip "ros2 bag is not installed"; }

bag() {
	have_bag || return
	# shellcheck disable=SC2086  # the topics are words
	ros2 bag record -o "$WORKSPACE/bag" $RECORDED >"$WORKSPACE/record.log" 2>&1 </dev/null &
	launches[_bag]=$!
	heard "Subscribed to topic '/command_status'" "$WORKSPACE/record.log" &&
		expect 'SUCCEEDED' ros2 action send_goal /execute_command llm_planner_interfaces/action/ExecuteCommand \
			"{command: go home}" && end_launch bag || { cat "$WORKSPACE/record.log"; return 1; }
	local topic
	for topic in $RECORDED; do expect "Topic: $topic .* Count: [1-9]" ros2 bag info "$WORKSPACE/bag" || return 1; done
}
step "ros2 bag record and info" bag

second_simulation() { expect 'a domain has one clock' sh -c 'ros2 launch llm_planner bringup.launch.py namespace:=left 2>&1; true'; }
step "a second simulation in the domain is refused" second_simulation
step "an interrupt ends every process of the launch" end_launch ""

# replay BAG: what is played reaches nodes that listen.
replay() {
	have_bag || return
	local name
	name=$WORKSPACE/$(basename "$1")
	listen "$name.scenes.txt" /scene llm_planner_interfaces/msg/Scene
	listen "$name.commands.txt" /command_status llm_planner_interfaces/msg/CommandStatus
	expect 'Subscription count: 1' ros2 topic info /scene &&
		timeout "$PATIENCE" ros2 bag play --rate 10 --delay 5 "$1" &&
		heard 'name: red block' "$name.scenes.txt" && heard 'command: go home' "$name.commands.txt" && stop_listening
}
step "ros2 bag play" replay "$WORKSPACE/bag"
recording() {
	have_bag || return
	recorded=$(find "$ROS_HOME" -name '*.mcap' | head -n 1)
	expect 'Topic: /joint_states .* Count: [1-9]' ros2 bag info "$recorded" && expect 'Storage id: +mcap' ros2 bag info "$recorded"
}
step "ros2 bag info of the recording that the system wrote" recording
step "ros2 bag play of it" replay "${recorded:-none}"

two_robots() {
	launch left world:=two_arms && expect '^/left/safety_filter$' ros2 node list &&
		expect '^/right/safety_filter$' ros2 node list
}
step "two robots in one world, in namespaces" two_robots
step "an interrupt ends both" end_launch left
finish
