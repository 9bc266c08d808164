// What the members of a service subscribe to, by the topics that its start has found.
//
// Threads: any. Nothing blocks.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "kafka/admin/directory.h"
#include "lane/member/topic_watch.h"

namespace laneway::service {

/// `topics`: those that the start has found, with the retry topics.
lane::TopicSubscription subscription_to(const config::Config& config,
                                        const std::vector<kafka::TopicInfo>& topics);

/// Logs the topics that a pattern leaves out, if any; a long list is cut.
void report_left_out(std::vector<std::string> topics);

}  // namespace laneway::service
