#include "prep/mobility/guest_threads.h"

#include <array>
#include <string_view>
#include <vector>

#include "prep/mobility/two_bodies.h"
#include "wire/wasm/wasi_imports.h"

namespace gw::prep {
namespace {

constexpr std::string_view kRun = "thread_run";
constexpr std::string_view kSwitch = "thread_switch";
constexpr std::string_view kFrames = "thread_frames";

// The values of gw$switching.
constexpr std::int32_t kNoSwitch = 0;
constexpr std::int32_t kLeaving = 1;    // frames are pushed because of a switch
constexpr std::int32_t kReturning = 2;  // frames are popped because of a switch: the call of thread_switch that is repeated then returns

constexpr std::int32_t kOnlySite = 1;  // the number of the one site of thread_run
enum RunParameter : Local { kFunction, kArgument, kSavedFrames, kSavedBytes };

struct Signature {
  std::string_view name;
  unsigned parameters;  // all are i32
  bool has_result;
};
constexpr std::array kSignatures = {Signature{kRun, 4, true}, Signature{kSwitch, 0, false}, Signature{kFrames, 1, false}};

Type i32s(unsigned count) {
  std::vector<Type> types(count, BinaryenTypeInt32());
  return BinaryenTypeCreate(types.data(), count);
}

bool has_type(BinaryenFunctionRef function, const Signature& signature) {
  return BinaryenFunctionGetParams(function) == i32s(signature.parameters) &&
         BinaryenFunctionGetResults(function) == (signature.has_result ? BinaryenTypeInt32() : BinaryenTypeNone());
}

template <class F>
void for_each_godwit_import(BinaryenModuleRef module, F&& f) {
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    BinaryenFunctionRef function = BinaryenGetFunctionByIndex(module, i);
    if (BinaryenFunctionImportGetModule(function) == wire::kGodwitModule) f(function, BinaryenFunctionImportGetBase(function));
  }
}

}  // namespace

Status check_thread_imports(BinaryenModuleRef module, wire::Level level) {
  Status status = ok();
  for_each_godwit_import(module, [&](BinaryenFunctionRef function, std::string_view name) {
    for (const Signature& signature : kSignatures) {
      if (name != signature.name || !status) continue;
      if (level == wire::Level::off)
        status = fail(Kind::unsupported, "the program uses threads, which only a mobile module can switch: build it without --mobile=off");
      if (!has_type(function, signature)) status = fail(Kind::invalid, "the module imports godwit.{} with another type", name);
    }
  });
  return status;
}

GuestThreads::GuestThreads(const Builder& build) : build_(build) {
  for_each_godwit_import(build.module(), [&](BinaryenFunctionRef function, std::string_view name) {
    if (name == kRun) run_ = BinaryenFunctionGetName(function);
    if (name == kSwitch) switch_ = BinaryenFunctionGetName(function);
    if (name == kFrames) frames_ = BinaryenFunctionGetName(function);
  });
  if (run_.empty()) return;
  if (BinaryenGetNumTables(build.module()) == 0) BinaryenAddTable(build.module(), "gw$table", 0, 0, BinaryenTypeFuncref());
  table_ = BinaryenTableGetName(BinaryenGetTableByIndex(build.module(), 0));
  // For the call graph: it calls any function that takes an i32.
  std::vector<Expr> argument{build.get_i32(kArgument)};
  Expr call = BinaryenCallIndirect(build.module(), table_.c_str(), build.get_i32(kFunction), argument.data(), 1, BinaryenTypeInt32(),
                                   BinaryenTypeNone());
  BinaryenRemoveFunction(build.module(), run_.c_str());
  build.add({run_, i32s(4), BinaryenTypeInt32(), expand(i32s(4)), build.sequence({call, build.i32(0)})});
}

void GuestThreads::add_code(UnwindStack& stack, std::uint32_t table_half) const {
  if (!used()) return;
  BinaryenAddGlobal(build_.module(), kSwitching, BinaryenTypeInt32(), true, build_.i32(kNoSwitch));
  if (!run_.empty()) add_run(stack, table_half);
  if (!switch_.empty()) add_switch();
  if (!frames_.empty()) add_frames(stack);
}

void GuestThreads::add_run(UnwindStack& stack, std::uint32_t table_half) const {
  BinaryenModuleRef module = build_.module();
  const auto rewind_call = [&](Local function) {
    Expr entry = build_.binary(BinaryenAddInt32(), build_.get_i32(function), build_.i32(static_cast<std::int32_t>(table_half)));
    return BinaryenCallIndirect(module, table_.c_str(), entry, nullptr, 0, BinaryenTypeNone(), BinaryenTypeNone());
  };
  // The code that follows the call of the thread, in both bodies. Returns the bytes of its frames, or 0: it has returned.
  const auto behind_call = [&](Local function) {
    Expr switched = build_.sequence({build_.set_global(kSwitching, build_.i32(kNoSwitch)), build_.set_global(kUnwinding, build_.i32(0)),
                                     build_.ret(stack.used_bytes())});
    std::vector<Expr> unwinding{
        // No exception leaves a thread: its first function catches all.
        build_.if_else(build_.binary(BinaryenNeInt32(), build_.global(kUnwinding), build_.i32(1)), build_.unreachable()),
        build_.if_else(build_.global(kSwitching), switched)};
    for (Expr push : stack.push({{function, BinaryenTypeInt32()}}, build_.i32(kOnlySite))) unwinding.push_back(push);
    return build_.if_else(build_.global(kUnwinding), build_.sequence(std::move(unwinding)));
  };

  FunctionDraft fast = build_.take(run_);
  std::vector<Expr> argument{build_.get_i32(kArgument)};
  Expr begin =
      BinaryenCallIndirect(module, table_.c_str(), build_.get_i32(kFunction), argument.data(), 1, BinaryenTypeInt32(), BinaryenTypeNone());
  std::vector<Expr> go_on = stack.fill(build_.get_i32(kSavedFrames), build_.get_i32(kSavedBytes));
  go_on.push_back(build_.set_global(kSwitching, build_.i32(kReturning)));
  go_on.push_back(rewind_call(kFunction));
  fast.body = build_.sequence(
      {build_.if_else(build_.get_i32(kSavedBytes), build_.sequence(std::move(go_on)), begin), behind_call(kFunction), build_.i32(0)});
  build_.add(fast);

  FunctionDraft rewind{rewind_name(run_), BinaryenTypeNone(), BinaryenTypeInt32(), {}, nullptr};
  const Local function = rewind.add_local(BinaryenTypeInt32());
  std::vector<Expr> body{build_.drop(stack.pop_number())};
  for (Expr pop : stack.pop({{function, BinaryenTypeInt32()}})) body.push_back(pop);
  body.push_back(rewind_call(function));
  body.push_back(behind_call(function));
  body.push_back(build_.i32(0));
  rewind.body = build_.sequence(std::move(body));
  build_.add(rewind);
}

void GuestThreads::add_switch() const {
  Expr is_back = build_.binary(BinaryenEqInt32(), build_.global(kSwitching), build_.i32(kReturning));
  Expr leave = build_.sequence({build_.set_global(kSwitching, build_.i32(kLeaving)), build_.set_global(kUnwinding, build_.i32(1))});
  BinaryenRemoveFunction(build_.module(), switch_.c_str());
  build_.add({switch_,
              BinaryenTypeNone(),
              BinaryenTypeNone(),
              {},
              build_.if_else(is_back, build_.set_global(kSwitching, build_.i32(kNoSwitch)), leave)});
}

void GuestThreads::add_frames(const UnwindStack& stack) const {
  BinaryenRemoveFunction(build_.module(), frames_.c_str());
  build_.add({frames_, BinaryenTypeInt32(), BinaryenTypeNone(), {BinaryenTypeInt32()}, stack.empty_into(build_.get_i32(0))});
}

}  // namespace gw::prep
