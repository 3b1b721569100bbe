"""Not a test: starts a Ray cluster of two nodes, works on it, and prints what came of it as JSON.

It runs in a network of its own, where 127.0.0.1 is all there is: ray would listen on every address of the machine.
"""

import json

from ray.cluster_utils import Cluster

from llm_planner.learning.pool import JobError, RayPool

HERE = "__import__('ray').get_runtime_context().get_node_id()"
NODE = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80_000_000}
JOBS = [f"__import__('time').sleep(1) or {HERE}"] * 2 + ["__import__('os').environ['OMP_NUM_THREADS']"]


def said(job):
    try:
        return list(pool.results(eval, [job]))
    except JobError as error:
        return str(error)


cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
cluster.add_node(**NODE)
pool = RayPool(cluster.address)
told = {
    "done": sorted(pool.results(eval, JOBS)),
    "raised": said("1 / 0"),
    "killed": said("__import__('signal').raise_signal(9)"),
}
cluster.shutdown()
print(json.dumps(told))
