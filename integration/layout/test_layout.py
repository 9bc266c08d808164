"""The rules of the source tree that neither the compiler nor the linker checks; docs/developing.md explains them."""
import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIB = ROOT / "lib"
TESTS = ROOT / "tests"
MODULE = re.compile(r"laneway_module\((\w+)([^)]*)\)")
MOST_FILES = 30   # side by side in a folder: more than that, and the folder does not show what is in it
MOST_LINES = 400
MOST_FIELDS = 25  # of a class of lib/lane
READS_RECORDS = {"lib/handler/content.h", "lib/handler/content.cpp"}
# What carries the bytes of a record and does not read them; tracing looks for the one header that is laneway's own business.
CARRY_RECORDS = {"app/dlq/print.cpp", "app/dlq/redrive.cpp", "lib/handler/forward/forward_handler.cpp",
                 "lib/handler/forward/header_lists.cpp", "lib/handler/forward/retry_record.cpp", "lib/kafka/record.cpp",
                 "lib/kafka/record.h", "lib/lane/position/log_position.cpp", "lib/lane/stage/between_stages.cpp",
                 "lib/tracing/record_trace.cpp"}
RAW_BYTES = re.compile(r"\b(?:raw_(?:key|value|headers)|release_copy)\b")
# Folders whose sources define rows of one table; this header declares them.
TABLES = {"config/handlers": "handler_schema.h"}
# Folders of tests/ that mirror no module.
NO_MODULE = {"app", "bench", "fuzz", "library", "plugins", "sanitizer", "stories"}


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in {".h", ".cpp"})


def modules():
    """Each module with those whose headers it may include, by lib/CMakeLists.txt."""
    may = {}
    for name, options in MODULE.findall((LIB / "CMakeLists.txt").read_text()):
        uses = re.search(r"USES ([\w\s]+?)(?:LIBRARIES|$)", options)
        direct = uses.group(1).split() if uses else []
        may[name] = {name}.union(*(may[used] for used in direct))
    return may


def without_comments(text):
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", text)


def classes(text):
    """Each class or struct with the text of its own level: the bodies of functions and of nested classes are left out."""
    text = without_comments(text)
    for head in re.finditer(r"\b(?:class|struct)\s+(?:alignas\(\w+\)\s*)?([\w:]+)[^;{}()=]*\{", text):
        depth, own = 1, []
        for letter in text[head.end():]:
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if depth == 0:
                break
            if depth == 1:
                own.append(letter)
        yield head.group(1), "".join(own)


def fields(own):
    """The non-static data members among the declarations of a class."""
    found = []
    for declaration in re.split(r"[;}]|\b(?:public|private|protected):", own):
        declaration = re.sub(r"\b(?:GUARDED_BY|PT_GUARDED_BY)\([^)]*\)", "", declaration)
        declaration = re.sub(r"=.*", "", declaration, flags=re.DOTALL).strip()
        if re.match(r"(?:static|using|friend|enum|class|struct|template|typedef|virtual|explicit|operator|~)\b", declaration):
            continue
        plain = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", declaration)))
        if "(" in plain:
            continue
        name = re.search(r"[\w>*&\]]\s+[*&]?(\w+)$", plain)
        if name:
            found.append(name.group(1))
    return found


def included_files(root, folder):
    """Each file of the folder, with what it includes of the folder; paths are relative to `root`, as in an include."""
    inside = f"{folder.relative_to(root)}/"
    return {str(path.relative_to(root)): [name for name in re.findall(r'#include "([^"]+)"', path.read_text())
                                          if name.startswith(inside)] for path in sources(folder)}


def arrows(folder, includes):
    """For each pair of parts of the folder, the includes from one to the other. Each folder in it is a part, and so is each file
    beside the folders, a header with its source."""
    def part(path):
        first, *deeper = path.removeprefix(f"{folder}/").split("/")
        return f"{first}/" if deeper else first.rsplit(".", 1)[0]

    found = {}
    for path, names in includes.items():
        for name in names:
            if part(path) != part(name):
                found.setdefault((part(path), part(name)), []).append(f"{path} includes {name}")
    return found


def circle(found):
    """The parts of a circle that has a folder in it, in the order of the includes; empty if there is none."""
    after = {}
    for a, b in sorted(found):
        after.setdefault(a, []).append(b)
    for start in sorted(part for part in after if part.endswith("/")):
        paths, seen = [[start]], set()
        for path in paths:  # grows while it is read: the shortest circle comes first
            for following in after.get(path[-1], []):
                if following == start:
                    return path
                if following not in seen:
                    seen.add(following)
                    paths.append([*path, following])
    return []


def closing_includes(root, folder):
    """One include for each step of a circle of the folder's parts; empty if there is none."""
    found = arrows(folder.relative_to(root), included_files(root, folder))
    parts = circle(found)
    return [found[pair][0] for pair in zip(parts, [*parts[1:], *parts[:1]])]


class Layout(unittest.TestCase):
    def test_each_source_has_a_header_of_its_name(self):
        def has_header(path):
            of_table = TABLES.get(str(path.parent.relative_to(LIB)))
            first = re.search(r'#include "([^"]+)"', path.read_text())
            return path.with_suffix(".h").exists() or (of_table and first and first[1].endswith("/" + of_table))
        alone = [str(path.relative_to(ROOT)) for path in sources(LIB) if path.suffix == ".cpp" and not has_header(path)]
        self.assertEqual(alone, [])

    def test_no_folder_has_too_many_files(self):
        for folder in [LIB, *(path for path in LIB.rglob("*") if path.is_dir())]:
            files = [path for path in folder.iterdir() if path.suffix in {".h", ".cpp"}]
            self.assertLessEqual(len(files), MOST_FILES, f"{folder.relative_to(ROOT)} needs folders")

    def test_no_file_is_too_long(self):
        for path in [*sources(LIB), *sources(ROOT / "app")]:
            lines = path.read_text().count("\n")
            self.assertLessEqual(lines, MOST_LINES, f"{path.relative_to(ROOT)} holds more than one job")

    def test_a_module_includes_only_what_it_uses(self):
        may = modules()
        self.assertIn("lane", may)
        self.assertNotIn("lane", may["handler"])
        for path in sources(LIB):
            module = path.relative_to(LIB).parts[0]
            for included in re.findall(r'#include "(\w+)/', path.read_text()):
                if included in may:
                    self.assertIn(included, may[module], f"{path.relative_to(ROOT)} includes {included}/, which lib/{module} may not use")

    def test_the_folders_of_a_module_have_no_circle(self):
        for root, folder in [(ROOT, ROOT / "app"), *((LIB, LIB / module) for module in modules())]:
            for inner in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
                with self.subTest(inner.relative_to(ROOT)):
                    closing = closing_includes(root, inner)
                    self.assertFalse(closing, "the folders are a circle: " + "; ".join(closing))

    def test_a_record_is_read_in_one_place(self):
        named = READS_RECORDS | CARRY_RECORDS
        users = {str(path.relative_to(ROOT)) for path in [*sources(LIB), *sources(ROOT / "app")]
                 if RAW_BYTES.search(without_comments(path.read_text()))}
        self.assertEqual(sorted(users - named), [], "these files use the raw bytes of a record: read them by handler::Content, so that "
                         "a decoder changes nothing else, or add what only carries them to CARRY_RECORDS")
        self.assertEqual(sorted(named - users), [], "these files use no raw bytes any more")

    def test_a_module_has_a_readme(self):
        for module in modules():
            self.assertTrue((LIB / module / "README.md").exists(), f"lib/{module} has no README.md")

    def test_no_class_of_the_lane_has_too_many_fields(self):
        counted = {}
        for path in sources(LIB / "lane"):
            for name, own in classes(path.read_text()):
                counted[f"{path.relative_to(ROOT)}: {name}"] = fields(own)
        self.assertGreater(len(counted), 50)
        large = {name: len(found) for name, found in counted.items() if len(found) > MOST_FIELDS}
        self.assertEqual(large, {})

    def test_tests_have_the_folders_of_the_library(self):
        for folder in (path for path in TESTS.rglob("*") if path.is_dir()):
            parts = folder.relative_to(TESTS).parts
            if not NO_MODULE.intersection(parts) and "__pycache__" not in parts:
                self.assertTrue((LIB / folder.relative_to(TESTS)).is_dir(), f"{folder.relative_to(ROOT)} mirrors no folder of lib/")

    def test_a_test_is_where_its_header_is(self):
        headers = {}
        for path in sources(LIB):
            headers.setdefault((path.relative_to(LIB).parts[0], path.stem), path.relative_to(LIB).parent)
        for path in TESTS.rglob("*_test.cpp"):
            module = path.relative_to(TESTS).parts[0]
            home = headers.get((module, path.stem.removesuffix("_test")))
            if home:
                self.assertEqual(path.relative_to(TESTS).parent, home, f"{path.relative_to(ROOT)}: its header is in lib/{home}")


class Counting(unittest.TestCase):
    """That the rule for fields can fail."""
    TEXT = """
      class Lane {  // one
       public:
        explicit Lane(int a, std::function<void()> b) : a_(a) { int local = 3; }
        int work(int now) const;
        enum class Take { more, empty };
        struct Pending { int batch; int begin; };
       private:
        static constexpr int limit = 4;
        const std::map<int, std::vector<int>> map_;
        std::function<void(int)> on_ready_;
        int first_ = -1;  // the first; of many
        std::atomic<bool> done_{false};
        std::string text_ GUARDED_BY(mutex_) = "a;b";
        Pending* pending_;
      };
    """

    def test_fields_are_counted(self):
        counted = {name: fields(own) for name, own in classes(self.TEXT)}
        self.assertEqual(counted["Lane"], ["map_", "on_ready_", "first_", "done_", "text_", "pending_"])
        self.assertEqual(counted["Pending"], ["batch", "begin"])


class Circles(unittest.TestCase):
    """That the rule for folders can fail."""

    def closing(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, includes in files.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f'#include "{included}"\n' for included in includes))
            return closing_includes(Path(root), Path(root) / "pool")

    def test_layers_are_no_circle(self):
        self.assertEqual(self.closing({"pool/pool.cpp": ["pool/pool.h", "pool/turn/run.h", "pool/queue/ring.h"],
                                       "pool/turn/run.h": ["pool/queue/ring.h", "base/time.h"], "pool/queue/ring.h": []}), [])

    def test_the_includes_that_close_a_circle_are_named(self):
        files = {"pool/turn/run.h": ["pool/queue/ring.h"], "pool/queue/ring.h": ["pool/limits.h"],
                 "pool/limits.cpp": ["pool/limits.h", "pool/turn/run.h"]}
        self.assertEqual(self.closing(files), ["pool/queue/ring.h includes pool/limits.h", "pool/limits.cpp includes pool/turn/run.h",
                                               "pool/turn/run.h includes pool/queue/ring.h"])

    def test_a_class_and_its_implementation_are_no_circle_of_folders(self):
        self.assertEqual(self.closing({"pool/pool.cpp": ["pool/implementation.h"], "pool/implementation.h": ["pool/pool.h"]}), [])


if __name__ == "__main__":
    unittest.main()
