// Says hello to what is in each record.
#include <laneway/plugin.hpp>

class Greeting : public laneway::RecordPlugin {
 public:
  // The configuration comes as JSON text; use your favourite parser. What is thrown here keeps laneway from
  // starting.
  Greeting(laneway::Host host, std::string_view config) : host_(host) {
    host_.info("greeting with " + std::string(config));
  }

  // Called by several threads at once.
  laneway::Answer handle(const laneway::Record& record) override {
    if (!record.value()) return laneway::Answer::reject("there is nobody to greet");
    host_.info("hello " + std::string(*record.value()));
    return laneway::Answer::done();
  }

 private:
  laneway::Host host_;
};

LANEWAY_PLUGIN("greeting", "1.0", Greeting)
