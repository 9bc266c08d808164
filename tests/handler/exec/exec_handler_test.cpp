// The exec handler with programs that do as they should.
#include "handler/exec/exec_handler.h"

#include <signal.h>

#include <atomic>
#include <set>

#include "catch.h"
#include "handler/exec/exec.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

std::vector<kafka::RecordData> records(int count) {
  std::vector<kafka::RecordData> out;
  for (int i = 0; i < count; ++i) out.push_back(record_data(i, "v"));
  return out;
}

/// Answers in the binary framing, by the record's value; `record` is its bytes behind the fixed fields.
const std::string binary_program =
    "import struct\n"
    "inp, out = sys.stdin.buffer, sys.stdout.buffer\n"
    "while head := inp.read(4):\n"
    "    data = inp.read(struct.unpack('>I', head)[0])\n"
    "    version, number, partition, offset, timestamp, attempt = struct.unpack_from('>BQiqqI', data)\n"
    "    rest = data[struct.calcsize('>BQiqqI'):]\n"
    "    open(sys.argv[1] + '/rest', 'wb').write(rest)\n"
    "    reason = f'{version} {partition} {offset} {timestamp} {attempt}'.encode()\n"
    "    frame = struct.pack('>BQBq', 1, number, 1, 1500) + reason\n"
    "    out.write(struct.pack('>I', len(frame)) + frame)\n"
    "    out.flush()\n";

}  // namespace

TEST_CASE("a program gets the record as a line, and its answer decides the outcome") {
  const Scripts scripts;
  const auto handler =
      made(scripts.python_loop("open(sys.argv[1] + '/line', 'w').write(line)\n"
                               "answer(**json.loads(record['value']))"));
  auto data = record_data(42, R"({"outcome":"done"})", "k\"\n\xc3\xa4");
  data.headers = {{"a", "1"}, {"b", std::nullopt}};
  CHECK(outcome_of(*handler, std::move(data), 3).verdict == Verdict::done);
  CHECK(scripts.read("line") ==
        "{\"id\":1,\"topic\":\"orders\",\"partition\":3,\"offset\":42,\"timestamp\":1767323045678,"
        "\"key\":\"k\\\"\\n\xc3\xa4\",\"value\":\"{\\\"outcome\\\":\\\"done\\\"}\","
        "\"headers\":[[\"a\",\"1\"],[\"b\",null]],\"attempt\":3,"
        "\"delivery_id\":\"c-1/orders/3/42\"}\n");
  const auto answer = [&](const std::string& value) { return outcome_of(*handler, record_data(1, value)); };
  const auto retry = answer(R"({"outcome":"retry","reason":"locked","after":"5s"})");
  CHECK(retry.verdict == Verdict::retry);
  CHECK(retry.cause == Cause::verdict);
  CHECK(retry.reason == "locked");
  CHECK(retry.after == Duration(seconds(5)));
  CHECK(answer(R"({"outcome":"reject","reason":"no id"})").verdict == Verdict::reject);
  CHECK(answer(R"({"outcome":"unavailable"})").verdict == Verdict::unavailable);
}

TEST_CASE("null and bytes that are not UTF-8 arrive unchanged") {
  const Scripts scripts;
  const auto handler = made(scripts.python_loop(
      "import base64\n"
      "code = base64.b64decode if record.get('base64') else str.encode\n"
      "show = lambda text: 'null' if text is None else code(text).hex() or 'empty'\n"
      "fields = [record['key'], record['value']] + [value for name, value in record['headers']]\n"
      "answer(outcome='retry', reason=' '.join(map(show, fields)))"));
  auto data = record_data(1, std::string("\xff\0\n", 3));
  data.headers = {{"a", "x"}, {"b", std::nullopt}, {"c", ""}};
  CHECK(outcome_of(*handler, std::move(data)).reason == "null ff000a 78 null empty");
  data = record_data(1, {}, "\x80");
  CHECK(outcome_of(*handler, std::move(data)).reason == "80 null");
  data = record_data(1, "plain", "");
  CHECK(outcome_of(*handler, std::move(data)).reason == "empty 706c61696e");
}

TEST_CASE("with binary framing, a program gets the bytes") {
  const Scripts scripts;
  auto settings = scripts.python(binary_program);
  settings.framing = config::Framing::binary;
  const auto handler = made(settings);
  auto data = record_data(1LL << 40, std::string("\xff\0\n", 3));
  data.headers = {{"a", std::nullopt}};
  const auto outcome = outcome_of(*handler, std::move(data), 9);
  CHECK(outcome.verdict == Verdict::retry);
  CHECK(outcome.reason == "1 3 1099511627776 1767323045678 9");
  CHECK(outcome.after == Duration(milliseconds(1500)));
  CHECK(scripts.read("rest") == std::string("\0\0\0\6orders"
                                            "\xff\xff\xff\xff"
                                            "\0\0\0\3\xff\0\n"
                                            "\0\0\0\2"
                                            "\0\0\0\1a"
                                            "\xff\xff\xff\xff"
                                            "\0\0\0\23Laneway-Delivery-Id"
                                            "\0\0\0\32c-1/orders/3/1099511627776",
                                            34 + 4 + 19 + 4 + 26));
}

TEST_CASE("a large record passes in both framings") {
  const Scripts scripts;
  const std::string large(1 << 20, '\x01');  // six times as long in JSON
  const auto line = made(scripts.python_loop("answer(outcome='retry', reason=str(len(record['value'])))"));
  CHECK(outcome_of(*line, record_data(1, large)).reason == "1048576");
  CHECK(outcome_of(*line, record_data(1, std::string(1 << 20, '\xff'))).reason == "1398104");
  auto settings = scripts.python(binary_program);
  settings.framing = config::Framing::binary;
  const auto binary = made(settings);
  CHECK(outcome_of(*binary, record_data(7, large)).reason == "1 3 7 1767323045678 1");
  CHECK(scripts.read("rest").size() == large.size() + 22 + 4 + 19 + 4 + 14);
}

TEST_CASE("a program is used again, and there are as many programs as running records") {
  const Scripts scripts;
  const auto handler = made(scripts.python_loop(
      "open(sys.argv[1] + '/at_work', 'a').write(f'{os.getpid()}\\n')\n"
      "while record['value'] == 'wait' and not os.path.exists(sys.argv[1] + '/go'): time.sleep(0.005)\n"
      "answer(outcome='done')"));
  const auto pids = [&] {
    std::istringstream lines(scripts.read("at_work"));
    std::multiset<std::string> found;
    for (std::string line; std::getline(lines, line);) found.insert(line);
    return found;
  };
  Run run(records(20));
  handler->handle(run.task());
  CHECK(run.result().done == 20);
  const auto one = pids();
  CHECK(one.size() == 20);
  CHECK(one.count(*one.begin()) == 20);
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back([&] { outcome_of(*handler, record_data(1, "wait")); });
  CHECK(comes_true([&] { return pids().size() == 24; }));
  scripts.write("go", "");
  for (auto& worker : workers) worker.join();
  Run again(records(20));
  handler->handle(again.task());
  const auto all = pids();
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == 4);
}

TEST_CASE("a program has no shell, no blocked or ignored signal, no foreign descriptor and no setting") {
  const Scripts scripts;
  ::setenv("LANEWAY_KAFKA__SASL_PASSWORD", "canary", 1);
  ::setenv("EXEC_TEST", "kept", 1);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t block;
  sigset_t before;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &block, &before);
  auto settings = scripts.python_loop(
      "status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines())\n"
      "masks = [int(status[name], 16) for name in ('SigBlk', 'SigIgn')]\n"
      "masks[1] &= ~(1 << 12 | 1 << 24 | 3 << 31)  # Python's own SIGPIPE and SIGXFSZ, the C library's two\n"
      "fds = [fd for fd in os.listdir('/proc/self/fd') if int(fd) > 2]\n"
      "ours = [name for name in os.environ if name.startswith('LANEWAY')]\n"
      "answer(outcome='retry', reason=repr((sys.argv[2:], masks, len(fds), ours, os.environ['EXEC_TEST'], "
      "os.getpgrp() == os.getpid())))");
  settings.command.insert(settings.command.end(), {"$HOME; *", ""});
  const auto outcome = outcome_of(*made(settings), record_data(1, "v"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::unsetenv("LANEWAY_KAFKA__SASL_PASSWORD");
  ::unsetenv("EXEC_TEST");
  // One more descriptor: the listing itself.
  CHECK(outcome.reason == "(['$HOME; *', ''], [0, 0], 1, [], 'kept', True)");
}

TEST_CASE("a program that cannot be executed is a configuration error") {
  const Scripts scripts;
  const auto refusal = [&](const std::string& program) {
    const auto handler = make_handler(config_with(config::ExecSettings{.command = {program}}));
    REQUIRE_FALSE(handler.ok());
    CHECK(handler.error().kind == ErrorKind::configuration);
    return handler.error().message;
  };
  CHECK(refusal("/no/such") ==
        "handler.exec.command: /no/such cannot be executed: No such file or directory");
  CHECK(refusal("/tmp") == "handler.exec.command: /tmp cannot be executed: this is not a file");
  const auto plain = scripts.write("plain", "#!/bin/sh\n");
  CHECK(refusal(plain) == "handler.exec.command: " + plain + " cannot be executed: Permission denied");
}

TEST_CASE("a handler that ends stops its programs and leaves nothing behind") {
  const Scripts scripts;
  const auto before = open_descriptors();
  pid_t grandchild = 0;
  {
    const auto good = made(scripts.python_loop("answer(outcome='done')"));
    CHECK(outcome_of(*good, record_data(1, "v")).verdict == Verdict::done);
    // One that stays after the end of its input, deaf to SIGTERM, with a child of its own.
    const Scripts more;
    const auto stubborn =
        made(more.python("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                         "child = subprocess.Popen(['/bin/sleep', '1000'])\n"
                         "for line in sys.stdin: answer(outcome='retry', reason=str(child.pid))\n"
                         "time.sleep(1000)\n"));
    grandchild = std::stoi(outcome_of(*stubborn, record_data(1, "v")).reason);
    CHECK_FALSE(no_children());
    CHECK(is_running(grandchild));
  }
  CHECK(no_children());
  CHECK(comes_true([&] { return !is_running(grandchild); }));  // reaped by another
  CHECK(open_descriptors() == before);
}

TEST_CASE("programs that are idle for a while are ended, and started again for new records") {
  const Scripts scripts;
  auto settings = scripts.python_loop("answer(outcome='done')");
  settings.idle = milliseconds(300);
  const auto handler = made(settings);
  std::atomic<int> done = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 8; ++i)
    workers.emplace_back([&] { done += outcome_of(*handler, record_data(1, "v")).verdict == Verdict::done; });
  for (auto& worker : workers) worker.join();
  CHECK(done == 8);
  CHECK(comes_true([] { return no_children(); }));
  CHECK(outcome_of(*handler, record_data(2, "v")).verdict == Verdict::done);
}

TEST_CASE("a program is replaced after a number of records, and each record is answered once") {
  const Scripts scripts;
  auto settings = scripts.python_loop(
      "open(sys.argv[1] + '/seen', 'a').write(str(record['offset']) + '\\n')\n"
      "answer(outcome='retry', reason=str(os.getpid()))");
  settings.max_records = 3;
  const auto handler = made(settings);
  std::vector<std::string> by;
  std::string expected;
  for (int i = 0; i < 9; ++i) {
    by.push_back(outcome_of(*handler, record_data(i, "v")).reason);
    expected += std::to_string(i) + '\n';
  }
  CHECK(std::set<std::string>(by.begin(), by.end()).size() == 3);
  CHECK(by[0] == by[2]);
  CHECK(by[2] != by[3]);
  CHECK(scripts.read("seen") == expected);
}

TEST_CASE("a program beyond its maximum age is replaced, also while idle") {
  const Scripts scripts;
  auto settings = scripts.python_loop("answer(outcome='retry', reason=str(os.getpid()))");
  settings.max_age = milliseconds(500);
  const auto handler = made(settings);
  const auto first = outcome_of(*handler, record_data(1, "v")).reason;
  CHECK(comes_true([] { return no_children(); }));
  CHECK(outcome_of(*handler, record_data(2, "v")).reason != first);
}
