"""The steps of a user of the pool alone: every command of examples/pool/README.md, run as it is written there, from the
checkout to the examples, which print what the page shows. Nothing but a compiler and CMake is used.

HOME is a temporary folder.
"""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 540  # a hang is a failure; nothing passes or fails by being faster
PAGE = "examples/pool/README.md"
# A block of commands, and the output that the page shows directly below it, if any.
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
WITHOUT_SERVICE = """
cmake_minimum_required(VERSION 3.16)
project(stranger LANGUAGES CXX)
find_package(laneway REQUIRED COMPONENTS pool service)
"""

# What the code of the documentation stands in.
BODY = """#include <laneway/pool.hpp>
#include <coroutine>
#include <cstdio>
using namespace std::chrono_literals;
void work() {{}}
{}
void example() {{
{}}}
"""
# The template of the page needs a coroutine that uses it.
AWAITS = """struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
const auto run = [](laneway::WorkerPool& pool) -> Task {
  const int answer = co_await Awaited{pool, [] { return 6 * 7; }};
  std::printf("%d\\n", answer);
};
static_cast<void>(run);
"""


class PoolPackage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="laneway-pool-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        kept = {name: value for name, value in os.environ.items() if name not in ("CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH")}
        self.environment = {**kept, "HOME": str(self.home)}
        self.environment.setdefault("CCACHE_DIR", str(Path.home() / ".cache" / "ccache"))

    def run_lines(self, lines):
        return subprocess.run(["bash", "-euc", lines], cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=LONGEST, check=False)

    def shell(self, lines):
        done = self.run_lines(lines)
        self.assertEqual(0, done.returncode, lines + "\n" + done.stdout + done.stderr)
        return done.stdout

    def test_each_command_of_the_example(self):
        shown = 0
        for commands, output in BLOCK.findall((ROOT / PAGE).read_text()):
            printed = self.shell(commands)
            if output:
                self.assertEqual(output, printed, commands)
                shown += 1
        self.assertEqual(3, shown, f"{PAGE} shows the output of another number of examples")
        self.compile_installed_headers()
        self.find_what_is_not_installed()

    def test_the_code_of_the_documentation_compiles(self):
        blocks = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "docs" / "pool-library.md").read_text(), re.MULTILINE | re.DOTALL)
        self.assertEqual(6, len(blocks))
        for block in blocks:
            declares = block.startswith("template")
            source = self.home / "block.cpp"
            source.write_text(BODY.format(block, AWAITS) if declares else BODY.format("", block))
            self.shell(f"${{CXX}} -std=c++20 -Wall -Wextra -Wno-missing-field-initializers -Werror -fsyntax-only -I{ROOT}/include {source}")

    def compile_installed_headers(self):
        include = self.home / "laneway" / "include"
        names = sorted(path.relative_to(include) for path in include.rglob("*") if path.is_file())
        self.assertEqual(["laneway/detail/pool_promise.hpp", "laneway/detail/pool_slot.hpp",
                          "laneway/pool.hpp", "laneway/pool_types.hpp"], list(map(str, names)))
        for name in names:
            self.shell(f"echo '#include <{name}>' | ${{CXX}} -x c++ -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "
                       f"-I{include} -")

    def find_what_is_not_installed(self):
        stranger = self.home / "stranger"
        stranger.mkdir()
        (stranger / "CMakeLists.txt").write_text(WITHOUT_SERVICE)
        done = self.run_lines(f"cmake -S {stranger} -B {stranger}/build -DCMAKE_PREFIX_PATH=$HOME/laneway")
        self.assertNotEqual(0, done.returncode)
        self.assertIn("laneway has no component service here; installed are: pool", " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()
