"""Use your own language model: any server with OpenAI's chat completions API. Here a stand-in gives fixed responses.

For a real server set OPENAI_BASE_URL, OPENAI_API_KEY and LLM_PLANNER_OPENAI_MODEL, and omit the stand-in.
"""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

READING = {"task": "put the red block on the blue block", "goals": ["on(red block, blue block)"], "constraints": []}
PROGRAM = {"program": 'pick("red block")\nplace_on("blue block")\n'}


class StandIn(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = json.dumps(request.get("response_format", {}))
        answer = PROGRAM if '"program"' in wanted else READING
        message = {"role": "assistant", "content": json.dumps(answer)}
        body = json.dumps(
            {
                "id": "1", "object": "chat.completion", "created": 0, "model": "stand-in",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


server = HTTPServer(("127.0.0.1", 0), StandIn)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ |= {
    "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
    "OPENAI_API_KEY": "none",
    "LLM_PLANNER_OPENAI_MODEL": "stand-in",
}

from llm_planner import Session  # noqa: E402 - after the server is known

with Session("tabletop", objects="red block, blue block", model="openai") as session:
    report = session.run("put the red block on the blue block")
    print(report.outcome.value, "-", report.message)
