"""A policy server to begin from: it picks things up, and needs nothing but Python.

python examples/policy_server.py            then, in skills of your own: cp -r examples/skills/remote_pick SKILLS/

Replace `pick` by what your policy says; what comes and goes is described in docs/concepts/remote_skills.md.
"""

import argparse
import json
import math
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DT = 0.1  # [s] from one action to the next
STEP, TURN = 0.02, 0.1  # [m], [rad] of an action
OPEN, SHUT = 0.08, 0.0  # [m] between the fingertips
OVER, LIFTED = 0.12, 0.2  # [m] of the hand over the table on its way, and at the end
NEAR = 0.006  # [m] from a place, and 10 times that many radians, is there


def pick(question):
    """The next actions of a hand that takes the object which it is asked for."""
    name, state = question["arguments"]["object"], question["state"]
    item = next(item for item in question["scene"]["objects"] if item["name"] == name)
    x, y, z, yaw = state["hand"]
    to = [*item["position"][:2], max(0.015, item["position"][2]), _turn(item, yaw)]
    beside = math.dist((x, y), to[:2]) > NEAR or abs(to[3] - yaw) > 10 * NEAR
    if question["scene"]["held"] == name:
        return answer([([x, y, LIFTED, yaw], SHUT)], state, done=True)
    if not beside and abs(z - to[2]) < NEAR:
        return answer([(to, SHUT)] * 6, state)
    if beside:
        return answer([([x, y, max(z, OVER), yaw], OPEN), ([*to[:2], max(z, OVER), to[3]], OPEN)], state)
    return answer([(to, OPEN)], state)


def answer(waypoints, state, done=False):
    """Actions along straight lines through `waypoints`, (x, y, z, yaw) of a hand and the width of its fingers each."""
    here, actions = state["hand"], []
    for place, width in waypoints:
        ways = math.dist(here[:3], place[:3]) / STEP, abs(place[3] - here[3]) / TURN
        count = max(1, math.ceil(max(ways)))
        lines = ([a + k / count * (b - a) for a, b in zip(here, place, strict=True)] for k in range(1, count + 1))
        actions += [[*at, width, 0] for at in lines]
        here = place
    actions = actions[:16]
    actions[-1][5] = int(done and math.dist(actions[-1][:3], waypoints[-1][0][:3]) < NEAR)
    return {"actions": actions, "dt": DT}


def _turn(item, yaw):
    """The hand's yaw along the nearest of the thing's four sides."""
    x, y, z, w = item["orientation"]
    side = math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z))
    return yaw + (side - yaw + math.pi / 4) % (math.pi / 2) - math.pi / 4


def server_of(act, host="localhost", port=8093):
    """A server that answers each question with `act(question)`; begin it with `serve_forever()`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                body, status = act(json.loads(self.rfile.read(int(self.headers["Content-Length"])))), 200
            except Exception as error:  # the robot is told, and the server lives on
                body, status = {"error": f"{type(error).__name__}: {error}"}, 500
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        protocol_version = "HTTP/1.1"  # the connection stays open from one question to the next

        def log_message(self, *_):
            pass

    return ThreadingHTTPServer((host, port), Handler)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="localhost", help="the address to listen at (default: this machine's own)")
    parser.add_argument("--port", type=int, default=8093)
    arguments = parser.parse_args()
    server = server_of(pick, arguments.host, arguments.port)
    print(f"http://{arguments.host}:{arguments.port}/act; end with Ctrl-C")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
