"""Certificates for tests, made by openssl as one would by hand."""
import subprocess


def self_signed(folder, name, days=2):
    """A certificate of 127.0.0.1 that is its own root; returns the paths of certificate and key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(days),
         "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    return certificate, key
