// Gives the same record again and again to `--children` children, one at a time each, over pipes as the exec
// handler does, and counts their answers: what the children themselves can do. Without a Kafka. Prints one
// JSON line.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "process.h"

namespace {

using Clock = std::chrono::steady_clock;

/// As the exec handler writes a record of 200 bytes.
std::string line_of_a_record() {
  const nlohmann::ordered_json line{{"id", 123456},
                                    {"topic", "http"},
                                    {"partition", 3},
                                    {"offset", 123456},
                                    {"timestamp", 1767323045678},
                                    {"key", "key-1234"},
                                    {"value", std::string(200, 'x')},
                                    {"headers", nlohmann::json::array()},
                                    {"attempt", 1},
                                    {"delivery_id", "MkU3OEVBNTcwNTJENDM2Qg/http/3/123456"}};
  return line.dump() + "\n";
}

class Child {
 public:
  explicit Child(std::vector<std::string> command) {
    std::array<int, 2> in{}, out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (auto& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    const int error = ::posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::system_error(error, std::generic_category(), command[0]);
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::close(to_);
    ::close(from_);
    ::waitpid(process_, nullptr, 0);
  }

  void ask(const std::string& line) const {
    if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throw std::runtime_error("the child takes no line");
    std::array<char, 4096> answer;
    for (;;) {
      const auto count = ::read(from_, answer.data(), answer.size());
      if (count <= 0) throw std::runtime_error("the child has ended");
      if (answer[static_cast<std::size_t>(count) - 1] == '\n') return;
    }
  }

 private:
  pid_t process_ = 0;
  int to_ = -1, from_ = -1;
};

nlohmann::ordered_json measure(const std::vector<std::string>& command, std::size_t children,
                               std::chrono::duration<double> time) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> answers{0};
  std::vector<std::thread> asking;
  for (std::size_t i = 0; i < children; ++i)
    asking.emplace_back([&] {
      const Child child(command);
      const std::string line = line_of_a_record();
      for (; !stop.load(std::memory_order_relaxed); answers.fetch_add(1, std::memory_order_relaxed))
        child.ask(line);
    });
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the children are there
  const auto begin = Clock::now();
  const auto before = answers.load();
  const double cpu = bench::cpu_seconds();
  std::this_thread::sleep_for(time);
  const auto done = static_cast<double>(answers.load() - before);
  const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
  const double used = bench::cpu_seconds() - cpu;
  stop.store(true);
  for (auto& thread : asking) thread.join();
  return {{"rate", done / wall}, {"cpu_us", used * 1e6 / done}, {"peak_mib", bench::peak_resident_mib()}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Children answering over pipes");
  std::vector<std::string> command;
  std::size_t children = 8;
  double seconds = 10;
  app.add_option("--children", children);
  app.add_option("--seconds", seconds);
  app.add_option("command", command)->required();
  try {
    CLI11_PARSE(app, argc, argv);
    std::cout << measure(command, children, std::chrono::duration<double>(seconds)) << std::endl;
  } catch (const std::exception& failure) {
    std::cerr << "pipe_ping_pong: " << failure.what() << '\n';
    return 69;
  }
}
