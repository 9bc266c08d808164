// Clocks that stand still while the process does.
#include "base/running_time.h"

#include <thread>
#include <utility>
#include <vector>

#include "base/time.h"
#include "catch.h"

using namespace laneway;

namespace {

/// A machine's clock that the test moves.
struct Machine {
  RunningTime time;
  Duration at = seconds(1000);

  Duration read() {
    return time.read([this] { return at; });
  }
  /// Somebody reads all the while.
  void run(Duration length) {
    for (const auto end = at + length; at < end; at += milliseconds(100)) read();
  }
  void watch() {
    time.begin_watch([this] { return at; });
  }
};

}  // namespace

TEST_CASE("while the process runs, time passes as on the machine") {
  Machine machine;
  machine.watch();
  const auto begun = machine.read();
  machine.run(seconds(60));
  CHECK(machine.read() - begun == seconds(60));
  CHECK(machine.time.stood_still() == Duration::zero());
  CHECK(machine.time.on_machine(begun) == begun);
}

TEST_CASE("a standstill takes no time, and the first reading after it reports the standstill") {
  Machine machine;
  machine.watch();
  machine.run(seconds(10));
  const auto before = machine.read();
  machine.at += seconds(3600);
  const auto after = machine.read();
  CHECK(after >= before);
  CHECK(after <= before + milliseconds(100));
  CHECK(machine.time.stood_still() >= seconds(3600) - milliseconds(100));
  CHECK(machine.time.stood_still() <= seconds(3600));
  machine.run(seconds(10));
  CHECK(machine.read() <= before + seconds(10) + milliseconds(100));
  CHECK(machine.read() >= before + seconds(10));
}

TEST_CASE("successive standstills add up, and each time converts back to the machine's time") {
  Machine machine;
  machine.watch();
  std::vector<std::pair<Duration, Duration>> seen;  // running time, machine's time
  for (int i = 0; i < 10; ++i) {
    machine.run(seconds(5));
    seen.emplace_back(machine.read(), machine.at);
    machine.at += seconds(100);
  }
  machine.read();
  CHECK(machine.time.stood_still() > seconds(990));
  for (const auto& [running, at] : seen) CHECK(machine.time.on_machine(running) == at);
  CHECK(machine.time.on_machine(machine.read()) == machine.at);
  for (int i = 0; i < 100; ++i) {  // more than are remembered
    machine.at += seconds(100);
    machine.read();
  }
  CHECK(machine.time.on_machine(machine.read()) == machine.at);
}

TEST_CASE("a short gap counts as time, and so does any gap without a watch") {
  Machine machine;
  const auto begun = machine.read();
  machine.at += seconds(3600);
  CHECK(machine.read() - begun == seconds(3600));
  machine.at += seconds(3600);
  machine.watch();
  CHECK(machine.read() - begun == seconds(7200));
  machine.at += RunningTime::shortest - milliseconds(1);
  CHECK(machine.read() - begun == seconds(7200) + RunningTime::shortest - milliseconds(1));
  machine.time.end_watch();
  const auto ended = machine.read();
  machine.at += seconds(3600);
  CHECK(machine.read() - ended == seconds(3600));
}

TEST_CASE("no thread sees time go back or jump ahead after a standstill") {
  RunningTime time;
  std::atomic<Duration> at{seconds(1000)};
  const auto machine = [&] { return at.load(); };
  time.begin_watch(machine);
  std::atomic<bool> ended{false};
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      auto last = time.read(machine);
      while (!ended) {
        const auto now = time.read(machine);
        if (now < last || now > last + seconds(100)) wrong = true;
        last = now;
      }
    });
  for (int i = 0; i < 200; ++i) {
    at = at.load() + seconds(3600);
    const auto begun = time.read(machine);
    for (int step = 0; step < 20; ++step) {
      at = at.load() + milliseconds(10);
      time.read(machine);
    }
    if (time.read(machine) - begun > milliseconds(300)) wrong = true;
  }
  ended = true;
  for (auto& thread : threads) thread.join();
  CHECK_FALSE(wrong);
}
