#include "handler/plugin/function_handler.h"

#include "handler/plugin/plugin_handler.h"

namespace laneway::handler {
namespace {

struct Function {
  std::function<Answer(const laneway::Record&)> work;
  const laneway_host* host = nullptr;

  static std::int32_t init(const laneway_host* host, const char*, laneway_instance* instance, char*,
                           std::size_t) noexcept {
    static_cast<Function*>(instance->data)->host = host;
    return 0;
  }
  static laneway_verdict handle(void* data, const laneway_record* record, laneway_failure* failure) noexcept {
    auto& self = *static_cast<Function*>(data);
    return plugin_detail::handle(self.work, self.host, record, failure);
  }
  static std::int32_t shutdown(void* data, char*, std::size_t) noexcept {
    delete static_cast<Function*>(data);
    return 0;
  }
};

constexpr laneway_plugin table{LANEWAY_PLUGIN_ABI, sizeof(laneway_plugin), "function", "",
                               Function::init,     Function::handle,       nullptr,    Function::shutdown};

}  // namespace

std::unique_ptr<Handler> make_function_handler(std::function<Answer(const laneway::Record&)> work,
                                               Duration timeout) {
  auto plugin = Plugin::start(table, "{}", new Function{std::move(work)});
  return PluginHandler::make(std::move(plugin).value(), timeout);
}

}  // namespace laneway::handler
