// For builds with the thread sanitizer only: its settings, which a run needs no variables for.
extern "C" {

const char* __tsan_default_options() { return "second_deadlock_stack=1"; }

/// The sanitizer does not see into libraries that were built without it: what they hand over between their
/// own threads looks like a race. Each line names one library and what of it is meant; nothing of ours
/// belongs here.
const char* __tsan_default_suppressions() {
  // librdkafka: its mutexes and conditions are seen (thread_c11.cpp), its atomics are not.
  // cpp-httplib, the tests' web servers: the threads of its pool hand memory over to each other.
  return "race:libcpp-httplib.so\n"
         "race:librdkafka.so\n"
         "mutex:librdkafka.so\n"
         "called_from_lib:librdkafka.so\n";
}
}
