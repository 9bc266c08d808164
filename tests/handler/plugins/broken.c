/* Tables that laneway must refuse; which one is defined by the build. */
#include <stddef.h>

#include "laneway/plugin.h"

#if defined(NO_SYMBOL)
int something_else(void);
int something_else(void) { return 0; }
#else
static laneway_verdict handle(void* instance, const laneway_record* record, laneway_failure* failure) {
  (void)instance, (void)record, (void)failure;
  return LANEWAY_DONE;
}
#if defined(WRONG_VERSION)
static const laneway_plugin table = {7, sizeof(laneway_plugin), "old", "1.0", NULL, handle, NULL, NULL};
#else
static const laneway_plugin table = {
    LANEWAY_PLUGIN_ABI, sizeof(laneway_plugin), "idle", "1.0", NULL, NULL, NULL, NULL};
#endif
const laneway_plugin* laneway_plugin_table(uint32_t host_abi_version) {
  (void)host_abi_version, (void)handle;
  return &table;
}
#endif
