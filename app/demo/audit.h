// What became of every record, by evidence only: the acknowledgements that the producer got, the lines of the
// members' journals, and the committed offsets that the broker reports. The counters of the service are not
// used.
//
// Ownership: the files stay open while the Audit lives. Threads: one. Blocks only while it reads files.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::demo {

struct Findings {
  std::uint64_t produced = 0;
  std::uint64_t processed = 0;  ///< produced records with at least one success in a journal
  std::uint64_t committed = 0;  ///< produced records below the committed offset
  std::uint64_t lost = 0;  ///< records below the committed offset without a success: they would not run again
  std::uint64_t duplicated = 0;  ///< successes of a record after its first success
  std::uint64_t foreign = 0;  ///< journal lines that cannot be read, or name a record that was not produced

  bool good() const { return lost == 0 && duplicated == 0 && foreign == 0; }
  bool complete() const { return processed == produced && committed == produced; }
};

class Audit {
 public:
  explicit Audit(std::size_t partitions) : successes_(partitions) {}

  /// Adds a journal, which may not exist yet.
  void follow(const std::string& file);
  /// Reads the lines that were written since the last call.
  void read();
  /// Takes one journal line.
  void note(std::string_view line);
  /// The number of records with a success so far.
  std::uint64_t processed(std::size_t partition) const;

  /// For each partition: the number of acknowledged records, whose offsets begin at 0; the committed offset,
  /// negative if nothing is committed.
  Findings judge(const std::vector<std::uint64_t>& produced,
                 const std::vector<std::int64_t>& committed) const;

 private:
  struct Journal {
    std::string file;
    std::ifstream stream;
    std::string begun;  // a line whose end has not been read yet
  };
  void read(Journal& journal);

  std::vector<std::vector<std::uint32_t>> successes_;  // by partition and offset
  std::uint64_t foreign_ = 0;
  std::vector<Journal> journals_;
};

}  // namespace laneway::demo
