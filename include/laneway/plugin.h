/* The interface between laneway and a plugin: a shared library that does the work for Kafka records.
 *
 * For C99 and C++. laneway/plugin.hpp is a C++ interface on top of this one, and shorter to use.
 *
 * A plugin exports one function, laneway_plugin_table. It returns a table of functions that lives as long as
 * the library is loaded. laneway calls init once with the plugin's section of the configuration, then handle
 * (or submit) for records, and finally shutdown once, when no record is running any more. The library stays
 * loaded until the process ends.
 *
 * Threads: several threads call handle and submit at once; the plugin protects its shared data. One thread
 * calls init before, and shutdown after, all other functions. The functions of laneway_host may be
 * called from any thread, from the beginning of init to the end of shutdown.
 *
 * Memory: everything that laneway passes belongs to laneway. Records, with everything that they point to, are
 * valid until they are answered; texts are valid for the duration of the call. Texts are UTF-8 and end with a
 * zero byte.
 *
 * Exceptions must not leave the plugin's functions. Trust: a plugin is part of the process. If it crashes,
 * laneway crashes; records that were not committed are then handled again after the restart.
 *
 * Versions: laneway loads plugins whose abi_version is its own LANEWAY_PLUGIN_ABI. Within one version,
 * structs only grow at their end, and struct_size is the size that the other side knows. So a plugin runs
 * unchanged with a newer laneway of the same version. A plugin that uses a function which an older laneway
 * may not have must compare host->struct_size first.
 */
#ifndef LANEWAY_PLUGIN_H
#define LANEWAY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LANEWAY_PLUGIN_ABI 1u

/* A sequence of bytes that does not end with a zero byte. data is NULL for null, which Kafka distinguishes
 * from empty. */
typedef struct laneway_bytes {
  const char* data;
  size_t size;
} laneway_bytes;

/* A record to be handled. */
typedef struct laneway_record {
  laneway_bytes topic;
  laneway_bytes key;
  laneway_bytes value; /* null for a tombstone */
  int64_t offset;
  int64_t timestamp; /* milliseconds since 1970 in UTC; -1 if the record has none */
  int32_t partition;
  uint32_t attempt; /* from 1 */
} laneway_record;

typedef struct laneway_header {
  laneway_bytes name;
  laneway_bytes value;
} laneway_header;

/* The result of handling a record. */
typedef int32_t laneway_verdict;
#define LANEWAY_DONE 0        /* processed: its offset may be committed */
#define LANEWAY_RETRY 1       /* this attempt failed: the record is tried again later */
#define LANEWAY_REJECT 2      /* this record can never work */
#define LANEWAY_UNAVAILABLE 3 /* the downstream of the plugin is out; the record is not the cause */

/* A result of a record's work, for the pool that is next (the key `then` of a pool). */
typedef struct laneway_result {
  uint32_t struct_size; /* sizeof(laneway_result) */
  uint32_t header_count;
  /* Names the sub-job if a record has several results: text of at most 256 bytes without a '/', once among
   * the results of a record. If empty or null, the number of the result, from 0. */
  laneway_bytes id;
  laneway_bytes key;   /* null: the record's key */
  laneway_bytes value; /* may be null */
  /* Replace the record's headers of the same names; the others stay. */
  const laneway_header* headers;
} laneway_result;

/* Details of a verdict other than LANEWAY_DONE. laneway sets the fields before the call. */
typedef struct laneway_failure {
  int64_t after_ms;   /* in: -1; out: the delay before the next attempt, or -1 for laneway's back-off */
  char* reason;       /* in: empty; out: human-readable, what went wrong */
  size_t reason_size; /* the size of the buffer, including the zero byte at the end */
} laneway_failure;

/* Records to be handled together. */
typedef struct laneway_batch {
  uint64_t task;  /* for laneway_host.answer; never reused for another batch */
  uint32_t count; /* at least 1 */
  /* Not 0 if the records are of one key or partition, in order. Handle them one after the other. After a
   * record that is not done, handle and answer none of the rest: laneway passes them again later. */
  uint32_t in_order;
  const laneway_record* const* records;
} laneway_batch;

#define LANEWAY_LOG_DEBUG 1
#define LANEWAY_LOG_INFO 2
#define LANEWAY_LOG_WARN 3
#define LANEWAY_LOG_ERROR 4

/* The functions that laneway provides to a plugin. Each function takes this struct as its first argument. */
typedef struct laneway_host {
  uint32_t abi_version;
  uint32_t struct_size;

  /* Writes one line to laneway's log. Control characters are escaped, a long text is cut, and of many similar
   * lines only a few are written, with the number of omitted lines. */
  void (*log)(const struct laneway_host* host, int32_t level, const char* text);

  /* A record's headers, numbered from 0. If the number is too large, the name is null. One thread at a time
   * for one record. */
  size_t (*header_count)(const struct laneway_host* host, const laneway_record* record);
  void (*header)(const struct laneway_host* host, const laneway_record* record, size_t index,
                 laneway_header* header);

  /* Returns a value other than 0 if the attempt's time is over (handler.plugin.timeout), or laneway stops.
   * Then answer soon: LANEWAY_RETRY if the work is not done. Until the record is answered, the record
   * occupies one of lanes.workers. */
  int32_t (*stop_requested)(const struct laneway_host* host, const laneway_record* record);
  /* Sleeps for this time, or until a stop is requested. Returns the same as stop_requested. */
  int32_t (*wait)(const struct laneway_host* host, const laneway_record* record, int64_t milliseconds);

  /* Answers record `index` of a batch, from any thread, even before submit returns. `reason` may be NULL;
   * after_ms is -1 for laneway's back-off. Returns 0 and logs an error if the record was answered before: the
   * first answer holds. */
  int32_t (*answer)(const struct laneway_host* host, uint64_t task, uint32_t index, laneway_verdict verdict,
                    int64_t after_ms, const char* reason);
  /* Answers all records of a batch that are not answered yet with LANEWAY_RETRY and this reason. Does nothing
   * if all records are answered. */
  void (*give_up)(const struct laneway_host* host, uint64_t task, const char* reason);

  /* An id that distinguishes the record from all others, and is the same whenever the record is handled
   * again: cluster, topic, partition and offset of the place where the record was first written, separated by
   * /. One thread at a time for one record. The struct of an older laneway may end before this field: compare
   * struct_size. */
  void (*delivery_id)(const struct laneway_host* host, const laneway_record* record, laneway_bytes* id);

  /* The struct of an older laneway may end before the following fields: compare struct_size. */

  /* The id of the sub-job that the record is; null if the record is whole. */
  void (*part)(const struct laneway_host* host, const laneway_record* record, laneway_bytes* id);
  /* Adds a result to a record, before the record is answered with LANEWAY_DONE; another verdict drops the
   * results. With `result` NULL the record has an empty list of results: nothing is left to do. A record that
   * is done without any of these calls goes to the next pool as it is. The results are copied; without a next
   * pool they are dropped. One thread at a time for one record. Returns 0 and logs an error if the result is
   * invalid, or if the results of the record are more than 10,000 or larger than 16 MiB: the record is then
   * retried, whatever its answer is. */
  int32_t (*add_result)(const struct laneway_host* host, const laneway_record* record,
                        const laneway_result* result);
} laneway_host;

/* The result of init. */
typedef struct laneway_instance {
  void* data; /* in: NULL; out: passed to the other functions */
  /* For submit: the maximum number of records in one batch; in: 1. A batch has as many waiting records as
   * fit, among those that were taken from the topic together; no record waits for a batch to fill up. */
  uint32_t most_per_batch;
} laneway_instance;

/* A plugin. init and shutdown may be NULL; exactly one of handle and submit must be set. */
typedef struct laneway_plugin {
  uint32_t abi_version; /* LANEWAY_PLUGIN_ABI */
  uint32_t struct_size; /* sizeof(laneway_plugin) */
  const char* name;     /* for logs and errors; one word */
  const char* version;  /* for logs and errors; one word */

  /* Starts the plugin. `config` is the section handler.plugin.config as JSON text; {} if the section is
   * missing. Returns 0 if the plugin has started. Otherwise it writes to `error` what is wrong and what to
   * do, and returns another value: laneway then ends with exit code 78. */
  int32_t (*init)(const laneway_host* host, const char* config, laneway_instance* instance, char* error,
                  size_t error_size);

  /* Handles one record and returns its verdict. May block. */
  laneway_verdict (*handle)(void* instance, const laneway_record* record, laneway_failure* failure);

  /* Takes records and answers each with laneway_host.answer, now or later. `batch` is valid until submit
   * has returned and every record is answered. */
  void (*submit)(void* instance, const laneway_batch* batch);

  /* Ends the plugin: none of its threads may call laneway after the return. Returns 0 on success. Otherwise
   * it writes to `error` what went wrong, for the log, and returns another value. Not called if laneway must
   * end while records are still running. */
  int32_t (*shutdown)(void* instance, char* error, size_t error_size);
} laneway_plugin;

#if defined(__GNUC__)
#define LANEWAY_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define LANEWAY_PLUGIN_EXPORT
#endif

/* The function to export. `host_abi_version` is the version of laneway; a plugin that supports several
 * versions may choose. */
LANEWAY_PLUGIN_EXPORT const laneway_plugin* laneway_plugin_table(uint32_t host_abi_version);

#ifdef __cplusplus
}
#endif

#endif
