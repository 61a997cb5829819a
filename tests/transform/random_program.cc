#include "transform/random_program.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <type_traits>

#include "base/check.h"
#include "transform/body_writer.h"

namespace gw::transform {
namespace {

// The common part of all programs. The text buffer is at 64, its vector at 16, the vector of the input at 48.
constexpr const char* kPrelude = R"((module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "godwit" "checkpoint" (func $checkpoint))
  (memory $memory {pages} {max_pages})
  (data (i32.const 16) "\40\00\00\00\11\00\00\00")
  (data (i32.const 48) "\80\00\00\00\08\00\00\00")
  (data (i32.const 1024) "{scratch}")
  (global $hash (mut i64) (i64.const 1))
  (global $fuel (mut i32) (i32.const {fuel}))
  (global $growth (mut i32) (i32.const {growth}))
  {reservation}
  (export "memory" (memory $memory))
  (func $mix (param $x i64)
    (global.set $hash (i64.mul (i64.rotl (i64.xor (global.get $hash) (local.get $x)) (i64.const 29)) (i64.const -7046029254386353131))))
  (func $mix_vector (param $x v128)
    (call $mix (i64x2.extract_lane 0 (local.get $x)))
    (call $mix (i64x2.extract_lane 1 (local.get $x))))
  (func $finite32 (param $x f32) (result f32)
    (select (local.get $x) (f32.const 0) (f32.eq (f32.sub (local.get $x) (local.get $x)) (f32.const 0))))
  (func $finite64 (param $x f64) (result f64)
    (select (local.get $x) (f64.const 0) (f64.eq (f64.sub (local.get $x) (local.get $x)) (f64.const 0))))
  (func $print (local $i i32) (local $nibble i32)
    (local.set $i (i32.const 16))
    (loop $next
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (local.set $nibble (i32.and (i32.const 15)
        (i32.wrap_i64 (i64.shr_u (global.get $hash) (i64.extend_i32_u (i32.mul (local.get $i) (i32.const 4)))))))
      (i32.store8 offset=64 (local.get $i)
        (i32.add (local.get $nibble) (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $nibble) (i32.const 10)))))
      (br_if $next (local.get $i)))
    (i32.store8 offset=80 (i32.const 0) (i32.const 10))
    (drop (call $fd_write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 24))))
))";

constexpr const char* kReservation = R"(
  (global $poll_cell i32 (i32.const {}))
  (global $unwind_stack i32 (i32.const {}))
  (export "godwit_poll_cell" (global $poll_cell))
  (export "godwit_unwind_stack" (global $unwind_stack)))";

constexpr std::size_t kScratchDataBytes = 256;

BinaryenModuleRef parse_prelude(const ProgramPlan& plan, Rng& rng) {
  const bool reserved = plan.layout == Layout::reserved;
  const unsigned pages = 1 + (reserved ? memory_map::kUnwindPages : 0);
  std::string scratch;
  for (std::size_t i = 0; i < kScratchDataBytes; ++i) scratch += fmt::format("\\{:02x}", rng.below(256));
  const std::string text = fmt::format(
      fmt::runtime(kPrelude), fmt::arg("pages", pages), fmt::arg("max_pages", pages + memory_map::kMaxGrowth), fmt::arg("scratch", scratch),
      fmt::arg("fuel", 20 + rng.below(300)), fmt::arg("growth", memory_map::kMaxGrowth),
      fmt::arg("reservation",
               reserved ? fmt::format(fmt::runtime(kReservation), memory_map::kPollCell, memory_map::kUnwindStack) : std::string()));
  return BinaryenModuleParse(text.c_str());
}

// Calls every function with its first locals, a few times over.
void add_start(const Builder& build, const ProgramPlan& plan, Rng& rng) {
  std::vector<Expr> body;
  for (std::uint64_t rounds = 1 + rng.below(2); rounds > 0; --rounds) {
    for (const FunctionPlan& function : plan.functions) {
      const Signature& signature = plan.signature_of(function);
      std::vector<Expr> arguments;
      for (Type param : signature.params) arguments.push_back(build.zero(param));
      Expr call = build.call(function.name, std::move(arguments), signature.result);
      body.push_back(signature.result == BinaryenTypeNone() ? call : build.drop(call));
      if (one_in(rng, 2)) body.push_back(build.call("print", {}, BinaryenTypeNone()));
    }
  }
  body.push_back(build.call("print", {}, BinaryenTypeNone()));
  build.add({"_start", BinaryenTypeNone(), BinaryenTypeNone(), {}, build.block(nullptr, std::move(body), BinaryenTypeNone())});
  BinaryenAddFunctionExport(build.module(), "_start", "_start");
}

void add_table(const Builder& build, const ProgramPlan& plan) {
  BinaryenAddTable(build.module(), "table", plan.table_size, plan.table_size, BinaryenTypeFuncref());
  std::vector<const char*> names;
  for (const std::string& entry : plan.table_entries) names.push_back(entry.c_str());
  BinaryenAddActiveElementSegment(build.module(), "table", "entries", names.data(), static_cast<BinaryenIndex>(names.size()), build.i32(0));
}

Bytes write(BinaryenModuleRef module) {
  const BinaryenModuleAllocateAndWriteResult written = BinaryenModuleAllocateAndWrite(module, nullptr);
  const std::unique_ptr<void, decltype(&std::free)> binary(written.binary, &std::free);
  const auto* bytes = static_cast<const std::uint8_t*>(written.binary);
  return Bytes(bytes, bytes + written.binaryBytes);
}

}  // namespace

RandomProgram make_random_program(std::uint64_t seed) {
  Rng rng(seed);
  const ProgramPlan plan = plan_program(rng);
  const std::unique_ptr<std::remove_pointer_t<BinaryenModuleRef>, decltype(&BinaryenModuleDispose)> module(parse_prelude(plan, rng),
                                                                                                           &BinaryenModuleDispose);
  BinaryenModuleSetFeatures(module.get(), BinaryenFeatureMutableGlobals() | BinaryenFeatureBulkMemory() | BinaryenFeatureSignExt() |
                                              BinaryenFeatureNontrappingFPToInt() | BinaryenFeatureSIMD128());
  const Builder build(module.get());
  for (const GlobalPlan& global : plan.globals)
    BinaryenAddGlobal(module.get(), global.name.c_str(), global.type, true, build.zero(global.type));
  for (const FunctionPlan& function : plan.functions) build.add(BodyWriter(build, plan, rng, function).write());
  add_table(build, plan);
  add_start(build, plan, rng);
  GW_ASSERT(BinaryenModuleValidate(module.get()));
  BinaryenSetDebugInfo(true);
  return {write(module.get()), plan.layout};
}

}  // namespace gw::transform
