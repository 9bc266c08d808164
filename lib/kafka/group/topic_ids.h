// Asks the brokers for the ids of topics. A topic that is deleted and created again has another id, and so
// has a topic of the same name in another cluster. Private to lib/kafka.
//
// Threads: any; blocks up to the time-out. The library can ask from release 2.3 on; with an older one, and of
// brokers before Kafka 2.8, no topic has an id.
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/time.h"

namespace laneway::kafka {

struct TopicIds {
  /// By the name of the topic: the id as Kafka's tools print it. Topics without an id are left out.
  std::map<std::string, std::string> ids{};
  /// Why an id is missing that may be known later: nobody answered, or the broker does not know a topic;
  /// RD_KAFKA_RESP_ERR_NO_ERROR if all ids are known that there are, or if nobody can be asked.
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
};

/// `broker`: which one to ask; below 0, the library asks the controller, which may be the broker that does
/// not answer.
TopicIds topic_ids(rd_kafka_t* handle, const std::set<std::string>& topics, std::int32_t broker,
                   Duration timeout);

}  // namespace laneway::kafka
