// The client library's embedded cluster as a process of its own: prints its address and lives until standard
// input ends. Arguments: the topics, of two partitions each.
#include <iostream>
#include <string>

#include "kafka/testing/embedded_cluster.h"

int main(int argc, char** argv) {
  auto cluster = laneway::kafka::EmbeddedCluster::start(1);
  if (!cluster) {
    std::cerr << cluster.error().text() << '\n';
    return 69;
  }
  for (int i = 1; i < argc; ++i) {
    if (const auto created = (*cluster)->create_topic(argv[i], 2); !created) {
      std::cerr << created.error().text() << '\n';
      return 69;
    }
  }
  std::cout << (*cluster)->bootstrap() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
}
