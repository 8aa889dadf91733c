"""Certificates for tests: of a root of their own made by openssl, as one would by hand."""
import subprocess
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def self_signed(folder, name, days=2):
    """A certificate of 127.0.0.1 that is its own root; returns the paths of certificate and key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    secret, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(timezone.utc)
    subject, public = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]), secret.public_key()
    made = (x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(public).serial_number(x509.random_serial_number())
            # Since yesterday: some processes of the tests have a clock of their own.
            .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=days))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
            .sign(secret, hashes.SHA256()))
    key.write_bytes(secret.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    key.chmod(0o600)
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return certificate, key


class Authority:
    """A root of its own that signs certificates and says which are revoked."""

    def __init__(self, folder, name):
        self.folder, self.name = folder / name, name
        self.folder.mkdir()
        (self.folder / "index").touch()
        (self.folder / "crlnumber").write_text("01")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                     "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", "root.key", "-out", "root.pem")
        self.root = self.folder / "root.pem"
        (self.folder / "ca.conf").write_text(
            "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nserial=serial\ncrlnumber=crlnumber\ncertificate=root.pem\nprivate_key=root.key\n"
            "default_md=sha256\nnew_certs_dir=.\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n"
            "[client]\nextendedKeyUsage=clientAuth\nkeyUsage=critical,digitalSignature\n"
            "[server]\nextendedKeyUsage=serverAuth\nkeyUsage=critical,digitalSignature\nsubjectAltName=IP:127.0.0.1\n"
            "[elsewhere]\nextendedKeyUsage=serverAuth\nkeyUsage=critical,digitalSignature\nsubjectAltName=IP:127.0.0.9\n")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, cwd=self.folder)

    def issue(self, name, use="client", begins="20200101000000Z", ends="20491231235959Z"):
        """Paths of the certificate and its key."""
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self.openssl("ca", "-batch", "-config", "ca.conf", "-rand_serial", "-extensions", use, "-startdate", begins, "-enddate", ends,
                     "-in", f"{name}.csr", "-out", f"{name}.pem", "-notext")
        return self.folder / f"{name}.pem", self.folder / f"{name}.key"

    def revoke(self, *names, valid_s=2_592_000):
        """The list of all that were revoked so far; its next update is due in so many seconds."""
        for name in names:
            self.openssl("ca", "-batch", "-config", "ca.conf", "-revoke", f"{name}.pem")
        self.openssl("ca", "-batch", "-config", "ca.conf", "-gencrl", "-crlsec", valid_s, "-out", "revoked.pem")
        return self.folder / "revoked.pem"
