#include "prep/passes/nans.h"

#include <array>
#include <cstring>
#include <set>
#include <string>

namespace gw::prep {
namespace {

constexpr std::int32_t kCanonicalF32 = 0x7fc00000;
constexpr std::int64_t kCanonicalF64 = 0x7ff8000000000000;

bool is_scalar_float(Type type) { return type == BinaryenTypeFloat32() || type == BinaryenTypeFloat64(); }

bool makes_f32x4(Expr e) {
  static const std::set<BinaryenOp> binary = {BinaryenAddVecF32x4(), BinaryenSubVecF32x4(), BinaryenMulVecF32x4(),
                                              BinaryenDivVecF32x4(), BinaryenMinVecF32x4(), BinaryenMaxVecF32x4()};
  static const std::set<BinaryenOp> unary = {BinaryenSqrtVecF32x4(),  BinaryenCeilVecF32x4(),    BinaryenFloorVecF32x4(),
                                             BinaryenTruncVecF32x4(), BinaryenNearestVecF32x4(), BinaryenDemoteZeroVecF64x2ToVecF32x4()};
  return (is(e, Node::binary) && binary.contains(BinaryenBinaryGetOp(e))) || (is(e, Node::unary) && unary.contains(BinaryenUnaryGetOp(e)));
}

bool makes_f64x2(Expr e) {
  static const std::set<BinaryenOp> binary = {BinaryenAddVecF64x2(), BinaryenSubVecF64x2(), BinaryenMulVecF64x2(),
                                              BinaryenDivVecF64x2(), BinaryenMinVecF64x2(), BinaryenMaxVecF64x2()};
  static const std::set<BinaryenOp> unary = {BinaryenSqrtVecF64x2(),  BinaryenCeilVecF64x2(),    BinaryenFloorVecF64x2(),
                                             BinaryenTruncVecF64x2(), BinaryenNearestVecF64x2(), BinaryenPromoteLowVecF32x4ToVecF64x2()};
  return (is(e, Node::binary) && binary.contains(BinaryenBinaryGetOp(e))) || (is(e, Node::unary) && unary.contains(BinaryenUnaryGetOp(e)));
}

// Already canonical or mere copies of what was made canonical when it was written.
bool needs_no_change(Expr value) {
  static const std::set<BinaryenOp> from_integer = {BinaryenConvertSInt32ToFloat32(), BinaryenConvertUInt32ToFloat32(),
                                                    BinaryenConvertSInt64ToFloat32(), BinaryenConvertUInt64ToFloat32(),
                                                    BinaryenConvertSInt32ToFloat64(), BinaryenConvertUInt32ToFloat64(),
                                                    BinaryenConvertSInt64ToFloat64(), BinaryenConvertUInt64ToFloat64()};
  return is(value, Node::load) || is(value, Node::constant) || (is(value, Node::unary) && from_integer.contains(BinaryenUnaryGetOp(value)));
}

class NanPass {
 public:
  NanPass(const Builder& build, FunctionDraft& draft) : build_(build), draft_(draft) {}

  unsigned run() {
    draft_.body = rewrite(draft_.body, [&](Expr e) { return visit(e); });
    return changed_;
  }

 private:
  Expr visit(Expr e) {
    static const std::set<BinaryenOp> reinterprets = {BinaryenReinterpretFloat32(), BinaryenReinterpretFloat64()};
    static const std::set<BinaryenOp> copysigns = {BinaryenCopySignFloat32(), BinaryenCopySignFloat64()};
    if (makes_f32x4(e)) return canonical_vector(e, BinaryenEqVecF32x4(), lanes(kCanonicalF32));
    if (makes_f64x2(e)) return canonical_vector(e, BinaryenEqVecF64x2(), lanes(kCanonicalF64));
    static const std::set<BinaryenOp> splats = {BinaryenSplatVecF32x4(), BinaryenSplatVecF64x2()};
    if (is(e, Node::unary) && splats.contains(BinaryenUnaryGetOp(e))) change_child(e, 0);
    if (BinaryenExpressionGetId(e) == BinaryenSIMDReplaceId()) change_child(e, 1);
    if (is(e, Node::store)) change_child(e, 1);
    if (is(e, Node::global_set)) change_child(e, 0);
    if (is(e, Node::unary) && reinterprets.contains(BinaryenUnaryGetOp(e))) change_child(e, 0);
    if (is(e, Node::binary) && copysigns.contains(BinaryenBinaryGetOp(e))) change_child(e, 1);
    if (is(e, Node::call) && is_import(BinaryenCallGetTarget(e)))
      for (unsigned i = 0; i < child_count(e); ++i) change_child(e, i);
    return e;
  }

  bool is_import(const char* function) const {
    BinaryenFunctionRef ref = BinaryenGetFunction(build_.module(), function);
    return ref && BinaryenFunctionImportGetModule(ref)[0] != '\0';
  }

  void change_child(Expr e, unsigned index) {
    Expr value = child_at(e, index);
    if (!is_scalar_float(type_of(value)) || needs_no_change(value)) return;
    set_child(e, index, canonical_scalar(value));
  }

  Expr canonical_scalar(Expr value) {
    const Type type = type_of(value);
    const Local local = scratch(type);
    ++changed_;
    return canonical_float(build_, BinaryenLocalTee(build_.module(), local, value, type), local);
  }

  Expr canonical_vector(Expr value, BinaryenOp equal, const std::array<std::uint8_t, 16>& nan) {
    const Type type = BinaryenTypeVec128();
    const Local local = scratch(type);
    Expr mask = build_.binary(equal, build_.get(local, type), build_.get(local, type));
    ++changed_;
    return BinaryenSIMDTernary(build_.module(), BinaryenBitselectVec128(), BinaryenLocalTee(build_.module(), local, value, type),
                               BinaryenConst(build_.module(), BinaryenLiteralVec128(nan.data())), mask);
  }

  template <class Bits>
  static std::array<std::uint8_t, 16> lanes(Bits bits) {
    std::array<std::uint8_t, 16> out{};
    for (std::size_t i = 0; i < out.size(); i += sizeof bits) std::memcpy(out.data() + i, &bits, sizeof bits);
    return out;
  }

  Local scratch(Type type) {
    for (auto [known, local] : scratch_)
      if (known == type) return local;
    scratch_.emplace_back(type, draft_.add_local(type));
    return scratch_.back().second;
  }

  const Builder& build_;
  FunctionDraft& draft_;
  std::vector<std::pair<Type, Local>> scratch_;
  unsigned changed_ = 0;
};

}  // namespace

Expr canonical_float(const Builder& build, Expr value, Local same) {
  const Type type = type_of(value);
  const bool is_f32 = type == BinaryenTypeFloat32();
  Expr nan = BinaryenConst(build.module(), is_f32 ? BinaryenLiteralFloat32Bits(kCanonicalF32) : BinaryenLiteralFloat64Bits(kCanonicalF64));
  Expr is_number = build.binary(is_f32 ? BinaryenEqFloat32() : BinaryenEqFloat64(), build.get(same, type), build.get(same, type));
  return BinaryenSelect(build.module(), is_number, value, nan, type);
}

unsigned make_nans_canonical(BinaryenModuleRef module) {
  const Builder build(module);
  std::vector<std::string> names;
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    BinaryenFunctionRef function = BinaryenGetFunctionByIndex(module, i);
    if (BinaryenFunctionGetBody(function)) names.emplace_back(BinaryenFunctionGetName(function));
  }
  unsigned changed = 0;
  for (const std::string& name : names) {
    FunctionDraft draft = build.take(name);
    changed += NanPass(build, draft).run();
    build.add(draft);
  }
  return changed;
}

}  // namespace gw::prep
