// Logs a greeting for the value of each record.
#include <laneway/plugin.hpp>

class Greeting : public laneway::RecordPlugin {
 public:
  // `config` is JSON text; use any parser. If the constructor throws, laneway does not start.
  Greeting(laneway::Host host, std::string_view config) : host_(host) {
    host_.info("greeting with " + std::string(config));
  }

  // Several threads call this function at once.
  laneway::Answer handle(const laneway::Record& record) override {
    if (!record.value()) return laneway::Answer::reject("there is nobody to greet");
    host_.info("hello " + std::string(*record.value()));
    return laneway::Answer::done();
  }

 private:
  laneway::Host host_;
};

LANEWAY_PLUGIN("greeting", "1.0", Greeting)
