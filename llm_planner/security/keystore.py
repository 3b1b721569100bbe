"""Makes the keystore of SROS 2: an authority, and for each enclave a key, a certificate and signed permissions.

The folders and files are those of `ros2 security`, so that both can work on one keystore. Keys are on the curve P-256
and signatures are S/MIME, as DDS Security 1.1 wants them (section 9.3); `openssl` makes them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path

from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.node_table import enclave
from llm_planner.security.permissions import Grant, governance_xml, permissions_xml

AUTHORITY = "sros2CA"  # the common name that ros2 security gives it
SHARED = ("identity_ca.cert.pem", "permissions_ca.cert.pem")
_REQUEST = """[req]
prompt = no
distinguished_name = name
[name]
CN = {name}
[authority]
basicConstraints = critical, CA:true, pathlen:1
[participant]
basicConstraints = CA:false
"""


class KeystoreError(LlmPlannerError):
    """The keystore cannot be made; the message says why."""


class Keystore:
    """A keystore in `folder`, made as far as it is not there yet; `days` is how long new certificates are valid."""

    def __init__(self, folder: Path, days: int) -> None:
        self._folder, self._days = folder, days
        self._public, self._private, self._enclaves = folder / "public", folder / "private", folder / "enclaves"
        for part in (self._public, self._private, self._enclaves):
            part.mkdir(parents=True, exist_ok=True)
        self._private.chmod(0o700)
        self._make_authority()
        _write(self._enclaves / "governance.xml", governance_xml())
        self._sign(self._enclaves / "governance.xml")

    def grant(self, grants: Iterable[Grant], namespace: str, domain: int) -> tuple[Path, ...]:
        """The enclaves' folders. Keys and certificates that are there are kept, permissions are written anew."""
        return tuple(self._make_enclave(grant, namespace, domain) for grant in grants)

    def _make_authority(self) -> None:
        key, certificate = self._private / "ca.key.pem", self._public / "ca.cert.pem"
        if not (key.exists() and certificate.exists()):
            _make_key(key)
            days = str(self._days)
            words = ["req", "-new", "-x509", "-sha256", "-key", str(key), "-days", days, "-extensions", "authority"]
            _write(certificate, _openssl([*words, "-config", "/dev/stdin"], _REQUEST.format(name=AUTHORITY).encode()))
        for name in SHARED:
            _link(self._public / name, Path("ca.cert.pem"))
        for name in ("identity_ca.key.pem", "permissions_ca.key.pem"):
            _link(self._private / name, Path("ca.key.pem"))

    def _make_enclave(self, grant: Grant, namespace: str, domain: int) -> Path:
        name = enclave(namespace, grant.node)
        folder = self._enclaves / name.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        above = Path(*[".."] * len(folder.relative_to(self._folder).parts))
        for shared in SHARED:
            _link(folder / shared, above / "public" / shared)
        _link(folder / "governance.p7s", above / "enclaves" / "governance.p7s")
        key, certificate = folder / "key.pem", folder / "cert.pem"
        if not (key.exists() and certificate.exists()):
            _make_key(key)
            _write(certificate, self._certify(key, name))
        now = datetime.now(timezone.utc)
        span = (now - timedelta(days=1), now + timedelta(days=self._days))  # a day: clocks differ
        _write(folder / "permissions.xml", permissions_xml(grant, namespace, domain, *span))
        self._sign(folder / "permissions.xml")
        return folder

    def _certify(self, key: Path, name: str) -> bytes:
        request = _REQUEST.format(name=name).encode()
        wanted = _openssl(["req", "-new", "-sha256", "-key", str(key), "-config", "/dev/stdin"], request)
        settings = key.with_name("request.cnf")
        _write(settings, request)
        try:
            words = ["x509", "-req", "-sha256", "-days", str(self._days), "-extfile", str(settings)]
            words += ["-extensions", "participant", "-set_serial", f"0x{os.urandom(16).hex()}"]
            authority = ["-CA", str(self._public / "ca.cert.pem"), "-CAkey", str(self._private / "ca.key.pem")]
            return _openssl([*words, *authority], wanted)
        finally:
            settings.unlink()

    def _sign(self, file: Path) -> None:
        authority = ["-signer", str(self._public / SHARED[1]), "-inkey", str(self._private / "permissions_ca.key.pem")]
        _write(file.with_suffix(".p7s"), _openssl(["smime", "-sign", "-text", "-in", str(file), *authority]))


def _make_key(path: Path) -> None:
    _write(path, _openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]), mode=0o600)


def _write(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Whole or not at all, and never readable by more than `mode` says."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)
    part.replace(path)


def _link(path: Path, target: Path) -> None:
    if path.is_symlink() or path.exists():
        if path.is_symlink() and path.readlink() == target:
            return
        path.unlink()
    path.symlink_to(target)


def _openssl(words: list[str], data: bytes = b"") -> bytes:
    program = shutil.which("openssl")
    if program is None:
        raise KeystoreError("there is no openssl on the path, which makes keys and signatures: apt-get install openssl")
    done = subprocess.run([program, *words], input=data, capture_output=True, check=False)
    if done.returncode != 0:
        told = done.stderr.decode("utf-8", "replace").strip()
        raise KeystoreError(f"openssl {words[0]} failed: {told or 'it does not say why'}")
    return done.stdout
