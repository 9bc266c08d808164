#include "handler/exec/exec_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/poll.h"
#include "base/shortage.h"
#include "config/handlers/exec_command.h"

extern "C" {  // which glibc 2.36 leaves out
#include <sys/pidfd.h>
}

namespace laneway::handler {
namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

Error cannot_start(const std::string& program, int error) {
  if (const auto lacks = shortage_of(error))
    return {ErrorKind::exhausted, "cannot start the program: " + program + ": " + *lacks, ""};
  return {ErrorKind::unavailable, "cannot start the program: " + program + ": " + reason_of(error), ""};
}

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

/// Away from 0, 1 and 2, which the child's ends are copied to.
int above_standard(int fd) {
  if (fd > 2) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
  ::close(fd);
  return moved;
}

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  Pipe pipe{Descriptor(above_standard(ends[0])), Descriptor(above_standard(ends[1]))};
  if (pipe.reading.number() < 0 || pipe.writing.number() < 0) return {};
  return pipe;
}

void do_not_block(const Descriptor& end) { ::fcntl(end.number(), F_SETFL, O_NONBLOCK); }

/// The signals, descriptors and process group of the child.
class SpawnSettings {
 public:
  SpawnSettings(const Pipe& input, const Pipe& output, const Pipe& errors) {
    if (posix_spawn_file_actions_init(&actions_) != 0) throw std::bad_alloc();
    if (posix_spawnattr_init(&attributes_) != 0) throw std::bad_alloc();
    posix_spawn_file_actions_adddup2(&actions_, input.reading.number(), 0);
    posix_spawn_file_actions_adddup2(&actions_, output.writing.number(), 1);
    posix_spawn_file_actions_adddup2(&actions_, errors.writing.number(), 2);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// The environment without laneway's own variables, which may be secret.
std::vector<char*> child_environment() {
  std::vector<char*> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool own =
        text.starts_with("LANEWAY_") || text.starts_with("NOTIFY_SOCKET=") || text.starts_with("WATCHDOG_");
    if (!own) out.push_back(*entry);
  }
  out.push_back(nullptr);
  return out;
}

/// Gives the program the limit on open files that laneway was started with: programs that use select(2), or
/// that close every number up to the limit, rely on that limit. posix_spawn cannot set limits, so the program
/// has started already; it has no record yet.
void give_limits(pid_t pid) {
  const auto soft = inherited_open_files_limit();
  rlimit limit{};
  if (!soft || ::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0) return;
  limit.rlim_cur = *soft;
  ::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr);
}

std::string text_of(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return "ended with exit status " + std::to_string(info.si_status);
  const char* name = sigabbrev_np(info.si_status);
  return "was killed by " +
         (name == nullptr ? "signal " + std::to_string(info.si_status) : std::string("SIG") + name);
}

}  // namespace

Result<std::unique_ptr<ExecProcess>> ExecProcess::start(const std::vector<std::string>& command) {
  auto input = make_pipe();
  auto output = input ? make_pipe() : std::nullopt;
  auto errors = output ? make_pipe() : std::nullopt;
  if (!errors) return cannot_start(command.front(), errno);
  const SpawnSettings settings(*input, *output, *errors);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  auto environment = child_environment();
  std::unique_ptr<ExecProcess> process(new ExecProcess);
  const int error = ::posix_spawn(&process->pid_, arguments.front(), settings.actions(),
                                  settings.attributes(), arguments.data(), environment.data());
  if (error != 0) {
    process->pid_ = 0;
    return cannot_start(command.front(), error);
  }
  process->exit_event_ = Descriptor(::pidfd_open(process->pid_, 0));
  if (process->exit_event_.number() < 0) return cannot_start(command.front(), errno);
  for (const Descriptor* end : {&input->writing, &output->reading, &errors->reading}) do_not_block(*end);
  give_limits(process->pid_);
  process->input_ = std::move(input->writing);
  process->output_ = std::move(output->reading);
  process->errors_ = std::move(errors->reading);
  return process;
}

ExecProcess::~ExecProcess() {
  MutexLock lock(mutex_);
  if (pid_ == 0 || look()) return;
  ::kill(-pid_, SIGKILL);
  poll_until(exit_event_.number(), POLLIN,
             Deadline::in(seconds(1)));  // longer only where the kernel cannot end it
  look();
}

/// True if the process has ended; it is then reaped, and its group is killed.
bool ExecProcess::look() {
  if (how_it_ended_) return true;
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  const int result = ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT);
  if (result == 0 && info.si_pid == 0) return false;
  ::kill(-pid_, SIGKILL);
  // Another part of the process may reap children: a program that ignores SIGCHLD.
  how_it_ended_ = result != 0 || ::waitid(P_PID, id, &info, WEXITED) != 0 ? "ended" : text_of(info);
  return true;
}

bool ExecProcess::ended() {
  MutexLock lock(mutex_);
  return look();
}

std::optional<std::string> ExecProcess::how_it_ended() {
  MutexLock lock(mutex_);
  look();
  return how_it_ended_;
}

void ExecProcess::end(Duration patience) {
  MutexLock lock(mutex_);
  if (phase_ != Phase::runs) return;
  phase_ = Phase::patient;
  next_ = SteadyClock::now() + patience;
}

std::optional<TimePoint> ExecProcess::go_on_ending() {
  MutexLock lock(mutex_);
  if (phase_ == Phase::runs || look()) return {};
  if (SteadyClock::now() < next_) return next_;
  if (phase_ == Phase::killed) return {};
  const bool terminated = phase_ == Phase::terminated;
  ::kill(-pid_, terminated ? SIGKILL : SIGTERM);
  phase_ = terminated ? Phase::killed : Phase::terminated;
  next_ = SteadyClock::now() + kill_grace;
  return next_;
}

Status check_program(const std::string& path) {
  if (const auto problem = config::why_not_executable(path))
    return Error{ErrorKind::configuration, "handler.exec.command: " + problem->what, problem->hint};
  return {};
}

}  // namespace laneway::handler
