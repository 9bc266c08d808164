// What is said of connections to brokers that fail because of TLS.
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/mutex.h"
#include "base/poll.h"
#include "catch.h"
#include "certificate.h"
#include "eventually.h"
#include "kafka/access/certificate.h"
#include "kafka/access/tls_trouble.h"
#include "kafka/admin/directory.h"
#include "kafka/client/client_support.h"
#include "kafka/group/consumer.h"
#include "kafka/produce/producer.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

/// A listener of a broker that never answers: calls `serve` for each connection, one after the other.
class Listener {
 public:
  explicit Listener(std::function<void(int)> serve)
      : serve_(std::move(serve)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    std::signal(SIGPIPE, SIG_IGN);  // as main does: OpenSSL writes although the other side may be gone
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof(address);
    REQUIRE(::bind(listener_.number(), generic, length) == 0);
    REQUIRE(::getsockname(listener_.number(), generic, &length) == 0);
    REQUIRE(::listen(listener_.number(), 16) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Listener() {
    ended_ = true;
    thread_.join();
  }
  Listener(const Listener&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// Until the other side sends something, or hangs up; false at the end.
  bool wait_for(int socket) const {
    while (!ended_)
      if (poll_until(socket, POLLIN, Deadline::in(milliseconds(20))) != 0) return true;
    return false;
  }

 private:
  void run() {
    while (wait_for(listener_.number())) {
      const Descriptor socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (socket.number() >= 0) serve_(socket.number());
    }
  }

  const std::function<void(int)> serve_;
  const Descriptor listener_;
  int port_ = 0;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// A listener with TLS.
class TlsListener {
 public:
  /// `above`: the certificates of the chain that the broker sends with its own.
  explicit TlsListener(const Certificate& own, const std::vector<const Certificate*>& above = {},
                       bool wants_certificate = false, int newest = 0)
      : context_(context_of(own, above, wants_certificate)),
        listener_([this](int socket) { serve(socket); }) {
    if (newest == 0) return;  // else an old broker; ciphers without signatures, which OpenSSL 3 allows
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_.get(), newest);
    SSL_CTX_set_cipher_list(context_.get(), "AES256-SHA:@SECLEVEL=0");
  }

  std::string address() const { return listener_.address(); }
  /// Requests of Kafka that came through.
  int requests() const { return requests_; }
  /// Connections that came to no agreement about TLS.
  int refused() const { return refused_; }

 private:
  using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

  static Context context_of(const Certificate& own, const std::vector<const Certificate*>& above,
                            bool wants) {
    Context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX_use_certificate(context.get(), own.x509());
    SSL_CTX_use_PrivateKey(context.get(), own.key());
    for (const auto* each : above) SSL_CTX_add1_chain_cert(context.get(), each->x509());
    if (wants) SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    return context;
  }
  void serve(int socket) {
    const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context_.get()), SSL_free);
    SSL_set_fd(tls.get(), socket);
    if (SSL_accept(tls.get()) != 1) return (void)++refused_;
    if (!listener_.wait_for(socket)) return;
    char byte = 0;
    if (SSL_read(tls.get(), &byte, 1) == 1) ++requests_;
  }

  const Context context_;
  std::atomic<int> requests_{0};
  std::atomic<int> refused_{0};
  Listener listener_;
};

ClientSettings client_of(const std::string& address, const std::string& protocol = "ssl") {
  return {{"bootstrap.servers", {address, "", false}},
          {"security.protocol", {protocol, "", false}},
          {"group.id", {"g", "", false}}};
}

ClientSettings trusting(const Certificate& authority, const std::string& address) {
  auto client = client_of(address);
  client["ssl.ca.pem"] = {authority.pem(), "", false};
  return client;
}

/// What is said at a start, once it says `part`.
std::string said_of(const ClientSettings& client, const std::string& part) {
  const auto directory = Directory::open(client);
  REQUIRE(directory);
  std::string said;
  eventually([&] {
    const auto topics = (*directory)->topics({"orders"}, milliseconds(300));
    REQUIRE_FALSE(topics);
    said = topics.error().text();
    return said.find(part) != said.npos;
  });
  CHECK_THAT(said, Catch::Contains(part));
  return said;
}

}  // namespace

TEST_CASE("a broker's wrong certificate is reported with the broker and the remedy") {
  const Certificate right, other_host("DNS:shop.example,DNS:kafka.example,IP:10.0.0.1"),
      expired("IP:127.0.0.1", -1);
  {
    const TlsListener broker(right);
    const auto said = said_of(trusting(other_host, broker.address()), "an authority that is not trusted");
    CHECK_THAT(said,
               Catch::Contains("broker " + broker.address() + ": its certificate was issued by CN=test") &&
                   Catch::Contains("kafka.ssl.ca.location") && !Catch::Contains("ca-certificates"));
  }
  {
    const TlsListener broker(other_host);
    CHECK_THAT(said_of(trusting(other_host, broker.address()), "is for other names"),
               Catch::Contains(broker.address()) &&
                   Catch::Contains("shop.example, kafka.example, 10.0.0.1; use one of these in "
                                   "kafka.bootstrap.servers"));
  }
  {
    const TlsListener broker(expired);
    CHECK_THAT(said_of(trusting(expired, broker.address()), "its certificate expired on 20"),
               Catch::Contains(broker.address()) && Catch::Contains("UTC; renew the certificate"));
  }
}

TEST_CASE("a broker and a client with different TLS settings are reported with the setting to change") {
  const Certificate certificate;
  const TlsListener tls(certificate);
  CHECK_THAT(said_of(client_of(tls.address(), "plaintext"), "the port expects TLS"),
             Catch::Contains("broker " + tls.address()) && Catch::Contains("kafka.security.protocol to ssl"));
  const auto read_some = [](int socket) {
    char bytes[4096];
    static_cast<void>(::recv(socket, bytes, sizeof(bytes), 0));
  };
  // Kafka takes the beginning of TLS for a request that is too large, and hangs up.
  Listener plaintext([&](int socket) { read_some(socket); });
  CHECK_THAT(said_of(client_of(plaintext.address()), "does not speak TLS"),
             Catch::Contains("broker " + plaintext.address()) &&
                 Catch::Contains("kafka.security.protocol to plaintext"));
  // A forwarder in front of brokers that do not run: nobody can tell it from either.
  Listener forwarder([](int) {});
  for (const auto* protocol : {"plaintext", "ssl"})
    CHECK_THAT(
        said_of(client_of(forwarder.address(), protocol), "either no broker runs behind this address"),
        Catch::Contains("broker " + forwarder.address()) && Catch::Contains("check that the broker runs"));
  Listener other([&](int socket) {
    read_some(socket);
    (void)::send(socket, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL);
  });
  CHECK_THAT(said_of(client_of(other.address()), "seems not to speak TLS"),
             Catch::Contains("broker " + other.address()));
}

TEST_CASE("a broker that speaks only TLS 1.1 or 1.0 gets no request, also if the ciphers are allowed") {
  const auto certificate = Certificate::rsa();
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION}) {
    const TlsListener broker(certificate, {}, false, version);
    auto settings = trusting(certificate, broker.address());
    settings["ssl.cipher.suites"] = {"AES256-SHA:@SECLEVEL=0", "", false};
    if (version == TLS1_2_VERSION) {
      const auto directory = Directory::open(settings);
      REQUIRE(directory);
      CHECK(eventually([&] {
        (void)(*directory)->topics({"orders"}, milliseconds(300));
        return broker.requests() > 0;
      }));
    } else {
      said_of(settings, "alert protocol version");
      CHECK(broker.requests() == 0);
    }
  }
}

TEST_CASE("a token server that speaks only TLS 1.1 or 1.0 gets no request") {
  if (linked_client().version < 0x020f00ff) return;  // cannot be told the authority of the token server
  const auto certificate = Certificate::rsa();
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION}) {
    const TlsListener server(certificate, {}, false, version);
    auto settings = client_of("127.0.0.1:9", "sasl_plaintext");
    const auto set = [&](const char* key, std::string value) {
      settings[key] = {std::move(value), "", false};
    };
    set("sasl.mechanisms", "OAUTHBEARER");
    set("sasl.oauthbearer.method", "oidc");
    set("sasl.oauthbearer.client.id", "laneway");
    set("sasl.oauthbearer.client.secret", "secret");
    set("sasl.oauthbearer.token.endpoint.url", "https://" + server.address() + "/token");
    set("https.ca.pem", certificate.pem());
    const auto directory = Directory::open(settings);
    REQUIRE(directory);
    const auto asked = [&] {
      (void)(*directory)->topics({"orders"}, milliseconds(300));
      return server.requests() > 0;
    };
    if (version == TLS1_2_VERSION) {
      CHECK(eventually(asked));
    } else {
      REQUIRE(eventually([&] { return asked() || server.refused() > 0; }));
      CHECK(server.requests() == 0);
    }
  }
}

TEST_CASE("a broker that requires a client certificate is reported with the setting for the certificate") {
  const Certificate certificate;
  const TlsListener broker(certificate, {}, true);
  CHECK_THAT(said_of(trusting(certificate, broker.address()), "requires a client certificate"),
             Catch::Contains("kafka.ssl.certificate.location"));
}

TEST_CASE("valid certificates are accepted, and wrong ones too if they are not checked") {
  const auto root = Certificate::authority("root");
  const auto between = Certificate::authority("between", &root);
  const Certificate own("IP:127.0.0.1", 1, &between), unknown;
  const auto connects = [](const TlsListener& broker, const ClientSettings& client) {
    const auto directory = Directory::open(client);
    REQUIRE(directory);
    return eventually([&] {
      static_cast<void>((*directory)->topics({"orders"}, milliseconds(100)));
      return broker.requests() > 0;
    });
  };
  const TlsListener broker(own, {&between});
  CHECK(connects(broker, trusting(root, broker.address())));
  const TlsListener other(unknown);
  auto careless = trusting(root, other.address());
  careless["enable.ssl.certificate.verification"] = {"false", "", false};
  CHECK(connects(other, careless));
}

TEST_CASE("an expired intermediate certificate is named") {
  const auto root = Certificate::authority("root");
  const auto between = Certificate::authority("between", &root, -1);
  const Certificate own("IP:127.0.0.1", 1, &between);
  const TlsListener broker(own, {&between});
  CHECK_THAT(said_of(trusting(root, broker.address()), "expired on"),
             Catch::Contains("the certificate of its authority CN=between expired on 20"));
}

TEST_CASE("a consumer reports why a broker is refused, and a producer why nothing is written") {
  const Certificate certificate, another;
  const TlsListener broker(certificate);
  const auto client = trusting(another, broker.address());
  const auto consumer = Consumer::create(client, {}, [] {});
  REQUIRE(consumer);
  REQUIRE((*consumer)->subscribe({"orders"}));
  std::string error;
  CHECK(eventually([&] {
    const auto event = (*consumer)->poll();
    const auto* failed = event ? std::get_if<ClientError>(&*event) : nullptr;
    if (failed != nullptr && failed->connection) error = failed->text;
    return !error.empty();
  }));
  CHECK_THAT(error, Catch::StartsWith("broker " + broker.address() + ": its certificate was issued by"));

  struct Answer final : DeliverySink {
    void delivered(const Delivery& delivery) noexcept override {
      MutexLock lock(mutex);
      error = delivery.error;
    }
    std::string text() const {
      MutexLock lock(mutex);
      return error;
    }
    mutable Mutex mutex;
    std::string error GUARDED_BY(mutex);
  } answer;
  auto settings = producer_client(client, {});
  const auto producer = Producer::create({.client = settings, .delivery_timeout = seconds(2)});
  REQUIRE(producer);
  Outgoing record{.topic = "orders", .value = "v"};
  REQUIRE((*producer)->send(record, &answer).sent == Sent::accepted);
  CHECK(eventually([&] { return !answer.text().empty(); }));
  CHECK_THAT(answer.text(), Catch::Contains(broker.address() + ": its certificate was issued by"));
}

TEST_CASE("a web server in the place of a broker is recognised") {
  const std::string words =
      "127.0.0.1:8080/bootstrap: Receive failed: Invalid response size 1213486160 (0..100000000): increase "
      "receive.message.max.bytes (after 0ms in state APIVERSION_QUERY)";
  CHECK_THAT(explained(words),
             Catch::StartsWith("broker 127.0.0.1:8080 answers in HTTP, so it is a web server"));
  CHECK_THAT(explained("ssl://" + words), Catch::StartsWith("broker 127.0.0.1:8080 answers in HTTP"));
}

TEST_CASE("other messages of the client stay unchanged") {
  for (const std::string words :
       {"127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after 0ms in state "
        "CONNECT)",
        "127.0.0.1:1/1: Receive failed: Invalid response size 200000000 (0..100000000)", ""})
    CHECK(explained(words) == words);
}

TEST_CASE("unreadable certificates, and those refused for other reasons, are described as far as known") {
  CHECK(certificate_problem(X509_V_ERR_CERT_HAS_EXPIRED, 0, "nonsense") == "its certificate cannot be read");
  const Certificate certificate;
  CHECK(certificate_problem(X509_V_ERR_CERT_REVOKED, 0, certificate.der()) ==
        "its certificate is refused: certificate revoked");
  CHECK_THAT(certificate_problem(X509_V_ERR_CERT_NOT_YET_VALID, 0, certificate.der()),
             Catch::Contains("is not valid before 20") && Catch::Contains("compare the clocks"));
}
