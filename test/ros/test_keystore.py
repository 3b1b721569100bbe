"""The keystore's files, looked at with openssl as the middleware looks at them."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from llm_planner.cli.main import main
from llm_planner.errors import InputError
from llm_planner.ros.node_table import CLIENT, ON_REQUEST, nodes_beside
from llm_planner.ros.security import FILES, check_enclaves

NODES = [entry.name for entry in nodes_beside(True, ON_REQUEST)]
NAMES = {f"left/{name}" for name in (CLIENT, *NODES)}


@pytest.fixture(scope="module")
def keystore(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("security") / "keystore"
    assert main(["secure", str(folder), "--namespace", "left", "--domain", "7", "--peer", "button"]) == 0
    return folder


def enclaves(keystore: Path) -> dict[str, Path]:
    return {
        str(key.parent.relative_to(keystore / "enclaves")): key.parent for key in keystore.rglob("enclaves/**/key.pem")
    }


def openssl(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True, check=False)


def signed_by_authority(file: Path, authority: Path) -> str | None:
    """What is signed, where it is; the text's headers are openssl's."""
    done = openssl("smime", "-verify", "-text", "-in", file, "-CAfile", authority, "-purpose", "any")
    return done.stdout if done.returncode == 0 else None


def test_every_node_the_command_line_and_the_peer_have_an_enclave(keystore):
    assert set(enclaves(keystore)) == NAMES | {"left/button"}
    for folder in enclaves(keystore).values():
        assert {file.name for file in folder.iterdir()} == {*FILES, "permissions.xml"}
        assert all(file.is_file() for file in folder.iterdir())  # links lead somewhere


def test_keys_are_readable_by_their_owner_only(keystore):
    keys = [file for file in keystore.rglob("*key.pem") if not file.is_symlink()]
    assert len(keys) == len(NAMES) + 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in keys} == {0o600}
    assert stat.S_IMODE((keystore / "private").stat().st_mode) == 0o700


def test_every_certificate_is_the_authority_s_and_names_its_enclave(keystore):
    for name, folder in enclaves(keystore).items():
        assert openssl("verify", "-CAfile", folder / "identity_ca.cert.pem", folder / "cert.pem").returncode == 0
        told = openssl("x509", "-in", folder / "cert.pem", "-noout", "-subject", "-nameopt", "RFC2253", "-text").stdout
        assert f"CN=/{name}" in told
        assert "ASN1 OID: prime256v1" in told
        assert "CA:FALSE" in told
        public = openssl("pkey", "-in", folder / "key.pem", "-pubout").stdout
        assert public == openssl("x509", "-in", folder / "cert.pem", "-noout", "-pubkey").stdout


def test_governance_and_permissions_are_signed(keystore):
    for name, folder in enclaves(keystore).items():
        authority = folder / "permissions_ca.cert.pem"
        permissions = signed_by_authority(folder / "permissions.p7s", authority)
        assert permissions is not None
        assert f"CN=/{name}" in permissions
        assert "allow_unauthenticated_participants" in (signed_by_authority(folder / "governance.p7s", authority) or "")


def test_permissions_that_somebody_changed_are_no_longer_signed(keystore, tmp_path):
    folder = enclaves(keystore)["left/camera"]
    text = (folder / "permissions.p7s").read_text(encoding="utf-8")
    assert "rt/left/camera/image_raw" in text
    forged = tmp_path / "forged.p7s"
    forged.write_text(text.replace("rt/left/camera/image_raw", "rt/left/joint_command"), encoding="utf-8")
    assert signed_by_authority(forged, folder / "permissions_ca.cert.pem") is None


def test_another_keystore_s_certificate_is_a_stranger_s(keystore, tmp_path):
    assert main(["secure", str(tmp_path), "--namespace", "left"]) == 0
    theirs = enclaves(tmp_path)["left/safety_filter"]
    ours = enclaves(keystore)["left/safety_filter"] / "identity_ca.cert.pem"
    assert openssl("verify", "-CAfile", ours, theirs / "cert.pem").returncode != 0


def test_made_again_it_keeps_its_keys_and_says_what_is_new(keystore, tmp_path):
    again = tmp_path / "moved"
    shutil.copytree(keystore, again, symlinks=True)  # links are relative: a keystore can be moved
    before = {file.relative_to(again): file.read_bytes() for file in again.rglob("*.pem")}
    assert main(["secure", str(again), "--namespace", "left", "--domain", "9", "--operator", "me"]) == 0
    assert "left/me" in enclaves(again)
    for file, data in before.items():
        assert (again / file).read_bytes() == data
    camera = enclaves(again)["left/camera"]
    assert "<id>9</id>" in (signed_by_authority(camera / "permissions.p7s", camera / "permissions_ca.cert.pem") or "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--peer", "safety_filter"], "has its enclave already"),
        (["--peer", "a b"], "not a node name"),
        (["--namespace", "a/../b"], "not a ROS name"),
        (["--domain", "300"], "a number from 0 to 232"),
        (["--days", "0"], "1 or more"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(words, message, tmp_path, capsys):
    assert main(["secure", str(tmp_path / "new"), *words]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_without_openssl_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["secure", str(tmp_path / "new")]) == 1
    assert "apt-get install openssl" in capsys.readouterr().err


def test_a_node_never_runs_unprotected_where_protection_was_asked_for(keystore):
    on = {"ROS_SECURITY_ENABLE": "true"}
    enforced = {**on, "ROS_SECURITY_STRATEGY": "Enforce"}
    whole = {**enforced, "ROS_SECURITY_KEYSTORE": str(keystore)}
    check_enclaves("left", NODES, {})
    check_enclaves("left", NODES, whole)
    check_enclaves("right", NODES, {**whole, "ROS_SECURITY_ENCLAVE_OVERRIDE": "/left/camera"})
    for environment, namespace, message in (
        (on, "left", "set ROS_SECURITY_STRATEGY=Enforce"),
        (enforced, "left", "set ROS_SECURITY_KEYSTORE"),
        (whole, "right", r"of the enclave /right/simulator: run llm-planner secure .* --namespace right"),
    ):
        with pytest.raises(InputError, match=message):
            check_enclaves(namespace, NODES, environment)
