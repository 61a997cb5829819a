#include <algorithm>
#include <array>

#include "transform/body_writer.h"

namespace gw::transform {
namespace {

const Type kI32 = BinaryenTypeInt32();

}  // namespace

BodyWriter::Statements BodyWriter::statements(std::uint64_t count) {
  Statements list;
  for (std::uint64_t i = 0; i < count; ++i) list.push_back(statement());
  return list;
}

Expr BodyWriter::statement() {
  struct Choice {
    unsigned weight;
    MakeStatement make;
  };
  static constexpr std::array kChoices{
      Choice{20, &BodyWriter::set_local},      Choice{5, &BodyWriter::set_global},     Choice{9, &BodyWriter::store},
      Choice{12, &BodyWriter::mix_value},      Choice{4, &BodyWriter::drop_value},     Choice{9, &BodyWriter::if_statement},
      Choice{6, &BodyWriter::block_statement}, Choice{6, &BodyWriter::branch},         Choice{3, &BodyWriter::branch_table},
      Choice{2, &BodyWriter::leave_early},     Choice{9, &BodyWriter::call_statement}, Choice{3, &BodyWriter::bulk_memory},
      Choice{2, &BodyWriter::grow_memory},     Choice{5, &BodyWriter::read_input},     Choice{6, &BodyWriter::call_prelude},
      Choice{14, &BodyWriter::loop_statement},
  };
  if (exhausted()) return build_.nop();
  --budget_;
  ++depth_;
  Expr made = nullptr;
  while (!made) {
    std::uint64_t at = rng_.below(115);
    for (const Choice& choice : kChoices) {
      if (at < choice.weight) {
        made = (this->*choice.make)();
        break;
      }
      at -= choice.weight;
    }
  }
  --depth_;
  return made;
}

Expr BodyWriter::set_local() {
  const Local local = writable_[rng_.below(writable_.size())];
  return build_.set(local, value(draft_.locals[local]));
}

Expr BodyWriter::set_global() {
  if (plan_.globals.empty()) return nullptr;
  const GlobalPlan& global = plan_.globals[rng_.below(plan_.globals.size())];
  return build_.set_global(global.name.c_str(), value(global.type));
}

Expr BodyWriter::store() {
  const Type type = random_type(rng_);
  const std::uint32_t bytes = type == kI32 && chance(50) ? 1 : prep::byte_size(type);
  const auto offset = static_cast<std::uint32_t>(rng_.below(memory_map::kSlack / 2));
  Expr to = address();
  return BinaryenStore(build_.module(), bytes, offset, 1, to, value(type), type);
}

Expr BodyWriter::mix_value() { return mix(value(random_type(rng_))); }

Expr BodyWriter::drop_value() { return build_.drop(value(random_type(rng_))); }

// Adds a value to the hash: through the prelude, or in place, where the old hash is read before the value is made.
Expr BodyWriter::mix(Expr e) {
  const Type type = prep::type_of(e);
  BinaryenModuleRef module = build_.module();
  Expr bits = e;
  if (type == kI32) bits = BinaryenUnary(module, BinaryenExtendUInt32(), e);
  if (type == BinaryenTypeFloat32()) bits = BinaryenUnary(module, BinaryenTruncSatSFloat32ToInt64(), e);
  if (type == BinaryenTypeFloat64()) bits = BinaryenUnary(module, BinaryenTruncSatSFloat64ToInt64(), e);
  if (type == BinaryenTypeVec128()) return build_.call("mix_vector", {e}, BinaryenTypeNone());
  if (chance(60)) return build_.call("mix", {bits}, BinaryenTypeNone());
  Expr old = BinaryenGlobalGet(module, "hash", BinaryenTypeInt64());
  Expr factor = BinaryenConst(module, BinaryenLiteralInt64(0x5851f42d4c957f2d));
  return build_.set_global("hash", build_.binary(BinaryenMulInt64(), build_.binary(BinaryenXorInt64(), old, bits), factor));
}

Expr BodyWriter::if_statement() {
  Expr test = condition();
  Expr then = sequence(statements(1 + rng_.below(3)));
  return build_.if_else(test, then, chance(50) ? sequence(statements(1 + rng_.below(2))) : nullptr);
}

Expr BodyWriter::block_statement() {
  const std::string label = fresh_label();
  labels_.push_back({label, BinaryenTypeNone()});
  Statements list = statements(1 + rng_.below(4));
  labels_.pop_back();
  return build_.block(label.c_str(), std::move(list), BinaryenTypeNone());
}

Expr BodyWriter::branch() {
  if (labels_.empty()) return nullptr;
  const Label label = labels_[rng_.below(labels_.size())];
  if (label.type == BinaryenTypeNone()) return build_.br(label.name.c_str(), chance(80) ? condition() : nullptr);
  Expr carried = value(label.type);
  if (chance(50)) return build_.drop(build_.br(label.name.c_str(), condition(), carried));
  return build_.if_else(condition(), build_.br(label.name.c_str(), nullptr, carried));
}

Expr BodyWriter::branch_table() {
  if (labels_.empty()) return nullptr;
  const Type type = labels_[rng_.below(labels_.size())].type;
  std::vector<std::string> names;
  for (std::uint64_t count = 2 + rng_.below(4); count > 0; --count) names.push_back(random_label(type)->name);
  std::vector<const char*> targets;
  for (const std::string& name : names) targets.push_back(name.c_str());
  Expr carried = type == BinaryenTypeNone() ? nullptr : value(type);
  Expr index = chance(70) ? masked(7) : condition();
  Expr jump =
      BinaryenSwitch(build_.module(), targets.data(), static_cast<BinaryenIndex>(targets.size() - 1), targets.back(), index, carried);
  return chance(30) ? jump : build_.if_else(condition(), jump);
}

Expr BodyWriter::leave_early() {
  Expr test = condition();
  return build_.if_else(test, build_.ret(draft_.results == BinaryenTypeNone() ? nullptr : value(draft_.results)));
}

Expr BodyWriter::call_statement() {
  const Type type = plan_.signatures[rng_.below(plan_.signatures.size())].result;
  Expr call = chance(50) ? direct_call(type) : indirect_call(type);
  if (!call || type == BinaryenTypeNone()) return call;
  return chance(50) ? mix(call) : build_.drop(call);
}

Expr BodyWriter::bulk_memory() {
  BinaryenModuleRef module = build_.module();
  Expr to = address();
  Expr second = chance(50) ? nullptr : address();  // null: a fill
  Expr filling = second ? nullptr : value(kI32);
  Expr size = chance(50) ? build_.i32(static_cast<std::int32_t>(rng_.below(memory_map::kSlack))) : masked(memory_map::kSlack - 1);
  return second ? BinaryenMemoryCopy(module, to, second, size) : BinaryenMemoryFill(module, to, filling, size);
}

// The new page is written and read back. Suspensions must not show in its number nor in the size.
Expr BodyWriter::grow_memory() {
  BinaryenModuleRef module = build_.module();
  const Local page = draft_.add_local(kI32);
  Expr allowed = build_.binary(BinaryenGtSInt32(), build_.global("growth"), build_.i32(0));
  auto at_page = [&] { return build_.binary(BinaryenShlInt32(), build_.get_i32(page), build_.i32(16)); };
  Statements list{
      build_.set_global("growth", build_.binary(BinaryenSubInt32(), build_.global("growth"), build_.i32(1))),
      build_.set(page, BinaryenMemoryGrow(module, build_.i32(1))),
      build_.store(kI32, 0, at_page(), value(kI32)),
      mix(build_.load(kI32, at_page())),
      mix(build_.get_i32(page)),
      mix(BinaryenMemorySize(module)),
  };
  return build_.if_else(allowed, sequence(std::move(list)));
}

// fd_read with operands in locals, one of which may take the result.
Expr BodyWriter::read_input() {
  const Local descriptor = random_local(kI32);
  Local vector = random_local(kI32);
  if (vector == descriptor) vector = draft_.add_local(kI32);
  const Local result = chance(50) ? descriptor : chance(50) ? vector : random_local(kI32);
  Expr read = build_.call("fd_read",
                          {build_.get_i32(descriptor), build_.get_i32(vector), build_.i32(1), build_.i32(memory_map::kInputCount)}, kI32);
  return sequence({
      build_.set(descriptor, build_.i32(0)),
      build_.set(vector, build_.i32(memory_map::kInputVector)),
      build_.set(result, read),
      mix(build_.get_i32(descriptor)),
      mix(build_.get_i32(result)),
      mix(build_.load(kI32, build_.i32(memory_map::kInputCount))),
      mix(build_.load(BinaryenTypeInt64(), build_.i32(memory_map::kInput))),
  });
}

Expr BodyWriter::call_prelude() { return build_.call(chance(20) ? "print" : "checkpoint", {}, BinaryenTypeNone()); }

Expr BodyWriter::sequence(Statements list) { return build_.block(nullptr, std::move(list), BinaryenTypeAuto()); }

}  // namespace gw::transform
