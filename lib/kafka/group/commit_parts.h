// Cuts a commit into requests that the brokers can store.
//
// The coordinator of a group writes all offsets of a request as one batch into its partition of
// __consumer_offsets, and refuses the whole request if the batch is larger than max.message.bytes of that
// topic (1,048,588 bytes by default, by message.max.bytes of the brokers). The batch counts more than the
// metadata: for each offset also a key with the names of group and topic. A request of `request_bytes` is
// less than half of the default.
//
// Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "kafka/types.h"

namespace laneway::kafka {

constexpr std::size_t request_bytes = 500'000;

/// What the brokers store for an offset, at most. `group`: the length of the group's name.
std::size_t stored_bytes(const CommittedOffset& offset, std::size_t group);

/// Each part is a request.
using CommitParts = std::vector<std::vector<CommittedOffset>>;

/// The offsets in their order, in parts of at most `most` bytes. An offset that is larger is alone in a part.
CommitParts commit_parts(std::vector<CommittedOffset> offsets, std::size_t group, std::size_t most);

}  // namespace laneway::kafka
