"""A Kerberos realm in a folder: its database, the key tables of the brokers and of the user. MIT's tools, nothing of the system."""
import os
import subprocess

REALM = "LANEWAY.TEST"
SBIN = "/usr/sbin"


def make(folder, port, password):
    files = {"krb5_conf": folder / "krb5.conf", "kdc_conf": folder / "kdc.conf", "database": folder / "principal",
             "broker_keytab": folder / "broker.keytab", "keytab": folder / "worker.keytab",
             "wrong_keytab": folder / "wrong.keytab"}
    files["krb5_conf"].write_text(f"""[libdefaults]
default_realm = {REALM}
dns_lookup_realm = false
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
{REALM} = {{
 kdc = 127.0.0.1:{port}
}}
""")
    files["kdc_conf"].write_text(f"""[kdcdefaults]
kdc_listen = 127.0.0.1:{port}
kdc_tcp_listen = 127.0.0.1:{port}
[realms]
{REALM} = {{
 database_name = {files['database']}
 key_stash_file = {folder}/stash
 max_life = 1h
}}
[logging]
kdc = FILE:{folder}/kdc.log
""")
    state = {name: str(file) for name, file in files.items()}
    state.update(principal=f"worker@{REALM}", service="kafka")
    run = dict(env=environment(state), check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    subprocess.run([f"{SBIN}/kdb5_util", "create", "-s", "-r", REALM, "-P", password], **run)
    # A key table is taken before the password changes, so that its key is the wrong one afterwards.
    subprocess.run([f"{SBIN}/kadmin.local", "-r", REALM], **run, input=f"""addprinc -randkey kafka/127.0.0.1
ktadd -k {files['broker_keytab']} kafka/127.0.0.1
addprinc -randkey worker
ktadd -k {files['wrong_keytab']} worker
ktadd -k {files['keytab']} worker
""")
    for name in ("broker_keytab", "keytab", "wrong_keytab"):
        files[name].chmod(0o600)
    return state


def environment(state):
    return {**os.environ, "KRB5_CONFIG": state["krb5_conf"], "KRB5_KDC_PROFILE": state["kdc_conf"]}


def kdc_command(pid_file):
    return [f"{SBIN}/krb5kdc", "-n", "-r", REALM, "-P", str(pid_file)]
