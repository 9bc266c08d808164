#include "app/cli/terminal.h"
#include "app/process/signals.h"
#include "app/run/serve.h"
#include "app/verbs.h"
#include "base/shortage.h"

namespace laneway::app {

int run(const config::Source& source) {
  const auto loaded = config::load(source);
  if (!loaded.config) return cli::refused(loaded);
  raise_open_files_limit();
  block_signals();
  return serve(loaded, source.file, {.handler = nullptr, .load = [&source] { return config::load(source); }});
}

}  // namespace laneway::app
