// A class that throws what a record's value says, and that its configuration can keep from starting.
#include <stdexcept>

#include "laneway/plugin.hpp"

namespace {

class Throwing final : public laneway::RecordPlugin {
 public:
  Throwing(laneway::Host host, std::string_view config) {
    if (config != "{}") throw std::invalid_argument("it takes no configuration, not " + std::string(config));
    host.info("ready\nto throw");
  }

  laneway::Answer handle(const laneway::Record& record) override {
    if (record.value() == "exception") throw std::runtime_error("no such table");
    if (record.value() == "number") throw 7;
    if (record.value() == "header")
      return laneway::Answer::reject(std::string(record.header("h").value_or("none")));
    if (record.value() == "delivery id") return laneway::Answer::reject(std::string(record.delivery_id()));
    if (record.value() == "part") return laneway::Answer::reject(std::string(record.part()));
    if (record.value() == "results") {
      record.add_result("left", "1", "k", {{"a", "b"}, {"c", std::nullopt}});
      record.add_result("right", std::nullopt);
    }
    if (record.value() == "no results") record.no_results();
    return laneway::Answer::done();
  }
};

}  // namespace

LANEWAY_PLUGIN("throwing", "1.0", Throwing)
