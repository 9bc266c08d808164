// What became of every record, by the evidence alone: what the broker acknowledged to the producer, the lines
// of the members' journals, and the offsets that the broker holds as committed. None of the service's own
// counters is used.
//
// Ownership: the files stay open while the Audit lives. One thread. Reading files is all that blocks.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::demo {

struct Findings {
  std::uint64_t produced = 0;
  std::uint64_t processed = 0;  ///< of those, with at least one success in a journal
  std::uint64_t committed = 0;  ///< of those, below the committed offset
  std::uint64_t lost = 0;       ///< below the committed offset without a success: nobody would run them again
  std::uint64_t duplicated = 0;  ///< successes beyond a record's first
  std::uint64_t foreign = 0;     ///< journal lines that are not understood or name a record never produced

  bool good() const { return lost == 0 && duplicated == 0 && foreign == 0; }
  bool complete() const { return processed == produced && committed == produced; }
};

class Audit {
 public:
  explicit Audit(std::size_t partitions) : successes_(partitions) {}

  /// A journal that is being written, or will be.
  void follow(const std::string& file);
  /// Reads what has been written since.
  void read();
  /// One journal line.
  void note(std::string_view line);
  /// Records with a success so far.
  std::uint64_t processed(std::size_t partition) const;

  /// For each partition: records acknowledged, so their offsets are 0 to that; the committed offset, negative
  /// for none.
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
