#include <algorithm>
#include <array>

#include "base/check.h"
#include "transform/body_writer.h"
#include "transform/operators.h"

namespace gw::transform {
namespace {

const Type kI32 = BinaryenTypeInt32();

}  // namespace

Expr BodyWriter::value(Type type) {
  struct Choice {
    unsigned weight;
    MakeValue make;
  };
  static constexpr std::array kChoices{
      Choice{26, &BodyWriter::operation},  Choice{18, &BodyWriter::leaf},         Choice{9, &BodyWriter::tee},
      Choice{4, &BodyWriter::division},    Choice{6, &BodyWriter::load},          Choice{5, &BodyWriter::select},
      Choice{6, &BodyWriter::if_value},    Choice{7, &BodyWriter::block_value},   Choice{6, &BodyWriter::branch_passing_value},
      Choice{9, &BodyWriter::direct_call}, Choice{7, &BodyWriter::indirect_call}, Choice{4, &BodyWriter::lane_operation},
      Choice{4, &BodyWriter::loop_value},
  };
  if (exhausted()) return leaf(type);
  --budget_;
  ++depth_;
  Expr made = nullptr;
  while (!made) {
    std::uint64_t at = rng_.below(111);
    for (const Choice& choice : kChoices) {
      if (at < choice.weight) {
        made = (this->*choice.make)(type);
        break;
      }
      at -= choice.weight;
    }
  }
  --depth_;
  GW_ASSERT(prep::type_of(made) == type);
  return made;
}

Expr BodyWriter::leaf(Type type) {
  std::vector<Local> readable;
  for (Local l = 0; l < draft_.locals.size(); ++l)
    if (draft_.locals[l] == type) readable.push_back(l);
  if (!readable.empty() && chance(70)) return build_.get(readable[rng_.below(readable.size())], type);
  for (const GlobalPlan& global : plan_.globals)
    if (global.type == type && chance(30)) return BinaryenGlobalGet(build_.module(), global.name.c_str(), type);
  return constant(type);
}

Expr BodyWriter::constant(Type type) {
  const std::uint64_t small = rng_.below(40);
  const std::uint64_t bits = chance(50) ? small : rng_.next();
  if (type == kI32) return build_.i32(static_cast<std::int32_t>(bits));
  if (type == BinaryenTypeInt64()) return BinaryenConst(build_.module(), BinaryenLiteralInt64(static_cast<std::int64_t>(bits)));
  const double number = (static_cast<double>(small) - 20) * (chance(50) ? 0.375 : 1e6);
  if (type == BinaryenTypeFloat32()) return BinaryenConst(build_.module(), BinaryenLiteralFloat32(static_cast<float>(number)));
  if (type == BinaryenTypeFloat64()) return BinaryenConst(build_.module(), BinaryenLiteralFloat64(number));
  std::array<std::uint8_t, 16> lanes{};
  for (std::uint8_t& lane : lanes) lane = static_cast<std::uint8_t>(rng_.next());
  return BinaryenConst(build_.module(), BinaryenLiteralVec128(lanes.data()));
}

Expr BodyWriter::operation(Type type) {
  const auto operators = operators_for(type);
  const Operator& chosen = operators[rng_.below(operators.size())];
  Expr left = value(chosen.left);
  if (!chosen.right) return finite(BinaryenUnary(build_.module(), chosen.op, left));
  return finite(build_.binary(chosen.op, left, value(*chosen.right)));
}

Expr BodyWriter::division(Type type) {
  const bool is_i32 = type == kI32;
  if (!is_i32 && type != BinaryenTypeInt64()) return nullptr;
  Expr left = value(type);
  Expr one = is_i32 ? build_.i32(1) : BinaryenConst(build_.module(), BinaryenLiteralInt64(1));
  Expr odd = build_.binary(is_i32 ? BinaryenOrInt32() : BinaryenOrInt64(), value(type), one);
  if (chance(50)) return build_.binary(is_i32 ? BinaryenDivUInt32() : BinaryenDivUInt64(), left, odd);
  return build_.binary(is_i32 ? BinaryenRemUInt32() : BinaryenRemUInt64(), left, odd);
}

Expr BodyWriter::lane_operation(Type type) {
  BinaryenModuleRef module = build_.module();
  if (type == BinaryenTypeVec128()) return chance(30) ? float_vector_operation() : vector_operation();
  Expr vector = value(BinaryenTypeVec128());
  if (type == kI32) return BinaryenSIMDExtract(module, BinaryenExtractLaneSVecI8x16(), vector, static_cast<std::uint8_t>(rng_.below(16)));
  Expr lane = BinaryenSIMDExtract(module, BinaryenExtractLaneVecI64x2(), vector, static_cast<std::uint8_t>(rng_.below(2)));
  if (type == BinaryenTypeInt64()) return lane;
  const bool is_f32 = type == BinaryenTypeFloat32();
  return BinaryenUnary(module, is_f32 ? BinaryenConvertSInt64ToFloat32() : BinaryenConvertSInt64ToFloat64(), lane);
}

Expr BodyWriter::vector_operation() {
  BinaryenModuleRef module = build_.module();
  const Type v128 = BinaryenTypeVec128();
  Expr first = value(v128);
  switch (rng_.below(4)) {
    case 0:
      return BinaryenSIMDReplace(module, BinaryenReplaceLaneVecI32x4(), first, static_cast<std::uint8_t>(rng_.below(4)), value(kI32));
    case 1: {
      std::array<std::uint8_t, 16> mask{};
      for (std::uint8_t& lane : mask) lane = static_cast<std::uint8_t>(rng_.below(32));
      return BinaryenSIMDShuffle(module, first, value(v128), mask.data());
    }
    case 2:
      return BinaryenSIMDShift(module, BinaryenShlVecI16x8(), first, value(kI32));
    default: {
      Expr second = value(v128);
      return BinaryenSIMDTernary(module, BinaryenBitselectVec128(), first, second, value(v128));
    }
  }
}

// Float lanes made of integers and made integers again, so none of them is a NaN.
Expr BodyWriter::float_vector_operation() {
  auto floats = [&] { return BinaryenUnary(build_.module(), BinaryenConvertSVecI32x4ToVecF32x4(), value(BinaryenTypeVec128())); };
  Expr left = floats();
  return BinaryenUnary(build_.module(), BinaryenTruncSatSVecF32x4ToVecI32x4(), build_.binary(BinaryenMulVecF32x4(), left, floats()));
}

Expr BodyWriter::tee(Type type) {
  const Local local = random_local(type);
  return BinaryenLocalTee(build_.module(), local, value(type), type);
}

Expr BodyWriter::load(Type type) {
  const auto offset = static_cast<std::uint32_t>(rng_.below(memory_map::kSlack / 2));
  if (type == kI32 && chance(50)) return BinaryenLoad(build_.module(), 1, chance(50), offset, 1, type, address());
  return finite(BinaryenLoad(build_.module(), prep::byte_size(type), false, offset, 1, type, address()));
}

Expr BodyWriter::select(Type type) {
  Expr first = value(type);
  Expr second = value(type);
  return BinaryenSelect(build_.module(), condition(), first, second, type);
}

Expr BodyWriter::if_value(Type type) {
  Expr test = condition();
  auto arm = [&] {
    Statements list = statements(rng_.below(2));
    list.push_back(value(type));
    return build_.block(nullptr, std::move(list), type);
  };
  Expr then = arm();
  return build_.if_else(test, then, arm());
}

Expr BodyWriter::block_value(Type type) {
  const std::string label = fresh_label();
  labels_.push_back({label, type});
  Statements list = statements(rng_.below(3));
  list.push_back(value(type));
  labels_.pop_back();
  return build_.block(label.c_str(), std::move(list), type);
}

// br_if with a value passes it on when it is not taken.
Expr BodyWriter::branch_passing_value(Type type) {
  const Label* label = random_label(type);
  if (!label) return nullptr;
  const std::string target = label->name;
  Expr carried = value(type);
  return build_.br(target.c_str(), condition(), carried);
}

BodyWriter::Statements BodyWriter::arguments(const Signature& signature) {
  Statements list;
  for (Type param : signature.params) list.push_back(value(param));
  return list;
}

Expr BodyWriter::direct_call(Type type) {
  std::vector<const FunctionPlan*> candidates;
  for (const FunctionPlan& function : plan_.functions)
    if (plan_.signature_of(function).result == type) candidates.push_back(&function);
  if (candidates.empty()) return nullptr;
  const FunctionPlan& callee = *candidates[rng_.below(candidates.size())];
  return build_.call(callee.name, arguments(plan_.signature_of(callee)), type);
}

Expr BodyWriter::indirect_call(Type type) {
  std::vector<unsigned> candidates;
  for (unsigned s = 0; s < plan_.signatures.size(); ++s)
    if (plan_.signatures[s].result == type && plan_.groups[s].count > 0) candidates.push_back(s);
  if (candidates.empty()) return nullptr;
  const unsigned chosen = candidates[rng_.below(candidates.size())];
  const TableGroup& group = plan_.groups[chosen];
  Signature signature = plan_.signatures[chosen];
  Statements operands = arguments(signature);
  Expr within = build_.binary(BinaryenRemUInt32(), value(kI32), build_.i32(static_cast<std::int32_t>(group.count)));
  Expr index = build_.binary(BinaryenAddInt32(), within, build_.i32(static_cast<std::int32_t>(group.first)));
  return BinaryenCallIndirect(build_.module(), "table", index, operands.data(), static_cast<BinaryenIndex>(operands.size()),
                              BinaryenTypeCreate(signature.params.data(), static_cast<BinaryenIndex>(signature.params.size())), type);
}

Expr BodyWriter::finite(Expr e) {
  if (prep::type_of(e) == BinaryenTypeFloat32()) return build_.call("finite32", {e}, BinaryenTypeFloat32());
  if (prep::type_of(e) == BinaryenTypeFloat64()) return build_.call("finite64", {e}, BinaryenTypeFloat64());
  return e;
}

Expr BodyWriter::masked(std::int32_t mask) { return build_.binary(BinaryenAndInt32(), value(kI32), build_.i32(mask)); }

Expr BodyWriter::address() { return build_.binary(BinaryenAddInt32(), masked(memory_map::kScratchMask), build_.i32(memory_map::kScratch)); }

}  // namespace gw::transform
