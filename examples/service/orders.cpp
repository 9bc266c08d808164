#include <laneway/laneway.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  laneway::Options options;
  options.file = argc > 1 ? argv[1] : "orders.yaml";
  laneway::Service service(options, [](const laneway::Record& record) {
    if (!record.value()) return laneway::Answer::reject("an order must not be empty");
    std::printf("order at %lld: %zu bytes\n", static_cast<long long>(record.offset()),
                record.value()->size());
    return laneway::Answer::done();
  });
  return service.run();
}
