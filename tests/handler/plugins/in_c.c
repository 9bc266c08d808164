/* A plugin in C99 that answers what a record's value says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "laneway/plugin.h"

static const laneway_host* host;
static int ends_badly;

static int is(laneway_bytes bytes, const char* text) {
  return bytes.data != NULL && bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

static void append(char* buffer, size_t size, laneway_bytes bytes) {
  const size_t used = strlen(buffer);
  if (bytes.data == NULL)
    snprintf(buffer + used, size - used, " null");
  else
    snprintf(buffer + used, size - used, " '%.*s'", (int)bytes.size, bytes.data);
}

static void describe(const laneway_record* record, laneway_failure* failure) {
  laneway_header header;
  size_t i;
  snprintf(failure->reason, failure->reason_size, "%" PRId32 " %" PRId64 " %" PRId64 " %" PRIu32,
           record->partition, record->offset, record->timestamp, record->attempt);
  append(failure->reason, failure->reason_size, record->topic);
  append(failure->reason, failure->reason_size, record->key);
  /* One more than there are: null. */
  for (i = 0; i <= host->header_count(host, record); ++i) {
    host->header(host, record, i, &header);
    append(failure->reason, failure->reason_size, header.name);
    append(failure->reason, failure->reason_size, header.value);
  }
}

static int32_t init(const laneway_host* given, const char* config, laneway_instance* instance, char* error,
                    size_t error_size) {
  host = given;
  (void)instance;
  ends_badly = strstr(config, "\"end badly\"") != NULL;
  if (strstr(config, "\"fail\"") == NULL) return 0;
  if (strstr(config, "\"silently\"") == NULL) snprintf(error, error_size, "told to fail by %s", config);
  return 1;
}

static int32_t add_result(const laneway_record* record, const char* id) {
  laneway_result result = {sizeof result, 0, {0}, {0}, {0}, NULL};
  result.id.data = id;
  result.id.size = strlen(id);
  return host->add_result(host, record, &result);
}

static laneway_verdict add_results(const laneway_record* record) {
  const laneway_header header = {{"width", 5}, {NULL, 0}};
  laneway_result result = {sizeof result, 1, {"small", 5}, {"k", 1}, {"\0", 1}, NULL};
  result.headers = &header;
  return host->add_result(host, record, &result) && add_result(record, "") ? LANEWAY_DONE : LANEWAY_REJECT;
}

static laneway_verdict handle(void* instance, const laneway_record* record, laneway_failure* failure) {
  (void)instance;
  if (is(record->value, "done")) return LANEWAY_DONE;
  if (is(record->value, "nonsense")) return 99;
  if (is(record->value, "wait")) {
    const int32_t stopped = host->wait(host, record, 60000) && host->stop_requested(host, record);
    snprintf(failure->reason, failure->reason_size, stopped ? "stopped" : "waited");
    return LANEWAY_RETRY;
  }
  if (is(record->value, "describe")) {
    describe(record, failure);
    return LANEWAY_REJECT;
  }
  if (is(record->value, "delivery id")) {
    laneway_bytes id;
    host->delivery_id(host, record, &id);
    append(failure->reason, failure->reason_size, id);
    return LANEWAY_REJECT;
  }
  if (is(record->value, "results")) return add_results(record);
  if (is(record->value, "same ids")) {
    add_result(record, "same");
    snprintf(failure->reason, failure->reason_size, "%d", (int)add_result(record, "same"));
    return LANEWAY_DONE;
  }
  if (is(record->value, "no text")) {
    const int taken = (int)add_result(record, "\n") + (int)add_result(record, "text");
    return taken == 0 ? LANEWAY_DONE : LANEWAY_REJECT;
  }
  if (is(record->value, "no results")) {
    host->add_result(host, record, NULL);
    return LANEWAY_DONE;
  }
  if (is(record->value, "part")) {
    laneway_bytes id;
    host->part(host, record, &id);
    append(failure->reason, failure->reason_size, id);
    return LANEWAY_REJECT;
  }
  if (is(record->value, "unavailable")) {
    failure->after_ms = 1500;
    snprintf(failure->reason, failure->reason_size, "it is out");
    return LANEWAY_UNAVAILABLE;
  }
  memset(failure->reason, 'x', failure->reason_size); /* no end: laneway sets one */
  return LANEWAY_RETRY;
}

static int32_t end(void* instance, char* error, size_t error_size) {
  (void)instance;
  if (ends_badly) snprintf(error, error_size, "told to end badly");
  return ends_badly;
}

const laneway_plugin* laneway_plugin_table(uint32_t host_abi_version) {
  static const laneway_plugin table = {
      LANEWAY_PLUGIN_ABI, sizeof(laneway_plugin), "in_c", "1.0", init, handle, NULL, end,
  };
  return host_abi_version == LANEWAY_PLUGIN_ABI ? &table : NULL;
}
