// The exec handler with programs that fail.
#include <signal.h>

#include <atomic>

#include "captured_log.h"
#include "catch.h"
#include "handler/exec/exec.h"
#include "handler/exec/exec_handler.h"
#include "handler/registry.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

/// Runs the record's value.
const std::string do_as_told = "exec(record['value'])";
const std::string good = "answer(outcome='done')";

/// Fails at the first record, then the handler goes on.
Outcome failing(const std::string& what, Duration timeout = seconds(60)) {
  const Scripts scripts;
  const auto handler = made(scripts.python_loop(do_as_told, timeout));
  CHECK(outcome_of(*handler, record_data(1, good)).verdict == Verdict::done);
  auto outcome = outcome_of(*handler, record_data(2, what));
  CHECK(outcome_of(*handler, record_data(3, good)).verdict == Verdict::done);
  return outcome;
}

std::vector<kafka::RecordData> one_record(kafka::RecordData data) {
  std::vector<kafka::RecordData> out;
  out.push_back(std::move(data));
  return out;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a program that dies is a retry with the kind of its end and its last output") {
  const auto exited = failing("sys.stderr.write('first\\nno \\x1b[31mdatabase\\n\\n'); sys.exit(3)");
  CHECK(exited.verdict == Verdict::retry);
  CHECK(exited.cause == Cause::verdict);
  CHECK(exited.reason ==
        "the program ended with exit status 3 before it answered; the last line of its standard error: no "
        "\\x1b[31mdatabase");
  const auto killed = failing("os.kill(os.getpid(), signal.SIGKILL)");
  CHECK(killed.verdict == Verdict::retry);
  CHECK(killed.reason == "the program was killed by SIGKILL before it answered");
  const auto threw = failing("raise KeyError('amount')");
  CHECK(threw.verdict == Verdict::retry);
  CHECK(
      contains(threw.reason,
               "exit status 1 before it answered; the last line of its standard error: KeyError: 'amount'"));
  CHECK(failing("os.close(1); time.sleep(1000)").reason ==
        "the program closed its standard input or output before it answered");
}

TEST_CASE("a program's standard error is escaped and cut, and partly left out if there is much of it") {
  const CapturedLog log;
  const Scripts scripts;
  {
    const auto handler =
        made(scripts.python("sys.stderr.write('x' * 5000 + '\\n' + 'a\\x1b[31mb\\n' + 'again\\n' * "
                            "300)\nsys.stderr.flush()\nfor line in sys.stdin: answer(outcome='done')\n"));
    CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::done);
  }
  CHECK(log.lines({"exec standard error", "line=" + std::string(1024, 'x') + "..."}) == 1);
  CHECK(log.lines({std::string(1025, 'x')}) == 0);
  CHECK(log.lines({"exec standard error", "a\\x1b[31mb"}) == 1);
  CHECK(log.lines({"\x1b"}) == 0);
  // A hundred in all within the time that they are counted for; a loaded machine may need more than one.
  CHECK(log.lines({"line=again"}) >= 98);
  CHECK(log.lines({"line=again"}) < 300);
  CHECK(log.lines({"exec standard error, lines left out"}) >= 1);
}

TEST_CASE("an invalid answer is a retry") {
  const auto reason = [](const std::string& what) {
    const auto outcome = failing(what);
    CHECK(outcome.verdict == Verdict::retry);
    return outcome.reason;
  };
  CHECK(reason("write('ok\\n')") == "the program's answer is not JSON: ok");
  CHECK(reason("answer(outcome='perhaps')")
            .starts_with("the program's answer has an invalid outcome (expected done"));
  CHECK(reason("answer(outcome='done', id=record['id'] - 1)")
            .starts_with("the program's answer has the wrong id (expected 2)"));
  CHECK(reason("write('x' * 70000)").starts_with("the program's answer is longer than 65536 bytes: xxx"));
  CHECK(reason("write('{\"outcome\":\"done\"}\\n' * 2)") ==
        "the program wrote more than one answer: {\"outcome\":\"done\"}\\n");
}

TEST_CASE("an answer before the whole record has been read is a retry") {
  const Scripts scripts;
  const auto handler =
      made(scripts.python("answer(outcome='done') if sys.stdin.read(10) else 0\ntime.sleep(1000)\n"));
  const auto outcome = outcome_of(*handler, record_data(1, std::string(1 << 20, 'x')));
  CHECK(outcome.verdict == Verdict::retry);
  CHECK(outcome.reason ==
        "the program answered before it had read the whole record: {\"outcome\": \"done\"}");
}

TEST_CASE("a late second answer ends the program before the next record") {
  const Scripts scripts;
  const auto handler = made(scripts.python_loop(
      "answer(outcome='done' if record['value'] == 'twice' else 'reject', reason=str(os.getpid()))\nif "
      "record['value'] == 'twice':\n    while not os.path.exists(sys.argv[1] + '/go'): time.sleep(0.005)\n   "
      " answer(outcome='done')\n    open(sys.argv[1] + '/written', 'w')\n"));
  const auto first = outcome_of(*handler, record_data(1, "once")).reason;
  CHECK(outcome_of(*handler, record_data(2, "twice")).verdict == Verdict::done);
  scripts.write("go", "");
  REQUIRE(comes_true([&] { return std::filesystem::exists(scripts.path("written")); }));
  const auto next = outcome_of(*handler, record_data(3, "once"));
  CHECK(next.verdict == Verdict::reject);  // of another program: the done was not its
  CHECK(next.reason != first);
}

TEST_CASE("a program that ended while idle is replaced without cost for a record") {
  const Scripts scripts;
  const auto handler = made(scripts.python_loop(
      "answer(outcome='retry', reason=str(os.getpid()))\nif record['value'] == 'last': sys.exit(0)"));
  const auto first = outcome_of(*handler, record_data(1, "last")).reason;
  REQUIRE(comes_true([&] { return !is_running(std::stoi(first)); }));
  const auto second = outcome_of(*handler, record_data(2, "v"));
  CHECK(second.reason != first);
  CHECK(std::stoi(second.reason) > 0);
  CHECK(outcome_of(*handler, record_data(2, "v")).reason == second.reason);
}

TEST_CASE("a program that hangs is killed with its group, also if it ignores SIGTERM") {
  const Duration timeout = seconds(1);
  const Scripts scripts;
  const auto handler = made(
      scripts.python_loop("if record['value'] == 'hang':\n    signal.signal(signal.SIGTERM, "
                          "signal.SIG_IGN)\n    child = subprocess.Popen(['/bin/sh', '-c', 'trap \"\" TERM; "
                          "while :; do sleep 1; done'])\n    print(child.pid, file=open(sys.argv[1] + "
                          "'/pid', 'w'), flush=True)\n    time.sleep(1000)\nanswer(outcome='done')",
                          timeout));
  // On a busy machine a program may be killed before it has come so far.
  REQUIRE(comes_true([&] {
    const auto outcome = outcome_of(*handler, record_data(1, "hang"));
    CHECK(outcome.verdict == Verdict::retry);
    CHECK(outcome.cause == Cause::timeout);
    CHECK(outcome.reason.starts_with("the program did not answer in time and was killed"));
    return scripts.read("pid").ends_with('\n');
  }));
  const auto grandchild = std::stoi(scripts.read("pid"));
  CHECK(comes_true([&] { return !is_running(grandchild); }));
  CHECK(comes_true([] { return no_children(); }));
  CHECK(comes_true([&] { return outcome_of(*handler, record_data(2, "v")).verdict == Verdict::done; }));
  CHECK(handler->timeout() > timeout);
}

TEST_CASE("the reason of a hanging program advises to flush, unless the program has answered before") {
  const Scripts scripts;
  // On a busy machine a program may be killed before it has come to its answer, or has read the record.
  const auto check_reason = [&](const std::string& body, const auto& expected) {
    const auto handler = made(scripts.python_loop(body, seconds(1)));
    std::string reason;
    comes_true([&] {
      reason = outcome_of(*handler, record_data(1, "v")).reason;
      return expected.match(reason);
    });
    CHECK_THAT(reason, expected);
  };
  check_reason(
      "kept = open(1, 'w', closefd=False)\nkept.write(json.dumps({'outcome': 'done'}) + '\\n')\n"
      "time.sleep(1000)",
      Catch::Contains("it has never answered") && Catch::Contains("flush its standard output") &&
          Catch::Contains("flush=True"));
  check_reason("write('{\"outcome\":')\ntime.sleep(1000)",
               Catch::Contains("part of an answer, without the end of the line: {\"outcome\":"));
  const auto answers = made(scripts.python_loop(
      "if record['value'] == 'hang': time.sleep(1000)\nanswer(outcome='done')", seconds(1)));
  CHECK(comes_true([&] {
    if (outcome_of(*answers, record_data(1, "v")).verdict != Verdict::done) return false;
    return outcome_of(*answers, record_data(1, "hang")).reason ==
           "the program did not answer in time and was killed";
  }));
}

TEST_CASE("a stop ends a program that hangs, and the handler goes on") {
  const Scripts scripts;
  const auto handler =
      made(scripts.python_loop("if record['attempt'] == 1:\n    open(sys.argv[1] + '/reached', 'w')\n    "
                               "time.sleep(1000)\nanswer(outcome='done')",
                               std::chrono::hours(1)));
  Run run(one_record(record_data(1, "v")));
  std::thread worker([&] { handler->handle(run.task()); });
  CHECK(comes_true([&] { return std::filesystem::exists(scripts.path("reached")); }));
  run.stop();
  worker.join();
  REQUIRE(run.result().failures.size() == 1);
  CHECK(run.result().failures[0].outcome.verdict == Verdict::retry);
  CHECK(run.result().failures[0].outcome.cause == Cause::timeout);
  CHECK(comes_true([] { return no_children(); }));
  CHECK(outcome_of(*handler, record_data(1, "v"), 2).verdict == Verdict::done);
}

TEST_CASE("a program that never reads is stopped in the middle of a large record") {
  const Scripts scripts;
  const auto handler = made(scripts.python("time.sleep(1000)\n", milliseconds(300)));
  const auto outcome = outcome_of(*handler, record_data(1, std::string(1 << 20, 'x')));
  CHECK(outcome.cause == Cause::timeout);
}

TEST_CASE("a program that ends before it reads its first record is unavailable, and starts are backed off") {
  const Scripts scripts;
  const auto handler =
      made(scripts.python("open(sys.argv[1] + '/starts', 'a').write('x')\nimport no_such_module\n"));
  const auto first = outcome_of(*handler, record_data(1, "v"));
  CHECK(first.verdict == Verdict::unavailable);
  CHECK(first.reason ==
        "the program ended with exit status 1 before it answered, without reading the record; the last line "
        "of its standard error: ModuleNotFoundError: No module named 'no_such_module'");
  const auto begun = SteadyClock::now();
  for (int i = 0; i < 3; ++i)
    CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::unavailable);
  CHECK(SteadyClock::now() - begun >= milliseconds(100 + 200));
  CHECK(scripts.read("starts").size() == 4);
  // The next start is 0.4 s away. A busy machine may need longer to ask for it: then it is 0.8 s, and so on.
  CHECK(comes_true([&] {
    Run run(one_record(record_data(1, "v")));
    run.stop();
    handler->handle(run.task());
    const auto& stopped = run.result().failures.at(0).outcome;
    const bool waited =
        stopped.verdict == Verdict::unavailable && stopped.after.has_value() &&
        stopped.reason.starts_with("waited for another start, because the program ended with exit status 1");
    if (!waited) (void)outcome_of(*handler, record_data(1, "v"));
    return waited;
  }));
}

namespace {

/// Whether a record that waits for a start has the program of another that is done. After more failures it
/// has longer to be given that.
bool takes_the_program_of_another(int failures) {
  const Scripts scripts;
  const auto handler =
      made(scripts.python("if not os.path.exists(sys.argv[1] + '/good'): sys.exit(len(sys.stdin.readline()) "
                          "and 4)\nopen(sys.argv[1] + '/started', 'w')\nfor line in sys.stdin:\n    while "
                          "not os.path.exists(sys.argv[1] + '/go'): time.sleep(0.005)\n    "
                          "answer(outcome='retry', reason=str(os.getpid()))\n"));
  const auto fail = [&] { CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::retry); };
  fail();
  scripts.write("good", "");
  Outcome first;
  std::thread worker([&] { first = outcome_of(*handler, record_data(1, "v")); });
  CHECK(comes_true([&] { return std::filesystem::exists(scripts.path("started")); }));
  std::filesystem::remove(scripts.path("good"));
  for (int i = 0; i < failures; ++i) fail();
  std::thread opener([&] { scripts.write("go", ""); });
  const auto second = outcome_of(*handler, record_data(2, "v"));
  opener.join();
  worker.join();
  return second.reason == first.reason;
}

}  // namespace

TEST_CASE("a record that waits for a start gets another program when that program is free") {
  // Within 0.8 s; where the machine is too busy for that, within 3.2 and 25 s.
  CHECK((takes_the_program_of_another(4) || takes_the_program_of_another(6) ||
         takes_the_program_of_another(9)));
}

TEST_CASE("a program that can no longer be started is unavailable") {
  const Scripts scripts;
  const auto program = scripts.write("program", "#!/no/such/interpreter\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto handler = made(config::ExecSettings{.command = {program}});
  const auto outcome = outcome_of(*handler, record_data(1, "v"));
  CHECK(outcome.verdict == Verdict::unavailable);
  CHECK(outcome.reason == "cannot start the program: " + program + ": No such file or directory");
}

TEST_CASE("a program that writes before it gets a record is unavailable") {
  const Scripts scripts;
  const auto handler = made(scripts.python("write('Ready!\\n')\nsys.stdin.readline()\ntime.sleep(1000)\n"));
  const auto outcome = outcome_of(*handler, record_data(1, "v"));
  // Whether it was given the record before it said that is chance.
  const bool said = contains(outcome.reason, "Ready!");
  CHECK(said);
  CHECK(outcome.verdict != Verdict::done);
}

TEST_CASE("starts are delayed after several failures in a row, and not after an answer") {
  ExecBackOff back_off;
  const TimePoint now{std::chrono::hours(1)};
  const auto delay = [&] {
    const auto at = std::max(now, back_off.until());
    back_off.failed(at);
    return back_off.until() - at;
  };
  CHECK(back_off.until() <= now);
  for (const auto ms : {0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000})
    CHECK(delay() == milliseconds(ms));
  const auto until = back_off.until();
  back_off.failed(until - milliseconds(1));  // another worker's program, of the same wait
  CHECK(back_off.until() == until);
  back_off.answered();
  CHECK(back_off.until() <= now);
  CHECK(delay() == Duration::zero());
}

TEST_CASE("many restarts leave no process and no descriptor behind") {
  const Scripts scripts;
  const auto before = open_descriptors();
  {
    config::ExecSettings settings;
    settings.command = {"/bin/sh", scripts.write("program.sh",
                                                 "while read -r record; do\n  case $record in *die*) exit 1 "
                                                 ";; esac\n  echo '{\"outcome\":\"done\"}'\ndone\n")};
    const auto handler = made(settings);
    for (int i = 0; i < 100; ++i) {
      CHECK(outcome_of(*handler, record_data(i, "v")).verdict == Verdict::done);
      CHECK(outcome_of(*handler, record_data(i, "die")).verdict == Verdict::retry);
    }
    CHECK(comes_true([] { return no_children(); }));
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("a check starts the program without giving it a record") {
  const Scripts scripts;
  const auto reached = [](const config::ExecSettings& settings) { return reach(settings, seconds(60)); };
  // A program that a busy machine keeps from ending within 2 s is one that stays.
  CHECK(comes_true([&] {
    const auto right = reached(scripts.python_loop("answer(outcome='done')"));
    REQUIRE(right.ok());
    return **right == "/usr/bin/python3 starts, and ends when its input ends";
  }));
  const auto stays = reached(scripts.python("time.sleep(1000)\n"));
  REQUIRE(stays.ok());
  CHECK(**stays == "/usr/bin/python3 starts");
  auto wrong = stays;
  REQUIRE(comes_true([&] {
    wrong = reached(scripts.python("import no_such_module\n"));
    return !wrong.ok();
  }));
  CHECK(wrong.error().kind == ErrorKind::unavailable);
  CHECK(wrong.error().message ==
        "handler.exec.command: /usr/bin/python3 received no record and ended with exit status 1; the last "
        "line of its standard error: ModuleNotFoundError: No module named 'no_such_module'");
  CHECK(reached({.command = {"/no/such"}}).error().kind == ErrorKind::configuration);
  CHECK(no_children());
}
