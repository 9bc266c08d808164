// usage: client_facts list          a line for each fact: name, needs, sentence, where it is relied on (tabs
// between)
//        client_facts NAME          measures it: name, version, "holds" or "does not hold", figure
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "facts.h"

using namespace client_facts;

namespace {

const std::vector<const std::vector<Fact>*> groups = {&fetching_facts, &queue_facts,     &group_facts,
                                                      &position_facts, &producing_facts, &ending_facts,
                                                      &setting_facts};

void list() {
  for (const auto* group : groups)
    for (const auto& fact : *group)
      std::printf("%s\t%s\t%s\t%s\n", fact.name, fact.needs == Fact::Needs::mock ? "mock" : "kafka",
                  fact.sentence, fact.relied_on);
}

void measure(const Fact& fact) {
  const Seen seen = fact.measure();
  std::printf("%s\t%s\t%s\t%s\n", fact.name, rd_kafka_version_str(), seen.holds ? "holds" : "does not hold",
              seen.figure.c_str());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) give_up("usage: client_facts list | NAME");
  const std::string_view name = arguments[1];
  int status = name == "list" ? 0 : 64;
  if (name == "list") list();
  for (const auto* group : groups)
    for (const auto& fact : *group)
      if (fact.name == name) {
        measure(fact);
        status = 0;
      }
  if (status != 0) std::fprintf(stderr, "there is no fact %s\n", arguments[1]);
  std::fflush(stdout);
  std::_Exit(status);  // clients that cannot be freed are left behind
}
