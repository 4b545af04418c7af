"""A certificate for this machine, made when it is needed."""

import os
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate: what a server shows, and the file that a client trusts."""

    ca_file: str
    server: ssl.SSLContext


def own_certificate(folder: Path, *names: str) -> Certificate:
    """Make a certificate for these names (DNS:… or IP:…); skips without openssl, in CI fails."""
    if shutil.which("openssl") is None:
        reason = "TLS not tested: no openssl here; apt-get install openssl"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    named = ("-addext", "subjectAltName=" + ",".join(names))
    subprocess.run(
        ["openssl", *new.split(), *named, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certificate, key)
    return Certificate(str(certificate), server)
