// The transaction of a producer: the records written in it, and the offsets of the records that they were
// made from, become visible together or not at all (KIP-98; offsets are fenced by group generation as in
// KIP-447).
//
//   opening ──► open ──► sealing ──► sealed ──► committing ──► opening          one at a time, the next
//      ▲          ▲                    │ reopen()    │ failed: sealed, with      begins when one has ended
//      │          └────────────────────┘             ▼ failure()
//      └──────────── aborting ◄── abort() in open, sealing, sealed          broken: nothing goes on
//      a new client
//
// Writers call enter() before they send records that belong together, and leave() when all of these records
// have been answered. seal() admits no more writers; the state is sealed when all writers have left. The
// finished work at that moment and the content of the transaction are then the same, and commit() is given
// exactly the offsets of this work. A record that was not written makes the transaction fail: then it can
// only be aborted, and everything since the last commit must be done again. The next transaction begins after
// a pause that doubles with each abort in a row (from 100 ms to 5 s), because brokers that refuse a record
// will refuse it again.
//
// A request that was not answered may reach the brokers later. They cannot distinguish it from a request of
// the next transaction, unless that transaction has a higher epoch (librdkafka does not implement KIP-890).
// The next transaction therefore begins with a new client, which gets a higher epoch, after each abort, and
// after a commit during which any request went unanswered. Opening the new client's transactions also aborts
// the transaction that was open.
//
// Ownership: made and owned by a Producer. Threads: any. Transaction has a thread of its own for the client's
// calls, which block: each up to 3 s, and the call that sends offsets up to the client's socket.timeout.ms.
// The commit call is repeated until it is answered: while its outcome is unknown, the records may neither be
// processed again nor be given up. An unpatched librdkafka has no deadline for the call that sends offsets:
// while the group's coordinator cannot be reached, this call does not return, and neither does end().
// break_off_hanging() detects this; the process must then be ended without waiting for the thread. Nothing
// else blocks. `on_change` of watch() is called on any thread, under a lock, and must only signal. Errors:
// failure() for this transaction, broken() for a permanent failure.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "kafka/group/commit_parts.h"
#include "kafka/group/consumer.h"
#include "kafka/produce/renewals.h"
#include "kafka/produce/request_watch.h"
#include "kafka/types.h"

namespace laneway::kafka {

class Transaction {
 public:
  enum class State : std::uint8_t { opening, open, sealing, sealed, committing, aborting, broken };

  /// `handle`: of a transactional producer; another thread reads its answers, and `requests` watches its
  /// requests. `on_open`: writers may enter again. `renew`: the client must be replaced, with the reason;
  /// renewed() follows. `longest_call`: a call of the client that lasts longer counts as hanging.
  Transaction(rd_kafka_s* handle, const RequestWatch& requests, std::function<void()> on_open,
              std::function<void(Renewal)> renew, Duration longest_call);
  /// Calls end().
  ~Transaction();
  /// Ends the thread. An open transaction is aborted if that is quick. The state stays readable.
  void end() EXCLUDES(mutex_);

  // Writers
  /// Returns false if no writer may enter now; on_open follows.
  bool enter() EXCLUDES(mutex_);
  void leave() EXCLUDES(mutex_);
  /// A record was not written, or its outcome is unknown: this transaction must not be committed.
  /// `avoidable`: the cause will not recur in the next transaction, which then begins without a pause.
  void fail(const std::string& why, bool avoidable = false) EXCLUDES(mutex_);

  /// Gives the new client, which replaces a client that is gone. Only after `renew`.
  void renewed(rd_kafka_s* handle) EXCLUDES(mutex_);
  /// The client has failed permanently: nothing continues. Further calls change nothing.
  void break_off(const std::string& why) EXCLUDES(mutex_);
  /// Calls break_off() if a call of the client hangs. Must be called regularly.
  void break_off_hanging() EXCLUDES(mutex_);

  // For the caller that commits
  void watch(std::function<void()> on_change) EXCLUDES(mutex_);
  State state() const EXCLUDES(mutex_);
  /// Why this transaction must be aborted.
  std::optional<std::string> failure() const EXCLUDES(mutex_);
  /// Why the transactions have ended permanently, for example because another producer with the same
  /// transactional.id has replaced this one.
  std::optional<std::string> broken() const EXCLUDES(mutex_);
  /// In state open: admits no more writers.
  void seal() EXCLUDES(mutex_);
  /// In state sealed: continues the same transaction.
  void reopen() EXCLUDES(mutex_);
  /// In state sealed: ends the transaction with these offsets, at least one; each part is sent in a request
  /// of its own (commit_parts.h). result() follows.
  void commit(CommitParts parts, GroupMember member) EXCLUDES(mutex_);
  /// The outcome of a commit, returned once. Either all offsets are committed or none.
  std::optional<CommitResult> result() EXCLUDES(mutex_);
  /// Gives up the records written since the last commit. Writers that are inside must stop by themselves. Not
  /// allowed in state committing.
  void abort() EXCLUDES(mutex_);

 private:
  struct Trouble {
    bool fatal = false;
    int code = 0;  ///< of the client
    std::string text;
  };
  enum class Job : std::uint8_t { flush, commit, abort, stop };

  void run() EXCLUDES(mutex_);
  bool open_client() EXCLUDES(mutex_);
  bool renew_client(Renewal why) EXCLUDES(mutex_);
  Job next_job() EXCLUDES(mutex_);
  void do_commit() EXCLUDES(mutex_);
  static CommitResult result_of(const CommitParts& parts, const std::optional<Trouble>& trouble);
  std::optional<Trouble> send_offsets(const CommitParts& parts, const GroupMember& member) EXCLUDES(mutex_);
  std::optional<Trouble> finish_commit() EXCLUDES(mutex_);
  void do_abort() EXCLUDES(mutex_);
  void back_off() EXCLUDES(mutex_);
  void abort_at_end() EXCLUDES(mutex_);
  void begin() EXCLUDES(mutex_);
  template <class Call>
  std::optional<Trouble> insist(const char* what, Call call, bool give_up_unanswered = false)
      EXCLUDES(mutex_);
  bool stopping() const EXCLUDES(mutex_);
  void note_call(const char* what) EXCLUDES(mutex_);
  void changed() REQUIRES(mutex_);

  rd_kafka_s* handle_;  // used only by the thread; null while the client is being replaced
  int aborts_ = 0;      // since the last commit; used only by the thread
  const RequestWatch& requests_;
  const std::function<void()> on_open_;
  const std::function<void(Renewal)> renew_;
  const Duration longest_call_;
  mutable Mutex mutex_;
  Condition work_;
  State state_ GUARDED_BY(mutex_) = State::opening;
  std::uint32_t inside_ GUARDED_BY(mutex_) = 0;  // writers
  bool written_ GUARDED_BY(mutex_) = false;      // a writer was inside since the transaction began
  bool flushed_ GUARDED_BY(mutex_) = false;      // since seal()
  bool stop_ GUARDED_BY(mutex_) = false;
  rd_kafka_s* next_handle_ GUARDED_BY(mutex_) = nullptr;
  const char* call_ GUARDED_BY(mutex_) = nullptr;  // the client's call that is under way
  TimePoint call_begun_ GUARDED_BY(mutex_);
  std::string failure_ GUARDED_BY(mutex_);
  bool avoidable_ GUARDED_BY(mutex_) = false;  // the failure
  std::string broken_ GUARDED_BY(mutex_);
  CommitParts parts_ GUARDED_BY(mutex_);
  GroupMember member_ GUARDED_BY(mutex_);
  std::optional<CommitResult> result_ GUARDED_BY(mutex_);
  std::function<void()> on_change_ GUARDED_BY(mutex_);
  std::thread thread_;  // last, because it uses all of the above
};

}  // namespace laneway::kafka
