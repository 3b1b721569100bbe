"""Command a running system over ROS 2. Start one with `llm-planner up` (or ros2 launch) in another terminal."""

from llm_planner import Client

client = Client()
try:
    client.wait_for_system(timeout=30.0)
    result = client.execute("pick up the red block")
    print("done" if result.succeeded else "not done", "-", result.message)
finally:
    client.close()
