// For builds with the address and the undefined-behaviour sanitizer only: their settings, which a run needs
// no variables for.
extern "C" {

const char* __asan_default_options() { return "detect_stack_use_after_return=1"; }
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
}
