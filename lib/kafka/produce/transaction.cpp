#include "kafka/produce/transaction.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

#include "kafka/client/handle.h"
#include "kafka/group/commit_result.h"
#include "telemetry/log.h"

namespace laneway::kafka {
namespace {

constexpr int slice_ms = 3000;
constexpr Duration pause_between = milliseconds(100);
constexpr Duration longest_pause = seconds(5);
constexpr int last_abort_ms = 1000;

}  // namespace

Transaction::Transaction(rd_kafka_s* handle, const RequestWatch& requests, std::function<void()> on_open,
                         std::function<void(Renewal)> renew, Duration longest_call)
    : handle_(handle),
      requests_(requests),
      on_open_(std::move(on_open)),
      renew_(std::move(renew)),
      longest_call_(longest_call),
      thread_([this] { run(); }) {}

Transaction::~Transaction() { end(); }

void Transaction::end() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Transaction::enter() {
  MutexLock lock(mutex_);
  if (state_ != State::open || !failure_.empty()) return false;
  ++inside_;
  written_ = true;
  return true;
}

void Transaction::leave() {
  MutexLock lock(mutex_);
  --inside_;
  if (inside_ > 0 || state_ != State::sealing) return;
  state_ = State::sealed;
  changed();
}

void Transaction::fail(const std::string& why, bool avoidable) {
  MutexLock lock(mutex_);
  // Before and after these states, no request of this transaction is on its way.
  if (state_ == State::opening || state_ == State::aborting || state_ == State::broken) return;
  if (!failure_.empty()) return;
  failure_ = why.empty() ? "unknown" : why;
  avoidable_ = avoidable;
  changed();
}

void Transaction::watch(std::function<void()> on_change) {
  MutexLock lock(mutex_);
  on_change_ = std::move(on_change);
}

void Transaction::changed() {
  if (on_change_) on_change_();
}

Transaction::State Transaction::state() const {
  MutexLock lock(mutex_);
  return state_;
}

std::optional<std::string> Transaction::failure() const {
  MutexLock lock(mutex_);
  if (failure_.empty()) return std::nullopt;
  return failure_;
}

std::optional<std::string> Transaction::broken() const {
  MutexLock lock(mutex_);
  if (state_ != State::broken) return std::nullopt;
  return broken_;
}

void Transaction::seal() {
  MutexLock lock(mutex_);
  if (state_ != State::open) return;
  state_ = inside_ == 0 ? State::sealed : State::sealing;
  flushed_ = false;
  work_.notify_all();
}

void Transaction::reopen() {
  {
    MutexLock lock(mutex_);
    if (state_ != State::sealed) return;
    state_ = State::open;
  }
  on_open_();
}

void Transaction::commit(CommitParts parts, GroupMember member) {
  MutexLock lock(mutex_);
  if (state_ != State::sealed) return;
  parts_ = std::move(parts);
  member_ = std::move(member);
  state_ = State::committing;
  work_.notify_all();
}

std::optional<CommitResult> Transaction::result() {
  MutexLock lock(mutex_);
  return std::exchange(result_, std::nullopt);
}

void Transaction::abort() {
  MutexLock lock(mutex_);
  failure_.clear();
  if (state_ != State::open && state_ != State::sealing && state_ != State::sealed) return;
  state_ = State::aborting;
  work_.notify_all();
}

bool Transaction::stopping() const {
  MutexLock lock(mutex_);
  return stop_;
}

/// Repeats a call until its answer is final. A stop leaves the call unanswered and returns its last error,
/// and so does `give_up_unanswered` once a request went unanswered.
template <class Call>
std::optional<Transaction::Trouble> Transaction::insist(const char* what, Call call,
                                                        bool give_up_unanswered) {
  for (;;) {
    note_call(what);
    const ErrorPtr error(call(slice_ms));
    note_call(nullptr);
    if (!error) return std::nullopt;
    const bool fatal = rd_kafka_error_is_fatal(error.get()) != 0;
    std::string text = std::string(what) + ": " + rd_kafka_error_string(error.get());
    if (fatal || rd_kafka_error_is_retriable(error.get()) == 0 || stopping() ||
        (give_up_unanswered && requests_.unanswered()))
      return Trouble{fatal, rd_kafka_error_code(error.get()), std::move(text)};
    telemetry::log_repeating(telemetry::Level::warn, what, "transaction waits for brokers",
                             {{"error", text}});
    MutexLock lock(mutex_);
    const auto until = SteadyClock::now() + pause_between;
    while (!stop_ && SteadyClock::now() < until) work_.wait_until(mutex_, until);
  }
}

void Transaction::break_off(const std::string& why) {
  {
    MutexLock lock(mutex_);
    state_ = State::broken;
    if (!broken_.empty()) return;
    broken_ = why.empty() ? "unknown" : why;
    changed();
  }
  telemetry::error("transactions ended", {{"error", why}});
}

/// `what`: null if the call has returned.
void Transaction::note_call(const char* what) {
  MutexLock lock(mutex_);
  call_ = what;
  call_begun_ = SteadyClock::now();
}

void Transaction::break_off_hanging() {
  std::string why;
  {
    MutexLock lock(mutex_);
    const auto lasts = SteadyClock::now() - call_begun_;
    if (call_ == nullptr || lasts <= longest_call_) return;
    why = std::string(call_) + ": the Kafka client has not returned from this call for " +
          std::to_string(duration_cast<seconds>(lasts).count()) + " s";
  }
  break_off(why);
}

void Transaction::renewed(rd_kafka_s* handle) {
  MutexLock lock(mutex_);
  next_handle_ = handle;
  work_.notify_all();
}

/// Returns false at a stop, or if the transactions are broken.
bool Transaction::renew_client(Renewal why) {
  handle_ = nullptr;
  renew_(why);
  {
    MutexLock lock(mutex_);
    while (next_handle_ == nullptr && !stop_) work_.wait(mutex_);
    handle_ = std::exchange(next_handle_, nullptr);
    if (handle_ == nullptr) return false;
  }
  return open_client();
}

/// Fences a predecessor with the same transactional.id, and aborts its open transaction.
bool Transaction::open_client() {
  const auto trouble =
      insist("opening transactions", [this](int ms) { return rd_kafka_init_transactions(handle_, ms); });
  if (trouble && !stopping()) break_off(trouble->text);
  return !trouble;
}

void Transaction::begin() {
  if (const ErrorPtr error(rd_kafka_begin_transaction(handle_)); error)
    return break_off(rd_kafka_error_string(error.get()));
  {
    MutexLock lock(mutex_);
    if (state_ == State::broken) return;
    state_ = State::open;
    failure_.clear();
    written_ = false;
    changed();
  }
  on_open_();
}

Transaction::Job Transaction::next_job() {
  MutexLock lock(mutex_);
  for (;;) {
    // Work that has begun ends first: a commit that is under way at a stop is completed if the brokers
    // answer.
    if (state_ == State::committing) return Job::commit;
    if (state_ == State::aborting) return Job::abort;
    if (stop_) return Job::stop;
    if (state_ == State::sealing && !flushed_) {
      flushed_ = true;
      return Job::flush;
    }
    work_.wait(mutex_);
  }
}

void Transaction::run() {
  if (!open_client()) return;
  begin();
  for (;;) {
    switch (next_job()) {
      case Job::flush:
        // lingering records are sent now; leave() reports when they are answered
        (void)rd_kafka_flush(handle_, slice_ms);
        break;
      case Job::commit:
        do_commit();
        break;
      case Job::abort:
        do_abort();
        break;
      case Job::stop:
        return abort_at_end();
    }
    if (stopping() && state() == State::committing) return;
    if (stopping() && state() == State::aborting) return;
  }
}

CommitResult Transaction::result_of(const CommitParts& parts, const std::optional<Trouble>& trouble) {
  CommitResult result;
  for (const auto& part : parts)
    for (const auto& offset : part) (trouble ? result.failed : result.committed).push_back(offset.partition);
  if (!trouble) return result;
  const auto code = static_cast<rd_kafka_resp_err_t>(trouble->code);
  result.error = trouble->text;
  result.metadata_too_long = code == RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE;
  result.perhaps_too_large = perhaps_too_large(code);
  return result;
}

void Transaction::do_commit() {
  CommitParts parts;
  GroupMember member;
  {
    MutexLock lock(mutex_);
    parts.swap(parts_);
    member.swap(member_);
  }
  auto trouble = send_offsets(parts, member);
  if (!trouble) trouble = finish_commit();
  if (trouble && trouble->fatal) break_off(trouble->text);
  {
    MutexLock lock(mutex_);
    result_ = result_of(parts, trouble);
    if (trouble && state_ != State::broken) {
      failure_ = trouble->text;
      state_ = State::sealed;
    } else if (state_ != State::broken) {
      state_ = State::opening;
    }
    changed();
  }
  if (trouble) return;
  aborts_ = 0;
  if (!requests_.unanswered() || renew_client(Renewal::unanswered)) begin();
}

std::optional<Transaction::Trouble> Transaction::send_offsets(const CommitParts& parts,
                                                              const GroupMember& member) {
  for (const auto& part : parts) {
    const ListPtr list = to_list(part);
    auto trouble = insist(
        "sending offsets",
        [&](int ms) { return rd_kafka_send_offsets_to_transaction(handle_, list.get(), member.get(), ms); },
        true);
    if (trouble) return trouble;
  }
  return std::nullopt;
}

std::optional<Transaction::Trouble> Transaction::finish_commit() {
  auto trouble = insist("committing", [this](int ms) { return rd_kafka_commit_transaction(handle_, ms); });
  // The records must not be processed again if they were committed. The next start asks what is committed.
  if (trouble && requests_.end_unanswered() && !stopping()) trouble->fatal = true;
  return trouble;
}

void Transaction::do_abort() {
  if (!renew_client(Renewal::aborted)) return;
  back_off();
  begin();
}

void Transaction::back_off() {
  MutexLock lock(mutex_);
  if (std::exchange(avoidable_, false)) return;
  const auto pause = std::min<Duration>(pause_between * (1 << std::min(aborts_, 10)), longest_pause);
  ++aborts_;
  const auto until = SteadyClock::now() + pause;
  while (!stop_ && SteadyClock::now() < until) work_.wait_until(mutex_, until);
}

/// Readers of committed records wait for an open transaction; aborting here saves them the time-out.
void Transaction::abort_at_end() {
  {
    MutexLock lock(mutex_);
    if (!written_ || state_ == State::broken || handle_ == nullptr) return;
  }
  const ErrorPtr ignored(rd_kafka_abort_transaction(handle_, last_abort_ms));
}

}  // namespace laneway::kafka
