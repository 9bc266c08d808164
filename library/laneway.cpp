#include "laneway/laneway.hpp"

#include <atomic>
#include <csignal>

#include "app/cli/terminal.h"
#include "app/process/signals.h"
#include "app/run/serve.h"
#include "config/loader.h"
#include "handler/plugin/function_handler.h"

namespace laneway {

struct Service::Implementation {
  Options options;
  Work work;
  app::Stop stop;

  config::Loaded load() const {
    config::Source source{options.file, options.sets, config::process_environment()};
    source.own_handler = true;
    if (options.text.empty()) return config::load(source);
    source.file = options.file.empty() ? "configuration" : options.file;
    return config::load_text(options.text, source);
  }
};

Service::Service(Options options, Work work)
    : implementation_(new Implementation{std::move(options), std::move(work), {}}) {
  std::signal(SIGPIPE, SIG_IGN);
  if (implementation_->options.signals) app::block_signals();
}

Service::~Service() = default;

int Service::run() {
  auto& self = *implementation_;
  const auto loaded = self.load();
  if (!loaded.config) return cli::refused(loaded);
  auto handler = handler::make_function_handler(std::move(self.work), self.options.timeout);
  return app::serve(loaded, self.options.file,
                    {std::move(handler), [&self] { return self.load(); }, &self.stop, self.options.signals});
}

void Service::stop() { implementation_->stop.request(); }

}  // namespace laneway
