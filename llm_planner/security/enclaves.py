"""Whether SROS 2 is on, and each node has what it needs: a missing file would mean a robot without protection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from llm_planner.errors import InputError
from llm_planner.nodes.node_table import enclave

FILES = (
    "cert.pem", "key.pem", "identity_ca.cert.pem", "permissions_ca.cert.pem", "governance.p7s", "permissions.p7s"
)  # fmt: skip


def is_secured(environment: Mapping[str, str]) -> bool:
    """Whether `ROS_SECURITY_ENABLE` asks for SROS 2."""
    return environment.get("ROS_SECURITY_ENABLE", "") == "true"


def check_enclaves(namespace: str, nodes: Iterable[str], environment: Mapping[str, str]) -> None:
    """Raises InputError where SROS 2 is asked for and a node would run without it, or not at all.

    ROS itself starts a node without enclave unprotected, unless `ROS_SECURITY_STRATEGY` is Enforce.
    """
    if not is_secured(environment):
        return
    if environment.get("ROS_SECURITY_STRATEGY") != "Enforce":
        raise InputError(
            "ROS_SECURITY_ENABLE is true, but ROS_SECURITY_STRATEGY is not Enforce, so a node without keys would take "
            "part unprotected: set ROS_SECURITY_STRATEGY=Enforce"
        )
    folder = environment.get("ROS_SECURITY_KEYSTORE", "")
    if not folder:
        raise InputError("ROS_SECURITY_ENABLE is true: set ROS_SECURITY_KEYSTORE to the folder of the keystore")
    override = environment.get("ROS_SECURITY_ENCLAVE_OVERRIDE", "")
    names = [override] if override else [enclave(namespace, node) for node in nodes]
    for name in names:
        missing = [file for file in FILES if not (Path(folder) / "enclaves" / name.lstrip("/") / file).is_file()]
        if missing:
            option = f" --namespace {namespace.strip('/')}" if namespace.strip("/") else ""
            raise InputError(
                f"the keystore {folder} lacks {', '.join(missing)} of the enclave {name}: "
                f"run llm-planner secure {folder}{option}, and copy to this machine what it needs"
            )
