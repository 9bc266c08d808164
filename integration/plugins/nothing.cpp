// Does nothing: what a plugin costs.
#include "laneway/plugin.hpp"

namespace {

laneway::Answer nothing(const laneway::Record&) { return laneway::Answer::done(); }

}  // namespace

LANEWAY_PLUGIN_FUNCTION("nothing", "1.0", nothing)
