#include "kafka/group_access.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "kafka/handle.h"

namespace laneway::kafka {
namespace {

using OptionsPtr = std::unique_ptr<rd_kafka_AdminOptions_t, void (*)(rd_kafka_AdminOptions_t*)>;

/// While the answer is waited for, `given_up` is asked this often.
constexpr Duration look_interval = milliseconds(500);
/// A coordinator that is not ready; that of a cluster's first group makes a topic before.
constexpr Duration ask_again_after = milliseconds(100);

#if RD_KAFKA_VERSION >= 0x020300ff
void ask_for_rights(rd_kafka_AdminOptions_t* options) {
  const ErrorPtr refused(rd_kafka_AdminOptions_set_include_authorized_operations(options, 1));
}

/// Brokers that do not know the user's rights name none.
bool lacks_read(const rd_kafka_ConsumerGroupDescription_t* group) {
  std::size_t count = 0;
  const auto* rights = rd_kafka_ConsumerGroupDescription_authorized_operations(group, &count);
  return count > 0 && std::find(rights, rights + count, RD_KAFKA_ACL_OPERATION_READ) == rights + count;
}
#else
void ask_for_rights(rd_kafka_AdminOptions_t*) {}
bool lacks_read(const rd_kafka_ConsumerGroupDescription_t*) { return false; }
#endif

/// What the coordinator says about one question: no error where the user may join, or nobody answered.
rd_kafka_resp_err_t verdict(rd_kafka_event_t* answer) {
  const auto* result = answer == nullptr ? nullptr : rd_kafka_event_DescribeConsumerGroups_result(answer);
  if (result == nullptr) return RD_KAFKA_RESP_ERR_NO_ERROR;
  std::size_t count = 0;
  const auto* const* groups = rd_kafka_DescribeConsumerGroups_result_groups(result, &count);
  if (count != 1) return RD_KAFKA_RESP_ERR_NO_ERROR;
  const auto* error = rd_kafka_ConsumerGroupDescription_error(groups[0]);
  if (error != nullptr) return rd_kafka_error_code(error);
  return lacks_read(groups[0]) ? RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED : RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t ask(rd_kafka_t* handle, const std::string& group, Deadline deadline,
                        const std::function<bool()>& given_up) {
  const QueuePtr answers(rd_kafka_queue_new(handle));
  const OptionsPtr options(rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS),
                           rd_kafka_AdminOptions_destroy);
  rd_kafka_AdminOptions_set_request_timeout(options.get(), to_ms(deadline.left()), nullptr, 0);
  ask_for_rights(options.get());
  const char* asked = group.c_str();
  rd_kafka_DescribeConsumerGroups(handle, &asked, 1, options.get(), answers.get());
  EventPtr answer;
  while (!answer && !deadline.passed() && !given_up())
    answer.reset(rd_kafka_queue_poll(answers.get(), to_ms(std::min(deadline.left(), look_interval))));
  return verdict(answer.get());
}

}  // namespace

Status may_join(rd_kafka_t* handle, const std::string& group, Duration timeout,
                const std::function<bool()>& given_up) {
  const auto deadline = Deadline::in(timeout);
  auto code = ask(handle, group, deadline, given_up);
  while (passes(code) && deadline.left() > ask_again_after && !given_up()) {
    std::this_thread::sleep_for(ask_again_after);
    code = ask(handle, group, deadline, given_up);
  }
  if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) return group_denied(group);
  return {};
}

}  // namespace laneway::kafka
