// laneway as a library: a program of your own that consumes Kafka topics and does the work itself.
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
// The configuration is that of the laneway program without `handler`. Everything else is the same as there:
// lanes, commits, retries, drains, log on standard error, metrics, exit codes.
#pragma once

#include <laneway/plugin.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace laneway {

struct Options {
  /// The configuration: a YAML file, or the text itself where `text` is not empty.
  std::string file;
  std::string text;
  /// Single keys over it, as after --set: "lanes.workers=16". LANEWAY_… variables come between the two.
  std::vector<std::string> sets;
  /// After this long the stop of an attempt is requested (Record::stop_requested).
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  /// SIGTERM and SIGINT drain and end run(). False: the program stops the service by stop().
  bool signals = true;
};

/// The work: called by several threads at once, may block. What it throws becomes a retry with its reason.
using Work = std::function<Answer(const Record&)>;

class Service {
 public:
  /// With Options::signals before the program starts threads: they inherit which signals are not theirs.
  /// SIGPIPE is ignored from now on.
  Service(Options options, Work work);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Once. Returns when the service has ended: 0 when all is drained, 75 with work abandoned at the drain
  /// deadline, 64 (sets), 66 (no such file), 69, 70 or 78 when it could not start or go on; the reason is on
  /// standard error. If the work hangs longer than lanes.drain and 5 s after a stop, the process ends here.
  int run();

  /// From any thread, also before run(), and from the work itself: drains, then run() returns. A second call,
  /// half a second later or more, cuts the drain short.
  void stop();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway
