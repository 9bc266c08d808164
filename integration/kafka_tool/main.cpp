// kafka_tool: what the tests need to do to a Kafka, and to know of it, without the service's own code. Prints
// JSON lines.
#include <CLI/CLI.hpp>
#include <iostream>

#include "access.h"
#include "client.h"
#include "dump.h"
#include "produce.h"
#include "records.h"
#include "topics.h"

namespace kafka_tool {

namespace {

struct Arguments {
  std::string bootstrap;
  std::string topic;
  std::string group;
  std::vector<std::string> topics;
  std::vector<std::string> settings;
  std::int32_t partitions = 1;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  bool read_committed = false;
  std::int64_t per_transaction = 100;
  std::int64_t abort_every = 2;
  Access access;
  Load load;
  std::int64_t failed = 0;
};

void add_topic_verbs(CLI::App& app, Arguments& to) {
  auto* create = app.add_subcommand("create", "Create a topic");
  create->add_option("topic", to.topic)->required();
  create->add_option("partitions", to.partitions)->required();
  create->add_option("settings", to.settings, "KEY=VALUE of the topic");
  create->callback([&to] { create_topic(to.bootstrap, to.topic, to.partitions, to.settings); });

  auto* configure =
      app.add_subcommand("configure", "Set a topic's settings: these, and all others to defaults");
  configure->add_option("topic", to.topic)->required();
  configure->add_option("settings", to.settings, "KEY=VALUE of the topic")->required();
  configure->callback([&to] { configure_topic(to.bootstrap, to.topic, to.settings); });

  auto* remove = app.add_subcommand("delete", "Delete a topic");
  remove->add_option("topic", to.topic)->required();
  remove->callback([&to] { delete_topic(to.bootstrap, to.topic); });

  auto* add = app.add_subcommand("add-partitions", "Raise the number of partitions");
  add->add_option("topic", to.topic)->required();
  add->add_option("total", to.partitions, "partitions afterwards")->required();
  add->callback([&to] { add_partitions(to.bootstrap, to.topic, to.partitions); });

  auto* records = app.add_subcommand("delete-records", "Delete the records of a partition below an offset");
  records->add_option("topic", to.topic)->required();
  records->add_option("partition", to.partition)->required();
  records->add_option("offset", to.offset)->required();
  records->callback([&to] { delete_records(to.bootstrap, to.topic, to.partition, to.offset); });
}

void add_access_verbs(CLI::App& app, Arguments& to) {
  auto* give = app.add_subcommand("grant", "Give a user rights to a topic or group");
  auto* take = app.add_subcommand("revoke", "Take rights from a user");
  for (auto* verb : {give, take}) {
    verb->add_option("user", to.access.user)->required();
    verb->add_option("type", to.access.type, "topic or group")->required();
    verb->add_option("name", to.access.name)->required();
    verb->add_option("rights", to.access.rights, "read, write, describe, delete, all")->required();
  }
  give->callback([&to] { grant(to.bootstrap, to.access); });
  take->callback([&to] { revoke(to.bootstrap, to.access); });
}

void add_reading_verbs(CLI::App& app, Arguments& to) {
  auto* marks = app.add_subcommand("watermarks", "Low and end offset of each partition");
  marks->add_option("topic", to.topic)->required();
  marks->callback([&to] { print_watermarks(to.bootstrap, to.topic); });

  auto* offsets = app.add_subcommand("committed", "A group's committed offsets with their metadata");
  offsets->add_option("group", to.group)->required();
  offsets->add_option("topics", to.topics)->required();
  offsets->callback([&to] { print_committed(to.bootstrap, to.group, to.topics); });

  auto* members = app.add_subcommand("members", "A group's state, members and assignments");
  members->add_option("group", to.group)->required();
  members->callback([&to] { print_members(to.bootstrap, to.group); });

  auto* log = app.add_subcommand("dump", "Every record of a topic, then the end offsets");
  log->add_option("topic", to.topic)->required();
  log->add_flag("--read-committed", to.read_committed, "without aborted transactions");
  log->callback([&to] { dump(to.bootstrap, to.topic, to.read_committed); });

  auto* read =
      app.add_subcommand("read", "Every record of a topic with all that it bears, bytes in hexadecimal");
  read->add_option("topic", to.topic)->required();
  read->callback([&to] { read_records(to.bootstrap, to.topic); });
}

void add_load_options(CLI::App& verb, Arguments& to) {
  verb.add_option("topic", to.load.topic)->required();
  verb.add_option("--count", to.load.count, "records; without: until SIGTERM");
  verb.add_option("--size", to.load.size, "bytes of each value");
  verb.add_option("--random", to.load.random, "characters of it that compression makes no smaller than half");
  verb.add_option("--rate", to.load.rate, "records a second");
  auto* keys =
      verb.add_option("--keys", to.load.keys, "distinct keys; without: a key of its own for each record");
  verb.add_flag("--null-keys", to.load.null_keys)->excludes(keys);
  verb.add_option("--value", to.load.value, "each value, with the record's number in place of {}");
  verb.add_option("--header", to.load.header,
                  "NAME: a header with the record's number; NAME=TEXT: with this text");
  verb.add_option("--partitions", to.load.partitions, "only to these")->delimiter(',');
  verb.add_flag(
      "--one-in-flight", to.load.one_in_flight,
      "one request at a time, without idempotence: an acknowledgement is one also when brokers die");
  verb.add_option("--acks-file", to.load.acks_file, "appends each acknowledged record to this file");
}

void add_writing_verbs(CLI::App& app, Arguments& to) {
  auto* plain = app.add_subcommand("produce", "Write records, acknowledged by all replicas");
  add_load_options(*plain, to);
  plain->callback([&to] { to.failed = produce(to.bootstrap, to.load); });

  auto* write = app.add_subcommand("write", "Write the records of standard input, as read prints them");
  write->add_option("topic", to.topic)->required();
  write->callback([&to] { write_records(to.bootstrap, to.topic); });

  auto* transactional =
      app.add_subcommand("produce-transactional", "Write transactions, some of them aborted");
  add_load_options(*transactional, to);
  transactional->add_option("--per-transaction", to.per_transaction, "records in each")
      ->check(CLI::PositiveNumber);
  transactional->add_option("--abort-every", to.abort_every, "every so manieth is aborted; 0: none");
  transactional->callback([&to] {
    to.failed = produce_transactional(to.bootstrap, to.load, to.per_transaction, to.abort_every);
  });
}

int run(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  CLI::App app("Does things to a Kafka for tests, and tells what is in it, as JSON lines");
  app.require_subcommand(1);
  Arguments arguments;
  app.add_option("--bootstrap", arguments.bootstrap, "host:port,…")->envname("KAFKA_BOOTSTRAP")->required();
  add_topic_verbs(app, arguments);
  add_access_verbs(app, arguments);
  add_reading_verbs(app, arguments);
  add_writing_verbs(app, arguments);
  CLI11_PARSE(app, argc, argv);
  return arguments.failed == 0 ? 0 : 1;
}

}  // namespace

}  // namespace kafka_tool

int main(int argc, char** argv) {
  try {
    return kafka_tool::run(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << "kafka_tool: " << failure.what() << '\n';
    return 69;
  }
}
