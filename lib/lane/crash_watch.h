// Recognises the record whose handling ends the process (a crash of a plugin, out of memory), so that it
// cannot end it again and again: after retry.max_crashes deaths it goes to the dead-letter topic.
//
// What is known after a death is only what was written down before it. So each commit carries a marker beside
// the completion map: how many lives in a row have begun at this offset without ending cleanly. A life is one
// assignment of the partition; nothing is begun in it before its first marker is acknowledged, because a
// record that kills at once would otherwise leave no trace, for ever. A record that kills holds the committed
// offset where it is, so the number grows; any progress sets it back. From the third life on the lane is
// careful: one record is at work at a time, in the whole process, and its offset is committed as the suspect
// before it begins. If the process dies, the next life knows who it was:
//
//   life 1, 2    the process dies: some record of those at work
//   life 3 …     careful; the suspect of the commit was alone at work; the same suspect adds up
//   then         a suspect of max_crashes - 1 deaths is given up
//
// A life stays careful until `careful_records` records are through, which moves the committed offset on, or
// until nothing is left to do.
//
// Pure: no threads, no clock, no Kafka. One owner, one thread; CarefulTurn: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace laneway::lane {

/// What a commit says of the lives at its offset.
struct LifeMarker {
  std::uint32_t lives = 0;              ///< begun here and not ended cleanly; 0: the last one ended cleanly
  std::optional<std::int64_t> suspect;  ///< what a careful life had at work last
  std::uint32_t deaths = 0;             ///< lives before this one that ended with the suspect at work

  friend bool operator==(const LifeMarker&, const LifeMarker&) = default;
};

/// As the metadata of a commit begins: "lives=3 suspect=1234 deaths=1 "; empty after a clean end.
std::string encode(const LifeMarker& marker);
/// Takes a marker off the front; what is none stays as it is.
LifeMarker take_marker(std::string_view& metadata);

class CrashWatch {
 public:
  static constexpr std::uint32_t careful_from = 2;  // unclean ends before it
  static constexpr std::uint32_t careful_records = 1000;

  /// `before` is the marker of the last commit. max_crashes 0: nothing is watched, markers are empty.
  CrashWatch(const LifeMarker& before, std::uint32_t max_crashes);

  bool watches() const { return max_crashes_ > 0; }
  bool careful() const { return careful_; }
  /// The last life ended uncleanly.
  bool begins_unclean() const { return before_.lives > 0; }

  /// For the next commit. Its version is another number whenever it differs from the one before.
  const LifeMarker& marker() const { return marker_; }
  std::uint64_t version() const { return version_; }

  /// The committed offset moves on.
  void progressed();
  /// Careful: this record is next; the marker names it.
  void suspect(std::int64_t offset);
  /// Careful: deaths that this record is known to have been in, the first of them among others.
  std::uint32_t crashes(std::int64_t offset) const;
  bool condemned(std::int64_t offset) const { return careful_ && crashes(offset) >= max_crashes_; }
  /// Careful: the suspect's attempt is over and the process lives.
  void survived();
  /// Nothing is left to fear: as any other life from now on.
  void relax();
  /// What a life leaves behind that ends now and not by a death. A careful one that is not through leaves
  /// what it found.
  LifeMarker left_behind() const { return careful_ ? before_ : LifeMarker{}; }
  /// The lane drains.
  void end_cleanly();

 private:
  void become(const LifeMarker& marker);

  const LifeMarker before_;
  const std::uint32_t max_crashes_;
  LifeMarker marker_;
  std::uint64_t version_ = 0;
  bool careful_ = false;
  bool ended_ = false;
  std::uint32_t through_ = 0;
};

/// Whose record is alone at work among the careful lanes of a process. Any thread.
class CarefulTurn {
 public:
  /// True when it is `lane`'s, which it stays until it is given back.
  bool take(const void* lane) {
    const void* nobody = nullptr;
    return holder_.compare_exchange_strong(nobody, lane) || nobody == lane;
  }
  void give_back(const void* lane) { holder_.compare_exchange_strong(lane, nullptr); }

 private:
  std::atomic<const void*> holder_{nullptr};
};

}  // namespace laneway::lane
