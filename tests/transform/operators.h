#pragma once
// The operators random expressions are made of.

#include <optional>
#include <span>

#include "transform/program_plan.h"

namespace gw::transform {

struct Operator {
  BinaryenOp op;
  Type left;
  std::optional<Type> right;  // none: unary
};

// All operators that give a value of `type`, do not trap, and give the same bits in every engine for operands that are not NaN.
std::span<const Operator> operators_for(Type type);

}  // namespace gw::transform
