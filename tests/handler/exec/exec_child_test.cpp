#include "handler/exec/exec_child.h"

#include "handler/exec/exec.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

constexpr std::size_t large = 1 << 20;  // more than a pipe takes

std::shared_ptr<ExecChild> started(const config::ExecSettings& settings) {
  auto child = ExecChild::start(settings, longest_exec_answer, std::make_shared<ExecErrorLog>());
  REQUIRE(child.ok());
  return std::move(child).value();
}

}  // namespace

TEST_CASE("a record's frame is released before its work ends, and kept until the frame is read") {
  const Scripts scripts;
  StopState running;
  const auto deadline = Deadline::in(seconds(60));
  const auto works = started(scripts.python_loop("answer(outcome='done')"));
  std::string frame = '"' + std::string(large, 'x') + "\"\n";
  CHECK(works->exchange(frame, 1, nullptr, deadline, StopToken{&running, 1}).kind ==
        ExecReply::Kind::answered);
  CHECK(frame.capacity() < large);
  const auto ends = started(scripts.python("sys.exit(1)"));
  frame = std::string(large, 'x');
  CHECK(ends->exchange(frame, 1, nullptr, deadline, StopToken{&running, 1}).kind !=
        ExecReply::Kind::answered);
  CHECK(frame.size() == large);
}
