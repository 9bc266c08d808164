/* The interface between laneway and a plugin: a shared library that does the work for Kafka records.
 *
 * C99 and C++; for C++ there is laneway/plugin.hpp on top of it, which is shorter to use.
 *
 * A plugin exports one function, laneway_plugin_table. It returns a table of functions that lives as long as
 * the library is loaded. laneway calls init once with the plugin's section of the configuration, then handle
 * (or submit) for records, then shutdown once when no record is at work any more. The library stays loaded
 * until the process ends.
 *
 * Threads: handle and submit are called by several threads at once; the plugin guards what it shares. init
 * and shutdown are called by one thread, before and after all others. The functions of laneway_host may be
 * called from any thread, from the beginning of init to the end of shutdown.
 *
 * Memory: what laneway passes belongs to laneway. Records, with everything that they point to, are valid
 * until they are answered; texts for the duration of the call. Texts are UTF-8 and end with a zero byte.
 *
 * Exceptions must not leave the plugin's functions. Trust: a plugin is part of the process. If it crashes,
 * laneway crashes; records that were not committed are then handled again after the restart.
 *
 * Versions: laneway loads plugins whose abi_version is its own LANEWAY_PLUGIN_ABI. Within one version,
 * structs only grow at their end; struct_size says how much of one is there. So a plugin runs with a newer
 * laneway of the same version unchanged. A plugin that wants to use what an older laneway may not have
 * compares host->struct_size.
 */
#ifndef LANEWAY_PLUGIN_H
#define LANEWAY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LANEWAY_PLUGIN_ABI 1u

/* A run of bytes, not ended by a zero byte. data is NULL for null, which in Kafka is not the same as empty.
 */
typedef struct laneway_bytes {
  const char* data;
  size_t size;
} laneway_bytes;

/* A record to be handled. */
typedef struct laneway_record {
  laneway_bytes topic;
  laneway_bytes key;
  laneway_bytes value; /* null: a tombstone */
  int64_t offset;
  int64_t timestamp; /* milliseconds since 1970 in UTC; -1: none */
  int32_t partition;
  uint32_t attempt; /* from 1 */
} laneway_record;

typedef struct laneway_header {
  laneway_bytes name;
  laneway_bytes value;
} laneway_header;

/* What became of a record. */
typedef int32_t laneway_verdict;
#define LANEWAY_DONE 0        /* processed: its offset may be committed */
#define LANEWAY_RETRY 1       /* this record failed now: it is tried again later */
#define LANEWAY_REJECT 2      /* this record can never work */
#define LANEWAY_UNAVAILABLE 3 /* what the plugin talks to is out; not this record's fault */

/* What there is to say beside a verdict other than LANEWAY_DONE. laneway fills it in before the call. */
typedef struct laneway_failure {
  int64_t after_ms;   /* in: -1; out: the delay before the next attempt, -1: laneway's back-off */
  char* reason;       /* out: for people, what went wrong; in: empty */
  size_t reason_size; /* of the buffer, with the zero byte at the end */
} laneway_failure;

/* Records to be handled together. */
typedef struct laneway_batch {
  uint64_t task;  /* for laneway_host.answer; never used again for another batch */
  uint32_t count; /* at least 1 */
  /* Not 0: the records of one key or partition, in order. Handle them one after the other. After one that is
   * not done, handle and answer none of the rest: laneway gives them again later. */
  uint32_t in_order;
  const laneway_record* const* records;
} laneway_batch;

#define LANEWAY_LOG_DEBUG 1
#define LANEWAY_LOG_INFO 2
#define LANEWAY_LOG_WARN 3
#define LANEWAY_LOG_ERROR 4

/* What laneway does for a plugin. Each function takes this struct as its first argument. */
typedef struct laneway_host {
  uint32_t abi_version;
  uint32_t struct_size;

  /* One line to laneway's log. Control characters are escaped, a long text is cut, and of many alike a few
   * are written with how often there were more. */
  void (*log)(const struct laneway_host* host, int32_t level, const char* text);

  /* A record's headers, numbered from 0; for a number that is too large the name is null. One thread at a
   * time for one record. */
  size_t (*header_count)(const struct laneway_host* host, const laneway_record* record);
  void (*header)(const struct laneway_host* host, const laneway_record* record, size_t index,
                 laneway_header* header);

  /* Not 0: the attempt's time is over (handler.plugin.timeout), or laneway stops. Then answer soon: retry, if
   * the work is not done. Until it is answered, the record keeps its place among lanes.workers. */
  int32_t (*stop_requested)(const struct laneway_host* host, const laneway_record* record);
  /* Sleeps for so long, or until a stop is requested. Returns what stop_requested does. */
  int32_t (*wait)(const struct laneway_host* host, const laneway_record* record, int64_t milliseconds);

  /* Answers record `index` of a batch, from any thread, also before submit returns. `reason` may be NULL;
   * after_ms is -1 for the back-off. Returns 0 and logs an error when the record was answered before: the
   * first answer holds. */
  int32_t (*answer)(const struct laneway_host* host, uint64_t task, uint32_t index, laneway_verdict verdict,
                    int64_t after_ms, const char* reason);
  /* Answers what is not answered yet of a batch: retry, with this reason. Does nothing when all is answered.
   */
  void (*give_up)(const struct laneway_host* host, uint64_t task, const char* reason);

  /* What tells the record from all others, the same whenever it is handled again: cluster, topic, partition
   * and offset of where it was first written, with / between them. One thread at a time for one record. The
   * struct of an older laneway may end before this: compare struct_size. */
  void (*delivery_id)(const struct laneway_host* host, const laneway_record* record, laneway_bytes* id);
} laneway_host;

/* What init says about the plugin. */
typedef struct laneway_instance {
  void* data; /* passed to the other functions; in: NULL */
  /* For submit: records of one batch, at most. In: 1. A batch is as many as fit of the records that were
   * taken from the topic together and wait; nothing waits for a batch to fill up. */
  uint32_t most_per_batch;
} laneway_instance;

/* A plugin. init and shutdown may be NULL; exactly one of handle and submit is not. */
typedef struct laneway_plugin {
  uint32_t abi_version; /* LANEWAY_PLUGIN_ABI */
  uint32_t struct_size; /* sizeof(laneway_plugin) */
  const char* name;     /* for logs and errors; one word */
  const char* version;  /* likewise */

  /* `config` is the section handler.plugin.config as JSON text, {} when there is none. Returns 0, or anything
   * else after having written to `error` what is wrong and what to do: laneway then ends with exit code 78.
   */
  int32_t (*init)(const laneway_host* host, const char* config, laneway_instance* instance, char* error,
                  size_t error_size);

  /* Handles one record and returns its verdict. May block. */
  laneway_verdict (*handle)(void* instance, const laneway_record* record, laneway_failure* failure);

  /* Takes records and answers each through laneway_host.answer, now or later. `batch` is valid until submit
   * has returned and every record is answered. */
  void (*submit)(void* instance, const laneway_batch* batch);

  /* Ends the plugin: no thread of it calls laneway any more after the return. Returns 0, or anything else
   * after having written to `error` what went wrong, for the log. Not called when laneway has to end with
   * records still at work. */
  int32_t (*shutdown)(void* instance, char* error, size_t error_size);
} laneway_plugin;

#if defined(__GNUC__)
#define LANEWAY_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define LANEWAY_PLUGIN_EXPORT
#endif

/* The function to export. `host_abi_version` is laneway's; a plugin that knows several versions may choose.
 */
LANEWAY_PLUGIN_EXPORT const laneway_plugin* laneway_plugin_table(uint32_t host_abi_version);

#ifdef __cplusplus
}
#endif

#endif
