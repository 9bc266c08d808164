#include "access.h"

#include <array>
#include <utility>

#include "client.h"

namespace kafka_tool {

namespace {

using Binding = std::unique_ptr<rd_kafka_AclBinding_t, Destroy<rd_kafka_AclBinding_destroy>>;

rd_kafka_ResourceType_t resource_of(const std::string& type) {
  if (type == "topic") return RD_KAFKA_RESOURCE_TOPIC;
  if (type == "group") return RD_KAFKA_RESOURCE_GROUP;
  throw Failure("'" + type + "' is neither topic nor group");
}

rd_kafka_AclOperation_t operation_of(const std::string& right) {
  constexpr std::array<std::pair<const char*, rd_kafka_AclOperation_t>, 5> all = {{
      {"read", RD_KAFKA_ACL_OPERATION_READ},
      {"write", RD_KAFKA_ACL_OPERATION_WRITE},
      {"describe", RD_KAFKA_ACL_OPERATION_DESCRIBE},
      {"delete", RD_KAFKA_ACL_OPERATION_DELETE},
      {"all", RD_KAFKA_ACL_OPERATION_ALL},
  }};
  for (const auto& [name, operation] : all)
    if (right == name) return operation;
  throw Failure("'" + right + "' is none of read, write, describe, delete, all");
}

Event answer(rd_kafka_queue_t* queue, const std::string& what) {
  Event event(rd_kafka_queue_poll(queue, patience_ms()));
  if (!event) throw Failure(what + ": no answer in time");
  check(rd_kafka_event_error(event.get()), what);
  return event;
}

void create(rd_kafka_t* client, rd_kafka_AclBinding_t* binding, const std::string& what) {
  const Queue queue(rd_kafka_queue_new(client));
  rd_kafka_CreateAcls(client, &binding, 1, nullptr, queue.get());
  const auto event = answer(queue.get(), what);
  std::size_t count = 0;
  const auto* results =
      rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event.get()), &count);
  if (const auto* error = rd_kafka_acl_result_error(results[0]))
    throw Failure(what + ": " + rd_kafka_error_string(error));
}

void remove(rd_kafka_t* client, rd_kafka_AclBinding_t* filter, const std::string& what) {
  const Queue queue(rd_kafka_queue_new(client));
  rd_kafka_DeleteAcls(client, &filter, 1, nullptr, queue.get());
  const auto event = answer(queue.get(), what);
  std::size_t count = 0;
  const auto* responses =
      rd_kafka_DeleteAcls_result_responses(rd_kafka_event_DeleteAcls_result(event.get()), &count);
  if (const auto* error = rd_kafka_DeleteAcls_result_response_error(responses[0]))
    throw Failure(what + ": " + rd_kafka_error_string(error));
}

/// How many of these rights the broker that is asked acts by.
std::size_t in_force(rd_kafka_t* client, rd_kafka_AclBinding_t* filter, const std::string& what) {
  const Queue queue(rd_kafka_queue_new(client));
  rd_kafka_DescribeAcls(client, filter, nullptr, queue.get());
  const auto event = answer(queue.get(), what);
  std::size_t count = 0;
  rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(event.get()), &count);
  return count;
}

/// The controller answers for a right before brokers act by it.
void await(rd_kafka_t* client, rd_kafka_AclBinding_t* filter, std::size_t count, const std::string& what) {
  if (!eventually([&] { return in_force(client, filter, what) == count; }))
    throw Failure(what + ": the broker has not applied it in time");
}

Binding filter_of(const Access& access, const std::string& right) {
  std::array<char, 512> error{};
  Binding filter(rd_kafka_AclBindingFilter_new(
      resource_of(access.type), access.name.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL,
      ("User:" + access.user).c_str(), nullptr, operation_of(right), RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW,
      error.data(), error.size()));
  if (!filter) throw Failure(error.data());
  return filter;
}

}  // namespace

void grant(const std::string& bootstrap, const Access& access) {
  const auto client = connect(bootstrap);
  std::array<char, 512> error{};
  for (const auto& right : access.rights) {
    const Binding binding(rd_kafka_AclBinding_new(
        resource_of(access.type), access.name.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL,
        ("User:" + access.user).c_str(), "*", operation_of(right), RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW,
        error.data(), error.size()));
    if (!binding) throw Failure(error.data());
    const auto what = "grant " + right + " on " + access.type + " " + access.name;
    create(client.get(), binding.get(), what);
    await(client.get(), filter_of(access, right).get(), 1, what);
  }
}

void revoke(const std::string& bootstrap, const Access& access) {
  const auto client = connect(bootstrap);
  for (const auto& right : access.rights) {
    const auto filter = filter_of(access, right);
    const auto what = "revoke " + right + " on " + access.type + " " + access.name;
    remove(client.get(), filter.get(), what);
    await(client.get(), filter.get(), 0, what);
  }
}

}  // namespace kafka_tool
