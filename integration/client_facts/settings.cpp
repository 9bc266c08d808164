// What the client and its mock cluster can, and what its configuration lets through.
#include "facts.h"

namespace client_facts {
namespace {

Seen dangerous_keys_are_taken() {
  constexpr std::pair<const char*, const char*> keys[] = {{"sasl.kerberos.kinit.cmd", "false"},
                                                          {"plugin.library.paths", ""},
                                                          {"ssl.engine.location", "none"},
                                                          {"test.mock.num.brokers", "0"}};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  int taken = 0;
  for (const auto& [key, value] : keys)
    if (refused(conf, key, value).empty()) ++taken;
  return {taken > 0, text("%d of 4 keys taken", taken)};
}

Seen dump_shows_secrets() {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  (void)refused(conf, "sasl.password", "open-sesame");
  std::size_t count = 0;
  const char** dump = rd_kafka_conf_dump(conf, &count);
  std::string shown;
  for (std::size_t i = 0; i + 1 < count; i += 2)
    if (dump[i] == std::string("sasl.password")) shown = dump[i + 1];
  return {shown == "open-sesame", "sasl.password is shown as " + (shown.empty() ? "nothing" : shown)};
}

Seen oidc() {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  std::string reason = refused(conf, "sasl.oauthbearer.method", "oidc");
  char features[512] = "";
  std::size_t size = sizeof features;
  (void)rd_kafka_conf_get(conf, "builtin.features", features, &size);
  const bool built_in = std::string(features).find("oidc") != std::string::npos;
  return {reason.empty() && built_in, reason.empty() ? "taken" : reason};
}

Seen consumer_protocol() {
  const auto reason = refused(rd_kafka_conf_new(), "group.protocol", "consumer");
  return {reason.empty(), reason.empty() ? "taken" : reason};
}

Seen consumer_protocol_refuses_classic_keys() {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  if (const auto reason = refused(conf, "group.protocol", "consumer"); !reason.empty())
    return {false, reason};
  (void)refused(conf, "group.id", "facts");
  (void)refused(conf, "session.timeout.ms", "30000");
  char reason[256] = "taken";
  const bool is_refused = rd_kafka_new(RD_KAFKA_CONSUMER, conf, reason, sizeof reason) == nullptr;
  return {is_refused, reason};
}

Seen mock_forgets() {
  const Mock mock;
  mock.create("large");
  fill(mock.bootstrap(), "large", 0, 100000, 5000);
  std::int64_t low = 0;
  std::int64_t high = 0;
  rd_kafka_t* client = consumer(mock.bootstrap());
  (void)rd_kafka_query_watermark_offsets(client, "large", 0, &low, &high, 30000);
  return {low > 0, text("offsets %lld to %lld are left of 100000 records of 100 bytes",
                        static_cast<long long>(low), static_cast<long long>(high))};
}

Seen watermark_query_overruns() {
  const Mock mock;
  mock.create("asked");
  rd_kafka_t* client = consumer(mock.bootstrap(), {{"socket.timeout.ms", "10000"}});
  std::int64_t low = 0;
  std::int64_t high = 0;
  if (rd_kafka_query_watermark_offsets(client, "asked", 0, &low, &high, 30000) != RD_KAFKA_RESP_ERR_NO_ERROR)
    give_up("the mock cluster does not answer");
  rd_kafka_mock_broker_set_rtt(mock.cluster(), 1, 60000);
  const auto time = time_of(
      [&] { (void)rd_kafka_query_watermark_offsets(client, "asked", 0, &low, &high, 500); }, seconds(20));
  return {!time || *time > seconds(3),
          time ? text("%lld ms instead of 500", static_cast<long long>(time->count()))
               : "not back after 20 s instead of 500 ms"};
}

Seen offsets_for_times_keeps_time() {
  const Mock mock;
  mock.create("asked");
  rd_kafka_t* client = consumer(mock.bootstrap(), {{"socket.timeout.ms", "10000"}});
  const auto question = one("asked", 0, RD_KAFKA_OFFSET_END);
  if (rd_kafka_offsets_for_times(client, question.get(), 30000) != RD_KAFKA_RESP_ERR_NO_ERROR)
    give_up("the mock cluster does not answer");
  rd_kafka_mock_broker_set_rtt(mock.cluster(), 1, 60000);
  const auto time =
      time_of([&] { (void)rd_kafka_offsets_for_times(client, question.get(), 500); }, seconds(20));
  return {time && *time < seconds(3),
          time ? text("%lld ms for 500", static_cast<long long>(time->count())) : "not back after 20 s"};
}

}  // namespace

const std::vector<Fact> setting_facts = {
    {"20-query", on_mock, "The query for watermarks waits for a silent leader far beyond its time-out.",
     "lib/kafka/group/inquiries.cpp", watermark_query_overruns},
    {"20-times", on_mock, "The query for offsets by time keeps its time-out.",
     "lib/kafka/group/inquiries.cpp", offsets_for_times_keeps_time},
    {"23", on_mock, "`group.protocol: consumer` is accepted.", "lib/kafka/admin/directory.cpp",
     consumer_protocol},
    {"24", on_mock, "Keys that run programs, load libraries or replace the brokers are accepted.",
     "lib/config/client/client_keys.h", dangerous_keys_are_taken},
    {"24-dump", on_mock, "The client's own dump of a configuration shows secrets.",
     "lib/config/output/print.cpp", dump_shows_secrets},
    {"25", on_mock, "The mock cluster keeps the last 5 MiB of a partition.",
     "lib/kafka/testing/embedded_cluster.h", mock_forgets},
    {"26", on_mock, "`sasl.oauthbearer.method: oidc` is accepted.", "lib/config/client/client_keys.cpp",
     oidc},
    {"38", on_mock, "With `group.protocol: consumer` the keys of the classic protocol are refused.",
     "lib/kafka/admin/directory.cpp", consumer_protocol_refuses_classic_keys},
};

}  // namespace client_facts
