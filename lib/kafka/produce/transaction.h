// The transaction of a producer: what is written in it and the offsets of what that was made of become
// visible together, or not at all (KIP-98; offsets are fenced by group generation as in KIP-447).
//
//   opening ──► open ──► sealing ──► sealed ──► committing ──► opening          one at a time, the next
//      ▲          ▲                    │ reopen()    │ failed: sealed, with      begins when one has ended
//      │          └────────────────────┘             ▼ failure()
//      └──────────── aborting ◄── abort() in open, sealing, sealed          broken: nothing goes on
//      a new client
//
// Writers ask enter() before they send records that belong together, and say leave() when every one of them
// has been answered. seal() lets no more in; sealed is reached when all have left. So what is complete at
// that moment and what the transaction holds are the same, and commit() is given the offsets of just that.
// A record that was not written makes the transaction fail: then only abort() is left, and whatever was done
// since the last commit must be done again. The next one begins after a pause that doubles with each abort in
// a row (from 100 ms to 5 s): brokers that refuse a record will refuse it again.
//
// A request that was not answered may reach the brokers later. They cannot tell it from one of the next
// transaction, unless that has a higher epoch (librdkafka has no KIP-890). So the next one begins with a new
// client, which gets a higher epoch, after each abort, and after a commit where any request went unanswered
// on the way. Opening the new client's transactions is what aborts the one that was open.
//
// Ownership: made and owned by a Producer. Threads: any; it has a thread of its own for the client's calls,
// which block (each up to 3 s, the one that sends offsets up to the client's socket.timeout.ms; a commit
// again until it is answered: one whose outcome is unknown is neither done again nor given up). An unpatched
// librdkafka has no deadline for the call that sends offsets: while the group's coordinator cannot be reached
// it does not return, and neither does end(). break_off_hanging() notices that: what is left then is to end
// the process without waiting for the thread. Nothing else blocks.
// `on_change` of watch() is called on any thread, under a lock, and must only signal. Errors: failure() for
// this transaction, broken() for good.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "kafka/group/consumer.h"
#include "kafka/produce/renewals.h"
#include "kafka/produce/request_watch.h"
#include "kafka/types.h"

namespace laneway::kafka {

class Transaction {
 public:
  enum class State : std::uint8_t { opening, open, sealing, sealed, committing, aborting, broken };

  /// `handle` is that of a transactional producer, whose answers another thread reads, and whose requests
  /// `requests` watches. `on_open`: writers may enter again. `renew`: the client is to be replaced, and why;
  /// renewed() follows. `longest_call`: a call of the client that lasts longer hangs.
  Transaction(rd_kafka_s* handle, const RequestWatch& requests, std::function<void()> on_open,
              std::function<void(Renewal)> renew, Duration longest_call);
  /// As end().
  ~Transaction();
  /// Ends the thread; an open transaction is aborted if that is soon done. The state stays readable.
  void end() EXCLUDES(mutex_);

  // Writers
  /// False: not now; on_open follows.
  bool enter() EXCLUDES(mutex_);
  void leave() EXCLUDES(mutex_);
  /// A record was not written, or nobody knows: this transaction must not be committed. `avoidable`: what
  /// failed it will not be in the next one, which then begins without a pause.
  void fail(const std::string& why, bool avoidable = false) EXCLUDES(mutex_);

  /// The client in place of the one before, which is gone. After `renew` only.
  void renewed(rd_kafka_s* handle) EXCLUDES(mutex_);
  /// The client has failed for good: nothing goes on. Called again it changes nothing.
  void break_off(const std::string& why) EXCLUDES(mutex_);
  /// The same, if a call of the client hangs. To be asked now and then.
  void break_off_hanging() EXCLUDES(mutex_);

  // The one who commits
  void watch(std::function<void()> on_change) EXCLUDES(mutex_);
  State state() const EXCLUDES(mutex_);
  /// Why this transaction must be aborted.
  std::optional<std::string> failure() const EXCLUDES(mutex_);
  /// Why nothing can go on, as with a producer that another one with the same transactional.id replaced.
  std::optional<std::string> broken() const EXCLUDES(mutex_);
  /// In open: lets no more writers in.
  void seal() EXCLUDES(mutex_);
  /// In sealed: goes on with the same transaction.
  void reopen() EXCLUDES(mutex_);
  /// In sealed: ends the transaction with these offsets, at least one. result() follows.
  void commit(std::vector<CommittedOffset> offsets, GroupMember member) EXCLUDES(mutex_);
  /// The outcome of a commit, once. The offsets are committed all or none.
  std::optional<CommitResult> result() EXCLUDES(mutex_);
  /// Gives up what was written since the last commit. Writers that are inside must stop by themselves. While
  /// committing: not allowed.
  void abort() EXCLUDES(mutex_);

 private:
  struct Trouble {
    bool fatal = false;
    bool metadata_too_long = false;
    std::string text;
  };
  enum class Job : std::uint8_t { flush, commit, abort, stop };

  void run() EXCLUDES(mutex_);
  bool open_client() EXCLUDES(mutex_);
  bool renew_client(Renewal why) EXCLUDES(mutex_);
  Job next_job() EXCLUDES(mutex_);
  void do_commit() EXCLUDES(mutex_);
  std::optional<Trouble> send_offsets(const std::vector<CommittedOffset>& offsets, const GroupMember& member)
      EXCLUDES(mutex_);
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

  rd_kafka_s* handle_;  // the thread's own; null while the client is replaced
  int aborts_ = 0;      // since the last commit; the thread's own
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
  const char* call_ GUARDED_BY(mutex_) = nullptr;  // of the client, under way
  TimePoint call_begun_ GUARDED_BY(mutex_);
  std::string failure_ GUARDED_BY(mutex_);
  bool avoidable_ GUARDED_BY(mutex_) = false;  // the failure
  std::string broken_ GUARDED_BY(mutex_);
  std::vector<CommittedOffset> offsets_ GUARDED_BY(mutex_);
  GroupMember member_ GUARDED_BY(mutex_);
  std::optional<CommitResult> result_ GUARDED_BY(mutex_);
  std::function<void()> on_change_ GUARDED_BY(mutex_);
  std::thread thread_;  // the last: it uses all of the above
};

}  // namespace laneway::kafka
