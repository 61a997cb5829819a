#include "isolate/test/guests.h"

#include "os/files/file.h"
#include "os/process/process.h"

namespace gw::isolate::test {
namespace {

// The mobility ABI by hand. `_start` is split into $before, which may be left in the middle of $work and is then entered again, and $after.
constexpr std::string_view kAbi = R"(
  (global $unwinding (export "godwit.unwinding") (mut i32) (i32.const 0))
  (global $rewinding (export "godwit.rewinding") (mut i32) (i32.const 0))
  (global $stack (export "godwit.g0") (mut i32) (i32.const 1024))
  (func $begin_unwind (export "godwit.begin_unwind") (global.set $unwinding (i32.const 1)))
  (func $push (param $value i64)
    (i64.store (global.get $stack) (local.get $value))
    (global.set $stack (i32.add (global.get $stack) (i32.const 8))))
  (func $pop (result i64) (local $value i64)
    (global.set $stack (i32.sub (global.get $stack) (i32.const 8)))
    (local.set $value (i64.load (global.get $stack)))
    (i64.store (global.get $stack) (i64.const 0))
    (local.get $value))
)";

constexpr std::string_view kCellPoll = R"((func $poll (result i32) (i32.load (i32.const 16))))";
constexpr std::string_view kCounterPoll = R"(
  (global $counter (export "godwit.counter") (mut i32) (i32.const 0))
  (func $poll (result i32)
    (global.set $counter (i32.sub (global.get $counter) (i32.const 1)))
    (i32.lt_s (global.get $counter) (i32.const 0)))
)";

constexpr std::string_view kSummingImports = R"(
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
)";

constexpr std::string_view kSumming = R"(
  (func $sum (param $n i64) (result i64) (local $i i64) (local $total i64)
    (if (global.get $rewinding) (then
      (global.set $rewinding (i32.const 0))
      (local.set $total (call $pop))
      (local.set $i (call $pop))
      (local.set $n (call $pop))))
    (block $stop
      (loop $turn
        (br_if $stop (call $poll))
        (if (i64.lt_u (local.get $i) (local.get $n)) (then
          (local.set $total (i64.add (local.get $total) (local.get $i)))
          (local.set $i (i64.add (local.get $i) (i64.const 1)))
          (br $turn))))
      (return (local.get $total)))
    (call $begin_unwind)
    (call $push (local.get $n))
    (call $push (local.get $i))
    (call $push (local.get $total))
    (i64.const 0))
  (func $digit (param $value i64) (result i32)
    (i32.load8_u (i32.add (i32.const 48) (i32.wrap_i64 (i64.and (local.get $value) (i64.const 15))))))
  (func $format (param $value i64) (local $at i32)
    (local.set $at (i32.const 76))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at) (call $digit (local.get $value)))
      (local.set $value (i64.shr_u (local.get $value) (i64.const 4)))
      (br_if $next (i32.gt_u (local.get $at) (i32.const 68)))))
  (func $turns (result i64)
    (drop (call $args_sizes_get (i32.const 32) (i32.const 36)))
    (i64.mul (i64.load32_u (i32.const 32)) (i64.const 1000000)))
  (func $print (param $total i64)
    (call $format (local.get $total))
    (i32.store (i32.const 40) (i32.const 64))
    (i32.store (i32.const 44) (i32.const 13))
    (drop (call $fd_write (i32.const 1) (i32.const 40) (i32.const 1) (i32.const 36))))
  (func (export "_start") (local $total i64) (local $site i64)
    (if (global.get $rewinding) (then (local.set $site (call $pop))))
    (if (i64.eqz (local.get $site))
      (then
        (local.set $total (call $sum (if (result i64) (global.get $rewinding) (then (i64.const 0)) (else (call $turns)))))
        (if (global.get $unwinding) (then (call $push (i64.const 0)) (return))))
      (else
        (global.set $rewinding (i32.const 0))
        (local.set $total (call $pop))))
    (call $print (local.get $total))
    (if (global.get $unwinding) (then (call $push (local.get $total)) (call $push (i64.const 1)))))
  (data (i32.const 48) "0123456789abcdefsum=????????\0a")
)";

std::string memory_of(unsigned pages) { return fmt::format(R"((memory (export "memory") {}))", pages); }

}  // namespace

Bytes assemble(std::string_view wat) {
  auto folder = os::TempDir::make();
  auto text = folder->path() / "guest.wat", binary = folder->path() / "guest.wasm";
  EXPECT_TRUE(os::write_file_atomic(text, as_bytes(wat)));
  auto result = os::run_process({.argv = {"wat2wasm", "--debug-names", text.string(), "-o", binary.string()}});
  EXPECT_TRUE(result && result->succeeded()) << (result ? result->err : result.error().detail);
  auto bytes = os::read_file(binary, 1u << 20);
  EXPECT_TRUE(bytes);
  return bytes ? *bytes : Bytes{};
}

Bytes with_info(Bytes wasm, const wire::ModuleInfo& info) {
  ByteWriter content;
  content.leb_u32(static_cast<std::uint32_t>(wire::kModuleInfoSection.size()));
  content.bytes(as_bytes(wire::kModuleInfoSection));
  content.bytes(wire::encode(info));
  ByteWriter section;
  section.u8(0);
  section.leb_u32(static_cast<std::uint32_t>(content.size()));
  section.bytes(content.view());
  wasm.insert(wasm.end(), section.view().begin(), section.view().end());
  return wasm;
}

wire::ModuleInfo cell_info() {
  return {.level = wire::Level::fine,
          .poll = wire::Poll::cell,
          .poll_cell = 16,
          .unwind_base = 1024,
          .unwind_bytes = 4096,
          .globals = {wire::ValueType::i32}};
}

wire::ModuleInfo counter_info() {
  return {.level = wire::Level::fine, .poll = wire::Poll::counter, .unwind_bytes = 4096, .globals = {wire::ValueType::i32}};
}

Bytes summing_guest(wire::Poll poll) {
  bool cell = poll == wire::Poll::cell;
  Bytes wasm =
      assemble(fmt::format("(module {} {} {} {} {})", kSummingImports, memory_of(2), kAbi, cell ? kCellPoll : kCounterPoll, kSumming));
  return with_info(std::move(wasm), cell ? cell_info() : counter_info());
}

Bytes mobile_guest(std::string_view imports, std::string_view body, const wire::ModuleInfo& info, unsigned pages) {
  return with_info(assemble(fmt::format("(module {} {} {} {})", imports, memory_of(pages), kAbi, body)), info);
}

Bytes plain_guest(std::string_view body) { return assemble(fmt::format("(module {})", body)); }

Engine& engine() {
  static const std::unique_ptr<Engine> kEngine = [] {
    auto made = Engine::make();
    GW_ASSERT(made.has_value());
    return *std::move(made);
  }();
  return *kEngine;
}

std::shared_ptr<const Module> load(Bytes wasm) {
  auto module = engine().load(std::move(wasm));
  EXPECT_TRUE(module) << module.error().detail;
  GW_ASSERT(module.has_value());
  return *module;
}

World::World() {
  auto made = engine().make_thread();
  GW_ASSERT(made.has_value());
  thread = *std::move(made);
}

std::unique_ptr<Isolate> World::make(std::shared_ptr<const Module> module, IsolateConfig config) {
  auto isolate = Isolate::make(engine(), *thread, std::move(module), std::move(config), host());
  EXPECT_TRUE(isolate) << isolate.error().detail;
  GW_ASSERT(isolate.has_value());
  return *std::move(isolate);
}

}  // namespace gw::isolate::test
