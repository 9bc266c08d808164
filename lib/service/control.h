// What operators can ask of the lanes of a running service, and of the records that it has parked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace laneway::service {

struct ControlRequest {
  enum class Action : std::uint8_t { suspend, resume, skip, send_on, give_up };
  Action action = Action::suspend;
  std::string topic;
  std::optional<std::int32_t> partition{};  ///< nullopt: the whole topic; not for skip
  std::int64_t offset = -1;                 ///< skip
  std::string reason{};                     ///< skip, give_up
  bool here = false;                        ///< suspend: only in this process
  std::string pool{};                       ///< give_up
  std::optional<std::string> subscriber{};  ///< give_up: of the pool; nullopt: all

  /// Whether the request is about parked records, and not about a lane.
  bool about_parked() const { return action == Action::send_on || action == Action::give_up; }
  /// "orders", "orders:3"; "the pool send", "the subscriber acme of the pool send"
  std::string target() const {
    if (about_parked())
      return (subscriber ? "the subscriber " + *subscriber + " of " : "") + "the pool " + pool;
    return partition ? topic + ':' + std::to_string(*partition) : topic;
  }
};

struct ControlAnswer {
  enum class Kind : std::uint8_t {
    done,
    accepted,   ///< will be done
    not_found,  ///< this instance has no such lane
    refused,    ///< cannot be done now
    invalid,    ///< can never be done in this way
    no_answer,  ///< the lane's loop did not answer in time; it may still carry out the request
  };
  Kind kind = Kind::done;
  std::string text;     ///< for people
  bool changed = true;  ///< false if the lane was already as requested
};

}  // namespace laneway::service
