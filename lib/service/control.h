// What operators can ask of the lanes of a running service.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace laneway::service {

struct ControlRequest {
  enum class Action : std::uint8_t { suspend, resume, skip };
  Action action = Action::suspend;
  std::string topic;
  std::optional<std::int32_t> partition{};  ///< nullopt: the whole topic; not for skip
  std::int64_t offset = -1;                 ///< skip
  std::string reason{};                     ///< skip
  bool here = false;                        ///< suspend: only in this process

  /// "orders", "orders:3"
  std::string target() const { return partition ? topic + ':' + std::to_string(*partition) : topic; }
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
