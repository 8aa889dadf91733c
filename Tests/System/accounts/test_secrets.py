"""No secret is in what git keeps: every line that any commit ever added, and those that are not committed yet. Without DROVER_LONG only
those of the newest commits are looked at, which nobody has looked at before.

What the scanner takes for one and is none stands in secrets.txt, looked at by a person, with the reason. A new finding that is
none: run this file, copy its line there, say why. One that is real: change it where it is used first; it is known from now on.
"""
import base64
import os
import re
import secrets
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings
from harness import ROOT, is_long

# Of these commits, in the short form.
NEWEST = 30
REVIEWED = Path(__file__).with_name("secrets.txt")
# Others made these, pinned by digest (test_assets.py); and the list of digests, made by Deploy/generate/sbom.
NOT_OURS = [":!Assets/natural-earth.json", ":!Sources/People/Web/Assets/natural-earth.json", ":!Sources/People/Web/Assets/maplibre", ":!Sources/People/Web/Assets/glyphs", ":!Sources/People/Web/Assets/qr", ":!Tests/Fixtures/qr", ":!docs/sbom.json"]
# What `drover token add` prints: 256 bits as base64url, which names of metrics are not.
OURS = re.compile(r"\bdrover_(?=[a-z0-9_-]*[A-Z])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")


def git(*words):
    run = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, *words], capture_output=True)
    return run.stdout if run.returncode == 0 else None


def added():
    """Lines by the end of their file's name, which tells the scanner how secrets look there; each line once."""
    lines, path = defaultdict(dict), ""
    how = ["-p", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"]
    history = git("log", "HEAD", *how, "--format=", *([] if is_long() else ["-n", str(NEWEST)]), "--", ".", *NOT_OURS)
    for line in (history + git("diff", "HEAD", *how, "--", ".", *NOT_OURS)).decode(errors="replace").split("\n"):
        if line.startswith("+++ "):
            path = line[4:].rstrip("\t").strip('"').removeprefix("b/")
        elif line.startswith("+"):
            lines[os.path.splitext(path)[1]][line[1:]] = None
    # Those that are here; of the short form, only those that git does not know yet.
    for name in git("ls-files", "-z", *(["--cached"] if is_long() else []), "--others", "--exclude-standard", "--", ".", *NOT_OURS).decode().split("\0"):
        if name and (ROOT / name).is_file():
            for line in (ROOT / name).read_text(errors="replace").split("\n"):
                lines[os.path.splitext(name)[1]][line] = None
    return lines


def scan(lines, folder):
    """(kind, digest of the value) of what looks like a secret; the value itself goes into no message."""
    found, ours = SecretsCollection(), set()
    with default_settings():
        for end, texts in lines.items():
            file = folder / f"lines{end}"
            file.write_text("\n".join(texts) + "\n")
            found.scan_file(str(file))
            if any(OURS.search(text) for text in texts):
                ours.add(("Drover Token", f"in a file {end}"))
    return {(secret.type, secret.secret_hash) for _, secret in found} | ours


def test_no_commit_ever_added_a_secret(tmp_path):
    if git("rev-parse", "HEAD") is None:
        pytest.skip("not a git checkout: there is no history to look through")
    reviewed = set()
    for line in REVIEWED.read_text().splitlines():
        if line and not line.startswith("#"):
            kind, digest, why = [part.strip() for part in line.split("|")]
            assert why, f"{REVIEWED.name}: {line}: says no reason"
            reviewed.add((kind, digest))
    lines = added()
    assert sum(map(len, lines.values())) > (1_000 if is_long() else 10)
    new = scan(lines, tmp_path) - reviewed
    assert new == set(), "not looked at yet; see the head of this file"


def test_the_scanner_finds_what_it_should(tmp_path):
    # Made here, so that they stand in no file of ours. What begins with a hyphen it takes for no password.
    key = "AKIA" + base64.b32encode(secrets.token_bytes(10)).decode()
    lines = {
        ".py": {f'aws = "{key}"': None, f'pass{"word"} = "a{secrets.token_urlsafe(12)}"': None},
        ".pem": {f"-----BEGIN RSA {'PRIVATE'} KEY-----": None},
        ".yaml": {f"url: postgresql://drover:{secrets.token_hex(8)}@db/drover": None},
        ".md": {f"token drover_A{secrets.token_urlsafe(32)[1:]}": None},
    }
    assert {kind for kind, _ in scan(lines, tmp_path)} >= {"AWS Access Key", "Secret Keyword", "Private Key", "Basic Auth Credentials", "Drover Token"}
