#include "isolate/compile_main.h"

#include <cstdio>

#include "isolate/code_cache.h"
#include "isolate/module_check.h"
#include "isolate/pool_thread.h"
#include "isolate/wasm_engine.h"
#include "os/file.h"
#include "wire/wasm_binary.h"

namespace gw::isolate {
namespace {

// The pre-processor hints that rewind bodies be compiled when they are first called. The cache shall hold them compiled.
Result<Bytes> without_compilation_hints(ByteView wasm) {
  GW_TRY(auto sections, wire::read_sections(wasm));
  ByteWriter out;
  out.bytes(wasm.first(wire::kModuleHeaderBytes));
  for (const wire::Section& section : sections)
    if (section.name != "compilationHints") out.bytes(section.whole);
  return out.take();
}

Status compile_to_cache(const std::string& root) {
  GW_TRY(Bytes wasm, os::read_file("/dev/stdin", wire::kMaxModuleBytes));
  GW_TRY_VOID(check_module(wasm));
  GW_TRY(auto thread, PoolThread::make({.name = "gw-compile"}));
  GW_TRY(Bytes eager, without_compilation_hints(wasm));
  GW_TRY(auto code, thread->call([&] { return thread->heap().compile(eager); }));
  Bytes native = code->serialize();
  if (native.empty()) return fail(Kind::internal, "V8 does not give out the code it compiled");
  GW_TRY(CodeCache cache, CodeCache::open(root));
  return cache.store(sha256(wasm), native);
}

}  // namespace

int compile_only_main(std::span<const std::string> args) {
  if (args.size() != 1) {
    std::fputs("usage: godwit compile CACHE_ROOT < MODULE\n", stderr);
    return 2;
  }
  Status done = compile_to_cache(args[0]);
  if (done) return 0;
  std::fprintf(stderr, "godwit compile: %s\n", done.error().detail.c_str());
  return done.error().kind == Kind::invalid || done.error().kind == Kind::corrupt ? 2 : 1;
}

}  // namespace gw::isolate
