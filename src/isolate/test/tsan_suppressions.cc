// V8 is not built with the thread sanitizer, which therefore does not see how V8's own threads synchronise.

extern "C" const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
  return "race:libnode.so\nmutex:libnode.so\n";
}
