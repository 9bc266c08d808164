// A C++17 interface on top of laneway/plugin.h: a plugin in a few lines. Every exception of the plugin
// becomes a retry with the exception's text as the reason.
//
//   #include <laneway/plugin.hpp>
//
//   laneway::Answer greet(const laneway::Record& record) {
//     if (!record.value()) return laneway::Answer::reject("a greeting needs a value");
//     …
//     return laneway::Answer::done();
//   }
//   LANEWAY_PLUGIN_FUNCTION("greet", "1.0", greet)
//
// A plugin with a configuration or a state is a class:
//   - derived from RecordPlugin: handles one record at a time, and may block;
//   - derived from BatchPlugin: takes several records at once, or answers later from another thread.
// laneway makes one object, with the constructor (Host, std::string_view config); LANEWAY_PLUGIN("name",
// "1.0", Class) names the class. If the constructor throws, laneway does not start and reports the
// exception's text. The destructor can write to the log. Threads and lifetimes are those of laneway/plugin.h.
#pragma once

#include <laneway/plugin.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace laneway {

/// The result of handling a record.
struct Answer {
  laneway_verdict verdict = LANEWAY_DONE;
  /// Human-readable: what went wrong. Cut at 1 KiB.
  std::string reason;
  /// The requested delay before the next attempt; laneway's back-off if nullopt.
  std::optional<std::chrono::milliseconds> after;

  static Answer done() { return {}; }
  static Answer retry(std::string reason, std::optional<std::chrono::milliseconds> after = {}) {
    return {LANEWAY_RETRY, std::move(reason), after};
  }
  static Answer reject(std::string reason) { return {LANEWAY_REJECT, std::move(reason), {}}; }
  static Answer unavailable(std::string reason, std::optional<std::chrono::milliseconds> after = {}) {
    return {LANEWAY_UNAVAILABLE, std::move(reason), after};
  }
};

/// The functions that laneway provides to the plugin. Copyable; valid until the plugin has been destroyed.
class Host {
 public:
  explicit Host(const laneway_host* host) : host_(host) {}

  void debug(const std::string& text) const { host_->log(host_, LANEWAY_LOG_DEBUG, text.c_str()); }
  void info(const std::string& text) const { host_->log(host_, LANEWAY_LOG_INFO, text.c_str()); }
  void warn(const std::string& text) const { host_->log(host_, LANEWAY_LOG_WARN, text.c_str()); }
  void error(const std::string& text) const { host_->log(host_, LANEWAY_LOG_ERROR, text.c_str()); }

  const laneway_host* get() const { return host_; }

 private:
  const laneway_host* host_;
};

/// The headers of a result: names and values; nullopt for null.
using ResultHeaders = std::vector<std::pair<std::string_view, std::optional<std::string_view>>>;

/// A view of a record, valid until the record is answered. Copyable.
class Record {
 public:
  Record(const laneway_host* host, const laneway_record* record) : host_(host), record_(record) {}

  std::string_view topic() const { return {record_->topic.data, record_->topic.size}; }
  std::int32_t partition() const { return record_->partition; }
  std::int64_t offset() const { return record_->offset; }
  /// Milliseconds since 1970 in UTC; -1 if the record has no timestamp.
  std::int64_t timestamp() const { return record_->timestamp; }
  /// The number of the attempt, from 1.
  std::uint32_t attempt() const { return record_->attempt; }
  /// An id that distinguishes the record from all others, and is the same whenever the record is handled
  /// again: cluster, topic, partition and offset of the place where the record was first written. Empty if
  /// laneway is too old to provide the id.
  std::string_view delivery_id() const {
    if (host_->struct_size < offsetof(laneway_host, delivery_id) + sizeof host_->delivery_id) return {};
    laneway_bytes id;
    host_->delivery_id(host_, record_, &id);
    return {id.data, id.size};
  }
  /// The id of the sub-job that the record is; empty if the record is whole.
  std::string_view part() const {
    if (host_->struct_size < offsetof(laneway_host, part) + sizeof host_->part) return {};
    laneway_bytes id;
    host_->part(host_, record_, &id);
    return {id.data, id.size};
  }
  /// The key, or the value; nullopt if null (a null value is a tombstone).
  std::optional<std::string_view> key() const { return view(record_->key); }
  std::optional<std::string_view> value() const { return view(record_->value); }

  std::size_t header_count() const { return host_->header_count(host_, record_); }
  std::string_view header_name(std::size_t index) const { return view(at(index).name).value_or(""); }
  std::optional<std::string_view> header_value(std::size_t index) const { return view(at(index).value); }
  /// The value of the last header with that name; nullopt if there is no such header, or its value is null.
  std::optional<std::string_view> header(std::string_view name) const {
    for (std::size_t index = header_count(); index > 0; --index)
      if (header_name(index - 1) == name) return header_value(index - 1);
    return std::nullopt;
  }

  /// Adds a result for the next pool (the key `then` of a pool), before the record is answered done. `id`
  /// names the sub-job if there are several results; if empty, the result's number. `key`: nullopt for the
  /// record's key. `headers` replace the record's headers of the same names. The texts are copied. Returns
  /// false if the result is invalid, and the record is then retried; also if laneway is too old to have pools
  /// one after the other. A record that is done without results goes to the next pool as it is.
  bool add_result(std::string_view id, std::optional<std::string_view> value,
                  std::optional<std::string_view> key = {}, const ResultHeaders& headers = {}) const {
    if (!takes_results()) return false;
    std::vector<laneway_header> all;
    for (const auto& [name, text] : headers) all.push_back({bytes(name), bytes(text)});
    const laneway_result result{sizeof(laneway_result),
                                static_cast<std::uint32_t>(all.size()),
                                bytes(id),
                                bytes(key),
                                bytes(value),
                                all.data()};
    return host_->add_result(host_, record_, &result) != 0;
  }
  /// The record, answered done, does not go to the next pool: nothing is left to do.
  bool no_results() const { return takes_results() && host_->add_result(host_, record_, nullptr) != 0; }

  /// Returns true if the attempt's time is over, or laneway stops: answer soon.
  bool stop_requested() const { return host_->stop_requested(host_, record_) != 0; }
  /// Sleeps for `time`, or until a stop is requested; returns true if a stop is requested.
  bool wait(std::chrono::milliseconds time) const { return host_->wait(host_, record_, time.count()) != 0; }

 private:
  bool takes_results() const {
    return host_->struct_size >= offsetof(laneway_host, add_result) + sizeof host_->add_result;
  }
  static laneway_bytes bytes(std::optional<std::string_view> text) {
    if (!text) return {nullptr, 0};
    return {text->data() == nullptr ? "" : text->data(), text->size()};
  }
  static std::optional<std::string_view> view(const laneway_bytes& bytes) {
    if (bytes.data == nullptr) return std::nullopt;
    return std::string_view(bytes.data, bytes.size);
  }
  laneway_header at(std::size_t index) const {
    laneway_header header;
    host_->header(host_, record_, index, &header);
    return header;
  }

  const laneway_host* host_;
  const laneway_record* record_;
};

namespace plugin_detail {

/// A call of BatchPlugin::submit. A batch that an exception destroys leaves its records to the call, because
/// the exception's text is known only where it is caught.
struct Submission {
  std::uint64_t task;
  bool dropped = false;
};

/// The call that runs on this thread; null if none does.
inline Submission*& running_submission() {
  thread_local Submission* running = nullptr;
  return running;
}

}  // namespace plugin_detail

/// Records to be answered, each once, by any thread. Records without an answer are retried when the batch is
/// destroyed.
class Batch {
 public:
  Batch(const laneway_host* host, const laneway_batch* batch)
      : host_(host),
        task_(batch->task),
        size_(batch->count),
        in_order_(batch->in_order != 0),
        records_(batch->records) {}
  Batch(Batch&& other) noexcept
      : host_(std::exchange(other.host_, nullptr)),
        task_(other.task_),
        size_(other.size_),
        in_order_(other.in_order_),
        records_(other.records_) {}
  Batch& operator=(Batch&&) = delete;
  ~Batch() {
    if (host_ == nullptr) return;
    const bool threw = std::uncaught_exceptions() > 0;
    if (auto* running = plugin_detail::running_submission(); threw && running && running->task == task_) {
      running->dropped = true;
      return;
    }
    host_->give_up(host_, task_,
                   threw ? "the plugin threw" : "the plugin dropped the record without an answer");
  }

  std::uint32_t size() const { return size_; }
  /// If true, handle the records one after the other; after a record that is not done, handle and answer none
  /// of the rest.
  bool in_order() const { return in_order_; }
  /// Returns a record, which is valid until it is answered.
  Record record(std::uint32_t index) const { return Record(host_, records_[index]); }

  /// Answers a record. Returns false if the record was answered before: the first answer holds.
  bool answer(std::uint32_t index, const Answer& answer) const {
    return host_->answer(host_, task_, index, answer.verdict, answer.after ? answer.after->count() : -1,
                         answer.reason.c_str()) != 0;
  }

 private:
  const laneway_host* host_;
  std::uint64_t task_;
  std::uint32_t size_;
  bool in_order_;
  const laneway_record* const* records_;
};

/// A plugin that handles one record at a time, and may block. Several threads call it at once.
class RecordPlugin {
 public:
  virtual ~RecordPlugin() = default;
  virtual Answer handle(const Record& record) = 0;
};

/// A plugin that takes several records at once, or answers later: keep the batch, return, and answer from any
/// thread. Several threads call it at once.
class BatchPlugin {
 public:
  virtual ~BatchPlugin() = default;
  /// The maximum number of records in one batch; called once.
  virtual std::uint32_t most_per_batch() const { return 1; }
  /// If this function throws, the records that are not answered yet are retried; their reason has the
  /// exception's text.
  virtual void submit(Batch batch) = 0;
};

// Converts the classes above to a table of C functions.
namespace plugin_detail {

inline void write_text(const char* text, char* buffer, std::size_t size) {
  if (size > 0) std::snprintf(buffer, size, "%s", text);
}

/// Calls `work`; the text of an exception is passed to `failed`.
template <class Work, class Failed>
void guarded(Work work, Failed failed) noexcept {
  try {
    work();
  } catch (const std::exception& error) {
    failed(error.what());
  } catch (...) {
    failed("something that is not a std::exception");
  }
}

inline laneway_verdict tell(const Answer& answer, laneway_failure* failure) {
  if (answer.verdict == LANEWAY_DONE) return LANEWAY_DONE;
  if (answer.after) failure->after_ms = answer.after->count();
  write_text(answer.reason.c_str(), failure->reason, failure->reason_size);
  return answer.verdict;
}

/// The function handle of a plugin's table: `work` takes a Record and returns an Answer.
template <class Work>
laneway_verdict handle(Work& work, const laneway_host* host, const laneway_record* record,
                       laneway_failure* failure) noexcept {
  laneway_verdict verdict = LANEWAY_RETRY;
  guarded([&] { verdict = tell(work(Record(host, record)), failure); },
          [&](const char* what) {
            write_text((std::string("the plugin threw: ") + what).c_str(), failure->reason,
                       failure->reason_size);
          });
  return verdict;
}

/// An object of the plugin's class, with the data that its functions need.
template <class Class>
struct Instance {
  Instance(const laneway_host* given, std::string_view config) : host(given), plugin(Host(given), config) {}

  static int32_t init(const laneway_host* host, const char* config, laneway_instance* instance, char* error,
                      std::size_t error_size) noexcept {
    int32_t result = 1;
    guarded(
        [&] {
          auto made = std::make_unique<Instance>(host, config);
          if constexpr (std::is_base_of_v<BatchPlugin, Class>)
            instance->most_per_batch = made->plugin.most_per_batch();
          instance->data = made.release();
          result = 0;
        },
        [&](const char* what) { write_text(what, error, error_size); });
    return result;
  }

  static laneway_verdict handle(void* data, const laneway_record* record, laneway_failure* failure) noexcept {
    auto& self = *static_cast<Instance*>(data);
    const auto work = [&self](const Record& view) { return self.plugin.handle(view); };
    return plugin_detail::handle(work, self.host, record, failure);
  }

  static void submit(void* data, const laneway_batch* batch) noexcept {
    auto& self = *static_cast<Instance*>(data);
    const auto* host = self.host;
    Submission submission{batch->task};
    auto* const outer = std::exchange(running_submission(), &submission);
    std::string reason = "the plugin threw";
    bool threw = false;
    guarded([&] { self.plugin.submit(Batch(host, batch)); },
            [&](const char* what) {
              threw = true;
              reason.append(": ").append(what);
              host->log(host, LANEWAY_LOG_ERROR, (std::string("submit threw: ") + what).c_str());
            });
    running_submission() = outer;
    if (threw || submission.dropped) host->give_up(host, submission.task, reason.c_str());
  }

  static int32_t shutdown(void* data, char*, std::size_t) noexcept {
    delete static_cast<Instance*>(data);
    return 0;
  }

  const laneway_host* host;
  Class plugin;
};

template <class Class>
laneway_plugin table(const char* name, const char* version) {
  constexpr bool blocking = std::is_base_of_v<RecordPlugin, Class>;
  static_assert(blocking != std::is_base_of_v<BatchPlugin, Class>,
                "a plugin's class derives from laneway::RecordPlugin or from laneway::BatchPlugin");
  laneway_plugin made{LANEWAY_PLUGIN_ABI,
                      sizeof(laneway_plugin),
                      name,
                      version,
                      Instance<Class>::init,
                      nullptr,
                      nullptr,
                      Instance<Class>::shutdown};
  if constexpr (blocking) {
    made.handle = Instance<Class>::handle;
  } else {
    made.submit = Instance<Class>::submit;
  }
  return made;
}

template <auto function>
class Function final : public RecordPlugin {
 public:
  Function(Host, std::string_view) {}
  Answer handle(const Record& record) override { return function(record); }
};

}  // namespace plugin_detail
}  // namespace laneway

/// Exports the class as the library's plugin. Use once in a library.
#define LANEWAY_PLUGIN(name, version, ...)                                                         \
  extern "C" LANEWAY_PLUGIN_EXPORT const laneway_plugin* laneway_plugin_table(uint32_t) {          \
    static const laneway_plugin table = laneway::plugin_detail::table<__VA_ARGS__>(name, version); \
    return &table;                                                                                 \
  }

/// Exports a function that takes a Record and returns an Answer. Use once in a library.
#define LANEWAY_PLUGIN_FUNCTION(name, version, function) \
  LANEWAY_PLUGIN(name, version, laneway::plugin_detail::Function<&function>)
