// laneway as a library: your own program consumes Kafka topics and processes the records itself.
//
//   #include <laneway/laneway.hpp>
//
//   int main() {
//     laneway::Options options;
//     options.file = "orders.yaml";
//     laneway::Service service(options, [](const laneway::Record& record) {
//       …
//       return laneway::Answer::done();
//     });
//     return service.run();
//   }
//
// The configuration is the same as for the laneway program, without `handler`. Everything else works as in
// the laneway program: lanes, commits, retries, drains, the log on standard error, metrics, and exit codes.
#pragma once

#include <laneway/plugin.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace laneway {

struct Options {
  /// The configuration: a YAML file, or its text if `text` is not empty.
  std::string file;
  std::string text;
  /// Single keys that override the configuration, as with --set: "lanes.workers=16". LANEWAY_… variables
  /// override the file, and these keys override the variables.
  std::vector<std::string> sets;
  /// The time after which the stop of an attempt is requested (Record::stop_requested).
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  /// If true, SIGTERM and SIGINT drain the service and end run(). If false, only stop() ends the service.
  bool signals = true;
};

/// The work for each record. Several threads call it at once, and it may block. An exception becomes a retry
/// with the exception's text as the reason.
using Work = std::function<Answer(const Record&)>;

class Service {
 public:
  /// With Options::signals, the constructor blocks SIGTERM, SIGINT, SIGHUP and SIGUSR1: construct the Service
  /// before the program starts other threads, because threads inherit the blocked signals. The constructor
  /// also makes the process ignore SIGPIPE.
  Service(Options options, Work work);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Runs the service; call once. Returns when the service has ended: 0 if all work is drained, 75 if work
  /// was abandoned at the drain deadline or could not be committed, 64 (an error in `sets`), 66 (no such
  /// file), or 69, 70 or 78 if the service could not start or continue; the reason is on standard error. If
  /// the work still hangs 5 s after lanes.drain has passed since a stop, the process exits here.
  int run();

  /// Drains the service; then run() returns. May be called from any thread, before run(), and from the work
  /// itself. A second call, at least half a second later, cuts the drain short.
  void stop();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway
