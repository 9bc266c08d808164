// What operators can tell a running service to do with its lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace laneway::service {

struct ControlRequest {
  enum class Action : std::uint8_t { pause, resume, skip };
  Action action = Action::pause;
  std::string topic;
  std::optional<std::int32_t> partition{};  ///< nothing: the whole topic; not for skip
  std::int64_t offset = -1;                 ///< skip
  std::string reason{};                     ///< skip
};

struct ControlAnswer {
  enum class Kind : std::uint8_t {
    done,
    accepted,   ///< will be done
    not_found,  ///< no such lane here
    refused,    ///< cannot be done now
    invalid,    ///< can never be done so
    no_answer,  ///< the lane's loop did not answer in time; it may be done later
  };
  Kind kind = Kind::done;
  std::string text;  ///< for people
};

}  // namespace laneway::service
