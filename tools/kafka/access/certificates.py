"""An authority, its certificates, and certificates that do not fit: all in PEM files, elliptic curves for speed."""
import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)
LOOPBACK = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]


def name_of(common_name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


class Certificate:
    """A key with its certificate, signed by `issuer`, or by itself: an authority."""

    def __init__(self, common_name, issuer=None, names=(), valid_for=30 * DAY):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = name_of(common_name)
        end = datetime.datetime.utcnow() + valid_for
        builder = (x509.CertificateBuilder().subject_name(self.name).issuer_name(issuer.name if issuer else self.name)
                   .public_key(self.key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(end - 60 * DAY).not_valid_after(end)
                   .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True))
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        self.certificate = builder.sign((issuer or self).key, hashes.SHA256())

    def certificate_pem(self):
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self):
        return self.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                      serialization.NoEncryption())


def make(folder):
    """{name: file}: certificates NAME and their keys NAME_key; `both` in one file, as brokers take them."""
    authority, another = Certificate("authority"), Certificate("another-authority")
    expired = -DAY
    all_of_them = {
        "authority": authority,
        "another_authority": another,
        "broker": Certificate("broker", authority, LOOPBACK),
        "broker_expired": Certificate("broker", authority, LOOPBACK, expired),
        "broker_elsewhere": Certificate("broker", authority, [x509.DNSName("kafka.elsewhere.example")]),
        "worker": Certificate("worker", authority),
        "worker_expired": Certificate("worker", authority, valid_for=expired),
        "worker_unknown": Certificate("worker", another),
    }
    files = {}
    for name, made in all_of_them.items():
        for kind, content in {name: made.certificate_pem(), f"{name}_key": made.key_pem(),
                              f"{name}_both": made.key_pem() + made.certificate_pem()}.items():
            file = folder / f"{kind}.pem"
            file.write_bytes(content)
            file.chmod(0o600)
            files[kind] = str(file)
    return files
