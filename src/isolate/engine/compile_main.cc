#include "isolate/engine/compile_main.h"

#include <unistd.h>

#include <cstdio>

#include "isolate/engine/code_cache.h"
#include "isolate/engine/pool_thread.h"
#include "isolate/engine/wasm_engine.h"
#include "isolate/module_check.h"
#include "os/files/file.h"
#include "os/files/io.h"
#include "wire/image/image.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::isolate {
namespace {

Status compile(CodeKind kind) {
  GW_TRY(Bytes wasm, os::read_to_end(STDIN_FILENO, "standard input", wire::kMaxModuleBytes));
  GW_TRY_VOID(check_module(wasm));
  // The pre-processor hints that rewind bodies be compiled when they are first called. A program that is restored begins with them.
  if (kind == CodeKind::restore) {
    GW_TRY(wasm, wire::without_custom_section(wasm, "compilationHints"));
  }
  GW_TRY(auto thread, PoolThread::make({.name = "gw-compile"}));
  GW_TRY(auto code, thread->call([&] { return thread->heap().compile(wasm); }));
  Bytes native = code->serialize();
  if (native.empty()) return fail(Kind::internal, "V8 does not give out the code it compiled");
  return os::write_fully(STDOUT_FILENO, native);
}

}  // namespace

int compile_only_main(std::span<const std::string> args) {
  auto kind = args.size() == 1 ? parse_code_kind(args[0]) : std::nullopt;
  if (!kind) {
    std::fputs("usage: start|restore < MODULE > CODE\n", stderr);
    return 2;
  }
  Status done = compile(*kind);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().detail.c_str());
  return done.error().kind == Kind::invalid || done.error().kind == Kind::corrupt ? 2 : 1;
}

}  // namespace gw::isolate
