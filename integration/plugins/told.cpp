// Does as a file says (told.h): the configuration is {"mode": PATH}.
#include "told.h"

namespace {

class Told final : public laneway::RecordPlugin {
 public:
  Told(laneway::Host, std::string_view config) {
    const auto begin = config.find(": \"");
    const auto end = config.rfind('"');
    if (begin == config.npos || end < begin + 3) throw std::invalid_argument("mode: a path is needed");
    path_ = std::string(config.substr(begin + 3, end - begin - 3));
  }

  laneway::Answer handle(const laneway::Record& record) override { return as_told(path_, record); }

 private:
  std::string path_;
};

}  // namespace

LANEWAY_PLUGIN("told", "1.0", Told)
