"""Policy server as a template: it picks objects up and needs only Python.

python examples/policy_server.py            then copy the skill: cp -r examples/skills/remote_pick SKILLS/

Replace `pick` by your policy. Requests and responses are described in docs/concepts/remote_skills.md.
"""

import argparse
import json
import math
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DT = 0.1  # [s] between actions
STEP, TURN = 0.02, 0.1  # [m], [rad] greatest motion per action
OPEN, SHUT = 0.08, 0.0  # [m] distance between the fingertips
OVER, LIFTED = 0.12, 0.2  # [m] height of the hand while it travels, and at the end
NEAR = 0.006  # [m] tolerance of a position; that of the yaw is 10 times as much [rad]


def pick(question):
    """Return the next actions of a hand that picks the object named in the request."""
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
    """Return actions along straight lines through `waypoints`, each ((x, y, z, yaw) of the hand, finger width)."""
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
    """Return the yaw along one of the object's four sides that is nearest to the hand's `yaw` [rad]."""
    x, y, z, w = item["orientation"]
    side = math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z))
    return yaw + (side - yaw + math.pi / 4) % (math.pi / 2) - math.pi / 4


def server_of(act, host="localhost", port=8093):
    """Return a server that answers each request with `act(request)`; start it with `serve_forever()`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                body, status = act(json.loads(self.rfile.read(int(self.headers["Content-Length"])))), 200
            except Exception as error:  # report to the robot and keep serving
                body, status = {"error": f"{type(error).__name__}: {error}"}, 500
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        protocol_version = "HTTP/1.1"  # keeps the connection open between requests

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
