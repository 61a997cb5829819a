#include "transform/operators.h"

#include <vector>

#include "base/check.h"

namespace gw::transform {
namespace {

using Operators = std::vector<Operator>;

void add_binary(Operators& list, Type operand, std::initializer_list<BinaryenOp> ops) {
  for (BinaryenOp op : ops) list.push_back({op, operand, operand});
}

void add_unary(Operators& list, Type operand, std::initializer_list<BinaryenOp> ops) {
  for (BinaryenOp op : ops) list.push_back({op, operand, std::nullopt});
}

Operators i32_operators() {
  const Type i32 = BinaryenTypeInt32(), i64 = BinaryenTypeInt64(), f32 = BinaryenTypeFloat32(), f64 = BinaryenTypeFloat64();
  const Type v128 = BinaryenTypeVec128();
  Operators list;
  add_binary(list, i32,
             {BinaryenAddInt32(), BinaryenSubInt32(), BinaryenMulInt32(), BinaryenAndInt32(), BinaryenOrInt32(), BinaryenXorInt32(),
              BinaryenShlInt32(), BinaryenShrSInt32(), BinaryenShrUInt32(), BinaryenRotLInt32(), BinaryenEqInt32(), BinaryenNeInt32(),
              BinaryenLtSInt32(), BinaryenLtUInt32(), BinaryenGeSInt32(), BinaryenGtUInt32()});
  add_binary(list, i64, {BinaryenEqInt64(), BinaryenNeInt64(), BinaryenLtSInt64(), BinaryenLeUInt64(), BinaryenGtSInt64()});
  add_binary(list, f32, {BinaryenLtFloat32(), BinaryenGeFloat32(), BinaryenEqFloat32()});
  add_binary(list, f64, {BinaryenGtFloat64(), BinaryenLeFloat64(), BinaryenNeFloat64()});
  add_unary(list, i32,
            {BinaryenClzInt32(), BinaryenCtzInt32(), BinaryenPopcntInt32(), BinaryenEqZInt32(), BinaryenExtendS8Int32(),
             BinaryenExtendS16Int32()});
  add_unary(list, i64, {BinaryenWrapInt64(), BinaryenEqZInt64()});
  add_unary(list, f32, {BinaryenTruncSatSFloat32ToInt32(), BinaryenTruncSatUFloat32ToInt32(), BinaryenReinterpretFloat32()});
  add_unary(list, f64, {BinaryenTruncSatSFloat64ToInt32(), BinaryenTruncSatUFloat64ToInt32()});
  add_unary(list, v128, {BinaryenAnyTrueVec128(), BinaryenAllTrueVecI32x4(), BinaryenBitmaskVecI8x16(), BinaryenBitmaskVecI64x2()});
  return list;
}

Operators i64_operators() {
  const Type i32 = BinaryenTypeInt32(), i64 = BinaryenTypeInt64(), f32 = BinaryenTypeFloat32(), f64 = BinaryenTypeFloat64();
  Operators list;
  add_binary(list, i64,
             {BinaryenAddInt64(), BinaryenSubInt64(), BinaryenMulInt64(), BinaryenAndInt64(), BinaryenOrInt64(), BinaryenXorInt64(),
              BinaryenShlInt64(), BinaryenShrSInt64(), BinaryenShrUInt64(), BinaryenRotLInt64(), BinaryenRotRInt64()});
  add_unary(list, i64, {BinaryenClzInt64(), BinaryenCtzInt64(), BinaryenPopcntInt64(), BinaryenExtendS32Int64()});
  add_unary(list, i32, {BinaryenExtendSInt32(), BinaryenExtendUInt32()});
  add_unary(list, f32, {BinaryenTruncSatSFloat32ToInt64(), BinaryenTruncSatUFloat32ToInt64()});
  add_unary(list, f64, {BinaryenTruncSatSFloat64ToInt64(), BinaryenTruncSatUFloat64ToInt64(), BinaryenReinterpretFloat64()});
  return list;
}

Operators f32_operators() {
  const Type i32 = BinaryenTypeInt32(), i64 = BinaryenTypeInt64(), f32 = BinaryenTypeFloat32(), f64 = BinaryenTypeFloat64();
  Operators list;
  add_binary(list, f32,
             {BinaryenAddFloat32(), BinaryenSubFloat32(), BinaryenMulFloat32(), BinaryenDivFloat32(), BinaryenMinFloat32(),
              BinaryenMaxFloat32(), BinaryenCopySignFloat32()});
  add_unary(list, f32,
            {BinaryenAbsFloat32(), BinaryenNegFloat32(), BinaryenCeilFloat32(), BinaryenNearestFloat32(), BinaryenSqrtFloat32()});
  add_unary(list, i32, {BinaryenConvertSInt32ToFloat32(), BinaryenConvertUInt32ToFloat32(), BinaryenReinterpretInt32()});
  add_unary(list, i64, {BinaryenConvertSInt64ToFloat32(), BinaryenConvertUInt64ToFloat32()});
  add_unary(list, f64, {BinaryenDemoteFloat64()});
  return list;
}

Operators f64_operators() {
  const Type i32 = BinaryenTypeInt32(), i64 = BinaryenTypeInt64(), f32 = BinaryenTypeFloat32(), f64 = BinaryenTypeFloat64();
  Operators list;
  add_binary(list, f64,
             {BinaryenAddFloat64(), BinaryenSubFloat64(), BinaryenMulFloat64(), BinaryenDivFloat64(), BinaryenMinFloat64(),
              BinaryenMaxFloat64(), BinaryenCopySignFloat64()});
  add_unary(list, f64, {BinaryenAbsFloat64(), BinaryenNegFloat64(), BinaryenFloorFloat64(), BinaryenTruncFloat64(), BinaryenSqrtFloat64()});
  add_unary(list, i32, {BinaryenConvertSInt32ToFloat64(), BinaryenConvertUInt32ToFloat64()});
  add_unary(list, i64, {BinaryenConvertSInt64ToFloat64(), BinaryenConvertUInt64ToFloat64(), BinaryenReinterpretInt64()});
  add_unary(list, f32, {BinaryenPromoteFloat32()});
  return list;
}

// Integer lanes only: the bits of float lanes that became NaNs would differ between engines.
Operators v128_operators() {
  const Type i32 = BinaryenTypeInt32(), i64 = BinaryenTypeInt64(), v128 = BinaryenTypeVec128();
  Operators list;
  add_binary(list, v128,
             {BinaryenAndVec128(), BinaryenOrVec128(), BinaryenXorVec128(), BinaryenAndNotVec128(), BinaryenAddVecI8x16(),
              BinaryenSubVecI16x8(), BinaryenAddVecI32x4(), BinaryenMulVecI32x4(), BinaryenAddVecI64x2(), BinaryenMulVecI64x2(),
              BinaryenEqVecI8x16(), BinaryenLtSVecI32x4(), BinaryenMinUVecI16x8(), BinaryenAvgrUVecI8x16(),
              BinaryenDotSVecI16x8ToVecI32x4(), BinaryenSwizzleVecI8x16()});
  add_unary(list, v128, {BinaryenNotVec128(), BinaryenAbsVecI32x4(), BinaryenNegVecI64x2(), BinaryenPopcntVecI8x16()});
  add_unary(list, i32, {BinaryenSplatVecI8x16(), BinaryenSplatVecI16x8(), BinaryenSplatVecI32x4()});
  add_unary(list, i64, {BinaryenSplatVecI64x2()});
  return list;
}

}  // namespace

std::span<const Operator> operators_for(Type type) {
  static const Operators i32 = i32_operators(), i64 = i64_operators(), f32 = f32_operators(), f64 = f64_operators();
  static const Operators v128 = v128_operators();
  if (type == BinaryenTypeInt32()) return i32;
  if (type == BinaryenTypeInt64()) return i64;
  if (type == BinaryenTypeFloat32()) return f32;
  if (type == BinaryenTypeFloat64()) return f64;
  GW_ASSERT(type == BinaryenTypeVec128());
  return v128;
}

}  // namespace gw::transform
