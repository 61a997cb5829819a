#include "prep/passes/bulk_memory.h"

#include <string>

namespace gw::prep {
namespace {

constexpr std::int32_t kPieceBytes = 1 << 20;  // about 50 microseconds

constexpr const char* kFill = "gw$fill";
constexpr const char* kCopy = "gw$copy";

enum Parameter : Local { kDest = 0, kSource = 1, kSize = 2 };  // kSource: the value, for a fill

bool is_small(Expr size) {
  const auto constant = const_i32(size);
  return constant && *constant >= 0 && *constant <= kPieceBytes;
}

class Splitter {
 public:
  explicit Splitter(BinaryenModuleRef module) : build_(module) {}

  void add_fill() const {
    FunctionDraft draft = make_draft(kFill);
    draft.body = build_.sequence({forward({fill(build_.i32(kPieceBytes))}), fill(size())});
    build_.add(draft);
  }

  // Pieces in the order that keeps overlapping areas right: upwards when the destination lies below the source.
  void add_copy() const {
    FunctionDraft draft = make_draft(kCopy);
    Expr upwards = build_.binary(BinaryenLeUInt32(), build_.get_i32(kDest), build_.get_i32(kSource));
    draft.body = build_.sequence(
        {build_.if_else(upwards, forward({copy(nullptr, build_.i32(kPieceBytes)), move_by(kSource, BinaryenAddInt32())}), backward()),
         copy(nullptr, size())});
    build_.add(draft);
  }

 private:
  static FunctionDraft make_draft(const char* name) {
    Type params[] = {BinaryenTypeInt32(), BinaryenTypeInt32(), BinaryenTypeInt32()};
    return {name, BinaryenTypeCreate(params, 3), BinaryenTypeNone(), {params[0], params[1], params[2]}, nullptr};
  }

  Expr size() const { return build_.get_i32(kSize); }
  Expr fill(Expr bytes) const { return BinaryenMemoryFill(build_.module(), build_.get_i32(kDest), build_.get_i32(kSource), bytes); }
  Expr copy(Expr offset, Expr bytes) const {
    auto at = [&](Local base) {
      return offset ? build_.binary(BinaryenAddInt32(), build_.get_i32(base), build_.copy(offset)) : build_.get_i32(base);
    };
    return BinaryenMemoryCopy(build_.module(), at(kDest), at(kSource), bytes);
  }
  Expr move_by(Local local, BinaryenOp op) const {
    return build_.set(local, build_.binary(op, build_.get_i32(local), build_.i32(kPieceBytes)));
  }

  // while (size > piece) { do a piece at the low end; step over it }
  Expr forward(std::vector<Expr> piece) const {
    piece.push_back(move_by(kDest, BinaryenAddInt32()));
    piece.push_back(move_by(kSize, BinaryenSubInt32()));
    return repeat("up", std::move(piece));
  }

  // while (size > piece) { size -= piece; do the piece at the high end }
  Expr backward() const { return repeat("down", {move_by(kSize, BinaryenSubInt32()), copy(size(), build_.i32(kPieceBytes))}); }

  Expr repeat(const std::string& label, std::vector<Expr> body) const {
    body.push_back(build_.br(label.c_str()));
    Expr more = build_.binary(BinaryenGtUInt32(), size(), build_.i32(kPieceBytes));
    return build_.loop(label.c_str(), build_.if_else(more, build_.sequence(std::move(body))));
  }

  Builder build_;
};

}  // namespace

void split_bulk_memory(BinaryenModuleRef module) {
  const Builder build(module);
  bool fills = false;
  bool copies = false;
  auto replace = [&](Expr e) {
    if (is(e, Node::memory_fill) && !is_small(BinaryenMemoryFillGetSize(e))) {
      fills = true;
      return build.call(kFill, {BinaryenMemoryFillGetDest(e), BinaryenMemoryFillGetValue(e), BinaryenMemoryFillGetSize(e)},
                        BinaryenTypeNone());
    }
    if (is(e, Node::memory_copy) && !is_small(BinaryenMemoryCopyGetSize(e))) {
      copies = true;
      return build.call(kCopy, {BinaryenMemoryCopyGetDest(e), BinaryenMemoryCopyGetSource(e), BinaryenMemoryCopyGetSize(e)},
                        BinaryenTypeNone());
    }
    return e;
  };
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    BinaryenFunctionRef function = BinaryenGetFunctionByIndex(module, i);
    if (Expr body = BinaryenFunctionGetBody(function)) BinaryenFunctionSetBody(function, rewrite(body, replace));
  }
  const Splitter splitter(module);
  if (fills) splitter.add_fill();
  if (copies) splitter.add_copy();
}

}  // namespace gw::prep
