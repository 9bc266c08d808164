"""The broker's settings: a listener for each way to log in."""
from . import kerberos

LISTENERS = {"TLS": "SSL", "MTLS": "SSL", "EXPIRED": "SSL", "ELSEWHERE": "SSL",
             "SASL": "SASL_PLAINTEXT", "SASL_TLS": "SASL_SSL", "REAUTH": "SASL_PLAINTEXT"}
CERTIFICATES = {"TLS": "broker", "MTLS": "broker", "EXPIRED": "broker_expired", "ELSEWHERE": "broker_elsewhere",
                "SASL_TLS": "broker"}
MODULES = "org.apache.kafka.common.security"
LOGIN_AGAIN_MS = 5000


def keys_url(state):
    return f"http://127.0.0.1:{state['token_port']}/keys"


def tls_settings(state, listener):
    files, prefix = state["certificates"], f"listener.name.{listener.lower()}.ssl."
    settings = {prefix + "keystore.type": "PEM", prefix + "keystore.location": files[CERTIFICATES[listener] + "_both"],
                prefix + "truststore.type": "PEM", prefix + "truststore.location": files["authority"]}
    if listener == "MTLS":
        settings[prefix + "client.auth"] = "required"
    return settings


def sasl_settings(state, listener, plain):
    """`plain`: the line that names the users of PLAIN; the users of SCRAM are in the cluster's own records."""
    prefix = f"listener.name.{listener.lower()}."
    keytab = state["kerberos"]["broker_keytab"]
    modules = {
        "plain": plain,
        "scram-sha-256": f"{MODULES}.scram.ScramLoginModule required;",
        "scram-sha-512": f"{MODULES}.scram.ScramLoginModule required;",
        "oauthbearer": f"{MODULES}.oauthbearer.OAuthBearerLoginModule required;",
        "gssapi": "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
                  f"keyTab=\"{keytab}\" principal=\"kafka/127.0.0.1@{kerberos.REALM}\";",
    }
    settings = {f"{prefix}{mechanism}.sasl.jaas.config": module for mechanism, module in modules.items()}
    settings[f"{prefix}oauthbearer.sasl.server.callback.handler.class"] = \
        f"{MODULES}.oauthbearer.OAuthBearerValidatorCallbackHandler"
    if listener == "REAUTH":
        settings[f"{prefix}connections.max.reauth.ms"] = LOGIN_AGAIN_MS
    return settings


def broker_settings(state, settings):
    """The settings that override those of a secured broker."""
    plain = settings["listener.name.sasl_plaintext.plain.sasl.jaas.config"]
    more = {
        "listeners": ",".join([settings["listeners"], *(f"{name}://{at}" for name, at in state["listeners"].items())]),
        "listener.security.protocol.map": ",".join([settings["listener.security.protocol.map"],
                                                    *(f"{name}:{protocol}" for name, protocol in LISTENERS.items())]),
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER,GSSAPI",
        "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "PLAIN",
        # The validator that Kafka 4.1 takes otherwise checks neither signature nor audience.
        "sasl.oauthbearer.jwt.validator.class": f"{MODULES}.oauthbearer.BrokerJwtValidator",
        "sasl.oauthbearer.jwks.endpoint.url": keys_url(state),
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.kerberos.service.name": "kafka",
        "super.users": settings["super.users"] + ";User:worker;User:CN=worker",
    }
    for listener, protocol in LISTENERS.items():
        if listener in CERTIFICATES:
            more.update(tls_settings(state, listener))
        if protocol.startswith("SASL"):
            more.update(sasl_settings(state, listener, plain))
    return more
