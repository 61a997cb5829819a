#include "prep/mobility/unwind_stack.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "prep/passes/nans.h"

namespace gw::prep {
namespace {

constexpr const char* kStackPointer = "gw$sp";
constexpr const char* kStackBase = "gw$base";
constexpr std::array<unsigned, 4> kGroupSizes = {8, 4, 2, 1};

const char* type_name(Type type) {
  if (type == BinaryenTypeInt32()) return "i32";
  if (type == BinaryenTypeInt64()) return "i64";
  if (type == BinaryenTypeFloat32()) return "f32";
  if (type == BinaryenTypeFloat64()) return "f64";
  GW_ASSERT(type == BinaryenTypeVec128());
  return "v128";
}

std::vector<Type> stack_types() {
  return {BinaryenTypeVec128(), BinaryenTypeFloat64(), BinaryenTypeInt64(), BinaryenTypeFloat32(), BinaryenTypeInt32()};
}

}  // namespace

UnwindStack::UnwindStack(const Builder& build, UnwindArea area, Verify verify) : build_(build), area_(area), verify_(verify) {
  add_globals();
  add_begin_unwind();
}

void UnwindStack::add_globals() {
  auto add = [&](const char* name, std::int32_t value) {
    BinaryenAddGlobal(build_.module(), name, BinaryenTypeInt32(), true, build_.i32(value));
  };
  if (!BinaryenGetGlobal(build_.module(), kUnwinding)) add(kUnwinding, 0);  // exceptions.h has added it to modules that throw
  add(kRewinding, 0);
  add(kStackPointer, static_cast<std::int32_t>(area_.base));
  add(kStackBase, static_cast<std::int32_t>(area_.base));
}

void UnwindStack::add_begin_unwind() {
  build_.add({kBeginUnwind, BinaryenTypeNone(), BinaryenTypeNone(), {}, build_.set_global(kUnwinding, build_.i32(1))});
}

Expr UnwindStack::stack_limit() const {
  return build_.binary(BinaryenAddInt32(), build_.global(kStackBase), build_.i32(static_cast<std::int32_t>(area_.bytes)));
}

std::string UnwindStack::push_function(Type type, unsigned count) {
  const std::string name = fmt::format("gw$push{}_{}", count, type_name(type));
  if (!made_.insert(name).second) return name;
  std::vector<Type> params(count, type);
  FunctionDraft draft{name, BinaryenTypeCreate(params.data(), count), BinaryenTypeNone(), params, nullptr};
  const Local top = draft.add_local(BinaryenTypeInt32());
  const std::uint32_t size = byte_size(type);
  Expr new_top = build_.binary(BinaryenAddInt32(), build_.global(kStackPointer), build_.i32(static_cast<std::int32_t>(size * count)));
  Expr too_far = build_.binary(BinaryenGtUInt32(), BinaryenLocalTee(build_.module(), top, new_top, BinaryenTypeInt32()), stack_limit());
  std::vector<Expr> body{build_.if_else(too_far, build_.unreachable())};
  const bool is_float = type == BinaryenTypeFloat32() || type == BinaryenTypeFloat64();
  for (unsigned i = 0; i < count; ++i) {
    Expr value = build_.get(i, type);
    if (is_float && verify_ == Verify::yes) value = canonical_float(build_, value, i);
    body.push_back(build_.store(type, i * size, build_.global(kStackPointer), value));
  }
  body.push_back(build_.set_global(kStackPointer, build_.get_i32(top)));
  draft.body = build_.sequence(std::move(body));
  build_.add(draft);
  return name;
}

Expr UnwindStack::pop(Type type) {
  const std::string name = fmt::format("gw$pop_{}", type_name(type));
  if (made_.insert(name).second) {
    FunctionDraft draft{name, BinaryenTypeNone(), type, {}, nullptr};
    const Local value = draft.add_local(type);
    Expr lower = build_.binary(BinaryenSubInt32(), build_.global(kStackPointer), build_.i32(static_cast<std::int32_t>(byte_size(type))));
    draft.body =
        build_.sequence({build_.set_global(kStackPointer, lower), build_.set(value, build_.load(type, build_.global(kStackPointer))),
                         build_.store(type, 0, build_.global(kStackPointer), build_.zero(type)), build_.get(value, type)});
    build_.add(draft);
  }
  return build_.call(name, {}, type);
}

std::vector<Expr> UnwindStack::push(const std::vector<std::pair<Local, Type>>& locals, Expr number) {
  std::vector<Expr> statements;
  for (Type type : stack_types()) {
    std::vector<Expr> values;
    for (auto [local, local_type] : locals)
      if (local_type == type) values.push_back(build_.get(local, type));
    if (type == BinaryenTypeInt32()) values.push_back(number);
    for (std::size_t done = 0; done < values.size();) {
      const std::size_t left = values.size() - done;
      const unsigned count = *std::ranges::find_if(kGroupSizes, [&](unsigned size) { return size <= left; });
      std::vector<Expr> group(values.begin() + static_cast<std::ptrdiff_t>(done),
                              values.begin() + static_cast<std::ptrdiff_t>(done + count));
      statements.push_back(build_.call(push_function(type, count), std::move(group), BinaryenTypeNone()));
      done += count;
    }
  }
  return statements;
}

std::vector<Expr> UnwindStack::pop(const std::vector<std::pair<Local, Type>>& locals) {
  std::vector<Expr> statements;
  for (Type type : stack_types())
    for (auto [local, local_type] : locals)
      if (local_type == type) statements.push_back(build_.set(local, pop(type)));
  std::ranges::reverse(statements);
  return statements;
}

Expr UnwindStack::used_bytes() const { return build_.binary(BinaryenSubInt32(), build_.global(kStackPointer), build_.global(kStackBase)); }

std::vector<Expr> UnwindStack::fill(Expr from, Expr bytes) const {
  Expr too_many = build_.binary(BinaryenGtUInt32(), build_.copy(bytes), build_.i32(static_cast<std::int32_t>(area_.bytes)));
  Expr top = build_.binary(BinaryenAddInt32(), build_.global(kStackBase), build_.copy(bytes));
  return {build_.if_else(build_.binary(BinaryenOrInt32(), used_bytes(), too_many), build_.unreachable()),
          BinaryenMemoryCopy(build_.module(), build_.global(kStackBase), from, bytes), build_.set_global(kStackPointer, top)};
}

Expr UnwindStack::empty_into(Expr to) const {
  return build_.sequence({build_.if_else(build_.copy(to), BinaryenMemoryCopy(build_.module(), to, build_.global(kStackBase), used_bytes())),
                          BinaryenMemoryFill(build_.module(), build_.global(kStackBase), build_.i32(0), used_bytes()),
                          build_.set_global(kStackPointer, build_.global(kStackBase))});
}

// Statements that move the content of the stack up by `by` bytes and leave zeros where it was, which is now the guest's memory.
std::vector<Expr> UnwindStack::move_content(Local by) const {
  Expr to = build_.binary(BinaryenAddInt32(), build_.global(kStackBase), build_.get_i32(by));
  Expr apart = build_.binary(BinaryenLtUInt32(), used_bytes(), build_.get_i32(by));
  Expr left_behind = BinaryenSelect(build_.module(), apart, used_bytes(), build_.get_i32(by), BinaryenTypeInt32());
  return {BinaryenMemoryCopy(build_.module(), to, build_.global(kStackBase), used_bytes()),
          BinaryenMemoryFill(build_.module(), build_.global(kStackBase), build_.i32(0), left_behind)};
}

void UnwindStack::hide_area(Content content) {
  constexpr const char* kSize = "gw$memory_size";
  constexpr const char* kGrow = "gw$memory_grow";
  constexpr std::int32_t kPageShift = 16;
  BinaryenModuleRef module = build_.module();
  auto replace = [&](Expr e) {
    if (is(e, Node::memory_size)) return build_.call(kSize, {}, BinaryenTypeInt32());
    if (is(e, Node::memory_grow)) return build_.call(kGrow, {BinaryenMemoryGrowGetDelta(e)}, BinaryenTypeInt32());
    return e;
  };
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    BinaryenFunctionRef function = BinaryenGetFunctionByIndex(module, i);
    if (Expr body = BinaryenFunctionGetBody(function)) BinaryenFunctionSetBody(function, rewrite(body, replace));
  }
  auto base_page = [&] { return build_.binary(BinaryenShrUInt32(), build_.global(kStackBase), build_.i32(kPageShift)); };
  build_.add({kSize, BinaryenTypeNone(), BinaryenTypeInt32(), {}, base_page()});

  FunctionDraft grow{kGrow, BinaryenTypeInt32(), BinaryenTypeInt32(), {BinaryenTypeInt32()}, nullptr};
  const Local pages = 0;
  const Local before = grow.add_local(BinaryenTypeInt32());
  Expr refused = build_.binary(BinaryenEqInt32(), BinaryenMemoryGrow(module, build_.get_i32(pages)), build_.i32(-1));
  const auto moved = [&](const char* address) {
    return build_.binary(BinaryenAddInt32(), build_.global(address),
                         build_.binary(BinaryenShlInt32(), build_.get_i32(pages), build_.i32(kPageShift)));
  };
  std::vector<Expr> body{build_.if_else(refused, build_.ret(build_.i32(-1))), build_.set(before, base_page())};
  if (content == Content::frames) {
    const Local bytes = grow.add_local(BinaryenTypeInt32());
    body.push_back(build_.set(bytes, build_.binary(BinaryenShlInt32(), build_.get_i32(pages), build_.i32(kPageShift))));
    std::ranges::copy(move_content(bytes), std::back_inserter(body));
    body.push_back(build_.set_global(kStackPointer, moved(kStackPointer)));
    body.push_back(build_.set_global(kStackBase, moved(kStackBase)));
  } else {
    body.push_back(build_.set_global(kStackBase, moved(kStackBase)));
    body.push_back(build_.set_global(kStackPointer, build_.global(kStackBase)));
  }
  body.push_back(build_.get_i32(before));
  grow.body = build_.sequence(std::move(body));
  build_.add(grow);
}

}  // namespace gw::prep
