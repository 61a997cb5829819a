#include "prep/ir.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>

#include "base/check.h"

namespace gw::prep {
namespace {

// How to reach the children of one class of node: a list (operands) followed by up to three named ones.
struct Shape {
  Node node = Node::unsupported;
  BinaryenIndex (*list_count)(Expr) = nullptr;
  Expr (*list_get)(Expr, BinaryenIndex) = nullptr;
  void (*list_set)(Expr, BinaryenIndex, Expr) = nullptr;
  unsigned fixed_count = 0;
  std::array<Expr (*)(Expr), 3> get{};
  std::array<void (*)(Expr, Expr), 3> set{};
};

#define GW_CHILD(CLASS, FIELD) &Binaryen##CLASS##Get##FIELD, &Binaryen##CLASS##Set##FIELD

template <class... Pairs>
Shape fixed(Node node, Pairs... pairs) {
  Shape shape{.node = node};
  auto add = [&](auto& self, auto get, auto set, auto... rest) -> void {
    shape.get[shape.fixed_count] = get;
    shape.set[shape.fixed_count++] = set;
    if constexpr (sizeof...(rest) > 0) self(self, rest...);
  };
  if constexpr (sizeof...(pairs) > 0) add(add, pairs...);
  return shape;
}

Shape with_list(Shape shape, BinaryenIndex (*count)(Expr), Expr (*get)(Expr, BinaryenIndex), void (*set)(Expr, BinaryenIndex, Expr)) {
  shape.list_count = count;
  shape.list_get = get;
  shape.list_set = set;
  return shape;
}

constexpr std::size_t kMaxExpressionIds = 128;

std::array<Shape, kMaxExpressionIds> make_shapes() {
  std::array<Shape, kMaxExpressionIds> t{};
  t[BinaryenBlockId()] = with_list({.node = Node::block}, BinaryenBlockGetNumChildren, BinaryenBlockGetChildAt, BinaryenBlockSetChildAt);
  t[BinaryenIfId()] = fixed(Node::if_else, GW_CHILD(If, Condition), GW_CHILD(If, IfTrue), GW_CHILD(If, IfFalse));
  t[BinaryenLoopId()] = fixed(Node::loop, GW_CHILD(Loop, Body));
  t[BinaryenBreakId()] = fixed(Node::br, GW_CHILD(Break, Value), GW_CHILD(Break, Condition));
  t[BinaryenSwitchId()] = fixed(Node::br_table, GW_CHILD(Switch, Value), GW_CHILD(Switch, Condition));
  t[BinaryenCallId()] = with_list({.node = Node::call}, BinaryenCallGetNumOperands, BinaryenCallGetOperandAt, BinaryenCallSetOperandAt);
  t[BinaryenCallIndirectId()] = with_list(fixed(Node::call_indirect, GW_CHILD(CallIndirect, Target)), BinaryenCallIndirectGetNumOperands,
                                          BinaryenCallIndirectGetOperandAt, BinaryenCallIndirectSetOperandAt);
  t[BinaryenLocalGetId()] = fixed(Node::local_get);
  t[BinaryenLocalSetId()] = fixed(Node::local_set, GW_CHILD(LocalSet, Value));
  t[BinaryenGlobalGetId()] = fixed(Node::global_get);
  t[BinaryenGlobalSetId()] = fixed(Node::global_set, GW_CHILD(GlobalSet, Value));
  t[BinaryenLoadId()] = fixed(Node::load, GW_CHILD(Load, Ptr));
  t[BinaryenStoreId()] = fixed(Node::store, GW_CHILD(Store, Ptr), GW_CHILD(Store, Value));
  t[BinaryenConstId()] = fixed(Node::constant);
  t[BinaryenUnaryId()] = fixed(Node::unary, GW_CHILD(Unary, Value));
  t[BinaryenBinaryId()] = fixed(Node::binary, GW_CHILD(Binary, Left), GW_CHILD(Binary, Right));
  t[BinaryenSelectId()] = fixed(Node::select, GW_CHILD(Select, IfTrue), GW_CHILD(Select, IfFalse), GW_CHILD(Select, Condition));
  t[BinaryenDropId()] = fixed(Node::drop, GW_CHILD(Drop, Value));
  t[BinaryenReturnId()] = fixed(Node::ret, GW_CHILD(Return, Value));
  t[BinaryenMemorySizeId()] = fixed(Node::memory_size);
  t[BinaryenMemoryGrowId()] = fixed(Node::memory_grow, GW_CHILD(MemoryGrow, Delta));
  t[BinaryenMemoryCopyId()] =
      fixed(Node::memory_copy, GW_CHILD(MemoryCopy, Dest), GW_CHILD(MemoryCopy, Source), GW_CHILD(MemoryCopy, Size));
  t[BinaryenMemoryFillId()] = fixed(Node::memory_fill, GW_CHILD(MemoryFill, Dest), GW_CHILD(MemoryFill, Value), GW_CHILD(MemoryFill, Size));
  t[BinaryenUnreachableId()] = fixed(Node::unreachable);
  t[BinaryenTryId()] = with_list(fixed(Node::try_catch, GW_CHILD(Try, Body)), BinaryenTryGetNumCatchBodies, BinaryenTryGetCatchBodyAt,
                                 BinaryenTrySetCatchBodyAt);
  t[BinaryenThrowId()] =
      with_list({.node = Node::throw_tag}, BinaryenThrowGetNumOperands, BinaryenThrowGetOperandAt, BinaryenThrowSetOperandAt);
  t[BinaryenRethrowId()] = fixed(Node::rethrow);
  t[BinaryenPopId()] = fixed(Node::pop);
  t[BinaryenNopId()] = fixed(Node::other);
  t[BinaryenMemoryInitId()] = fixed(Node::other, GW_CHILD(MemoryInit, Dest), GW_CHILD(MemoryInit, Offset), GW_CHILD(MemoryInit, Size));
  t[BinaryenDataDropId()] = fixed(Node::other);
  t[BinaryenSIMDExtractId()] = fixed(Node::other, GW_CHILD(SIMDExtract, Vec));
  t[BinaryenSIMDReplaceId()] = fixed(Node::other, GW_CHILD(SIMDReplace, Vec), GW_CHILD(SIMDReplace, Value));
  t[BinaryenSIMDShuffleId()] = fixed(Node::other, GW_CHILD(SIMDShuffle, Left), GW_CHILD(SIMDShuffle, Right));
  t[BinaryenSIMDTernaryId()] = fixed(Node::other, GW_CHILD(SIMDTernary, A), GW_CHILD(SIMDTernary, B), GW_CHILD(SIMDTernary, C));
  t[BinaryenSIMDShiftId()] = fixed(Node::other, GW_CHILD(SIMDShift, Vec), GW_CHILD(SIMDShift, Shift));
  t[BinaryenSIMDLoadId()] = fixed(Node::other, GW_CHILD(SIMDLoad, Ptr));
  t[BinaryenSIMDLoadStoreLaneId()] = fixed(Node::other, GW_CHILD(SIMDLoadStoreLane, Ptr), GW_CHILD(SIMDLoadStoreLane, Vec));
  return t;
}

#undef GW_CHILD

const Shape& shape_of(Expr e) {
  static const std::array<Shape, kMaxExpressionIds> shapes = make_shapes();
  return shapes[BinaryenExpressionGetId(e)];
}

}  // namespace

Node node_of(Expr e) { return e ? shape_of(e).node : Node::unsupported; }

bool is_concrete(Type type) { return type != BinaryenTypeNone() && type != BinaryenTypeUnreachable(); }

unsigned child_count(Expr e) {
  const Shape& shape = shape_of(e);
  return (shape.list_count ? shape.list_count(e) : 0) + shape.fixed_count;
}

Expr child_at(Expr e, unsigned index) {
  const Shape& shape = shape_of(e);
  const unsigned list = shape.list_count ? shape.list_count(e) : 0;
  return index < list ? shape.list_get(e, index) : shape.get[index - list](e);
}

void set_child(Expr e, unsigned index, Expr child) {
  const Shape& shape = shape_of(e);
  const unsigned list = shape.list_count ? shape.list_count(e) : 0;
  if (index < list) {
    shape.list_set(e, index, child);
  } else {
    shape.set[index - list](e, child);
  }
}

std::optional<std::int32_t> const_i32(Expr e) {
  if (!is(e, Node::constant) || type_of(e) != BinaryenTypeInt32()) return std::nullopt;
  return BinaryenConstGetValueI32(e);
}

bool writes(Expr root, Local local) {
  bool found = false;
  walk(root, [&](Expr e) { found |= is(e, Node::local_set) && BinaryenLocalSetGetIndex(e) == local; });
  return found;
}

std::vector<const char*> branch_targets(Expr e) {
  if (is(e, Node::br)) return {BinaryenBreakGetName(e)};
  std::vector<const char*> names;
  if (!is(e, Node::br_table)) return names;
  for (BinaryenIndex i = 0; i < BinaryenSwitchGetNumNames(e); ++i) names.push_back(BinaryenSwitchGetNameAt(e, i));
  names.push_back(BinaryenSwitchGetDefaultName(e));
  return names;
}

void rename_labels(Expr root, const std::string& suffix) {
  std::map<std::string, std::string, std::less<>> renamed;
  walk(root, [&](Expr e) {
    const char* label = is(e, Node::block) ? BinaryenBlockGetName(e) : is(e, Node::loop) ? BinaryenLoopGetName(e) : nullptr;
    if (!label) return;
    const std::string fresh = renamed.emplace(label, label + suffix).first->second;
    is(e, Node::block) ? BinaryenBlockSetName(e, fresh.c_str()) : BinaryenLoopSetName(e, fresh.c_str());
  });
  auto fresh = [&](const char* label) {
    auto it = renamed.find(std::string_view(label));
    return it == renamed.end() ? label : it->second.c_str();
  };
  walk(root, [&](Expr e) {
    if (is(e, Node::br)) BinaryenBreakSetName(e, fresh(BinaryenBreakGetName(e)));
    if (!is(e, Node::br_table)) return;
    for (BinaryenIndex i = 0; i < BinaryenSwitchGetNumNames(e); ++i) BinaryenSwitchSetNameAt(e, i, fresh(BinaryenSwitchGetNameAt(e, i)));
    BinaryenSwitchSetDefaultName(e, fresh(BinaryenSwitchGetDefaultName(e)));
  });
}

std::vector<Type> expand(Type type) {
  std::vector<Type> types(BinaryenTypeArity(type));
  BinaryenTypeExpand(type, types.data());
  return types;
}

Local FunctionDraft::add_local(Type type) {
  locals.push_back(type);
  return static_cast<Local>(locals.size() - 1);
}

Expr Builder::i32(std::int32_t value) const { return BinaryenConst(module_, BinaryenLiteralInt32(value)); }

Expr Builder::zero(Type type) const {
  if (type == BinaryenTypeInt32()) return i32(0);
  if (type == BinaryenTypeInt64()) return BinaryenConst(module_, BinaryenLiteralInt64(0));
  if (type == BinaryenTypeFloat32()) return BinaryenConst(module_, BinaryenLiteralFloat32(0));
  if (type == BinaryenTypeFloat64()) return BinaryenConst(module_, BinaryenLiteralFloat64(0));
  GW_ASSERT(type == BinaryenTypeVec128());
  const std::array<std::uint8_t, 16> zeros{};
  return BinaryenConst(module_, BinaryenLiteralVec128(zeros.data()));
}

Expr Builder::call(const std::string& target, std::vector<Expr> operands, Type result) const {
  return BinaryenCall(module_, target.c_str(), operands.data(), static_cast<BinaryenIndex>(operands.size()), result);
}

Expr Builder::sequence(std::vector<Expr> statements) const {
  if (statements.size() == 1) return statements.front();
  return block(nullptr, std::move(statements), BinaryenTypeAuto());
}

Expr Builder::block(const char* label, std::vector<Expr> statements, Type type) const {
  return BinaryenBlock(module_, label, statements.data(), static_cast<BinaryenIndex>(statements.size()), type);
}

Expr Builder::load(Type type, Expr address) const { return BinaryenLoad(module_, byte_size(type), false, 0, 1, type, address); }

Expr Builder::store(Type type, std::uint32_t offset, Expr address, Expr value) const {
  return BinaryenStore(module_, byte_size(type), offset, 1, address, value, type);
}

FunctionDraft Builder::read(const std::string& name) const {
  BinaryenFunctionRef function = BinaryenGetFunction(module_, name.c_str());
  GW_ASSERT(function);
  FunctionDraft draft{
      name, BinaryenFunctionGetParams(function), BinaryenFunctionGetResults(function), {}, BinaryenFunctionGetBody(function)};
  draft.locals = expand(draft.params);
  for (BinaryenIndex i = 0; i < BinaryenFunctionGetNumVars(function); ++i) draft.locals.push_back(BinaryenFunctionGetVar(function, i));
  return draft;
}

FunctionDraft Builder::take(const std::string& name) const {
  FunctionDraft draft = read(name);
  BinaryenRemoveFunction(module_, name.c_str());
  return draft;
}

void Builder::add(const FunctionDraft& draft) const {
  std::vector<Type> vars(draft.locals.begin() + draft.param_count(), draft.locals.end());
  BinaryenAddFunction(module_, draft.name.c_str(), draft.params, draft.results, vars.data(), static_cast<BinaryenIndex>(vars.size()),
                      draft.body);
}

std::uint32_t byte_size(Type type) {
  if (type == BinaryenTypeInt32() || type == BinaryenTypeFloat32()) return 4;
  if (type == BinaryenTypeInt64() || type == BinaryenTypeFloat64()) return 8;
  GW_ASSERT(type == BinaryenTypeVec128());
  return 16;
}

std::string readable_name(std::string_view binaryen_name) {
  std::string text;
  for (std::size_t i = 0; i < binaryen_name.size(); ++i) {
    unsigned value = 0;
    const char* digits = binaryen_name.data() + i + 1;
    if (binaryen_name[i] == '\\' && i + 2 < binaryen_name.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      text += static_cast<char>(value);
      i += 2;
    } else {
      text += binaryen_name[i];
    }
  }
  return text;
}

}  // namespace gw::prep
