// Problem: LLVM's win-eh-prepare keeps the PHIs of a catchswitch block in memory. Where such a PHI is an operand of a PHI of another EH pad
// (the cleanup that ends an outer handler), the pass puts poison there: after an exception inside a handler a local variable has a wrong
// value, without any message, from -O1 on. No flag avoids it.
//
// Here each such operand becomes a copy (freeze) in the block that the operand comes from. The copy is an ordinary use, which the pass
// handles. If that block is itself a catchswitch, where nothing but PHIs may stand, a new PHI there takes copies from further up.
//
// Pads that the lowering of setjmp makes come into being later and are not seen: a C++ function with both setjmp and try may be
// miscompiled.

#include "toolchain/handler_fix.h"

#include <map>
#include <utility>
#include <vector>

namespace gw::toolchain {
namespace {

using Block = LlvmLibrary::Block;
using Value = LlvmLibrary::Value;

class HandlerFix {
 public:
  HandlerFix(const LlvmLibrary& llvm, LlvmLibrary::Builder builder, Value function) : llvm_(llvm), builder_(builder) {
    for (Block b = llvm_.GetFirstBasicBlock(function); b; b = llvm_.GetNextBasicBlock(b)) {
      blocks_.push_back(b);
      Value terminator = llvm_.GetBasicBlockTerminator(b);
      for (unsigned i = 0; terminator && i < llvm_.GetNumSuccessors(terminator); ++i)
        predecessors_[llvm_.GetSuccessor(terminator, i)].push_back(b);
    }
  }

  // Returns how many copies were made.
  std::size_t run() {
    std::vector<Value> phis;
    for (Block b : blocks_) {
      if (!is_pad_with_phis(b)) continue;
      for (Value i = llvm_.GetFirstInstruction(b); i && llvm_.IsAPHINode(i); i = llvm_.GetNextInstruction(i)) phis.push_back(i);
    }
    for (Value phi : phis) {
      for (unsigned i = 0; i < llvm_.CountIncoming(phi); ++i) {
        Value operand = llvm_.GetIncomingValue(phi, i);
        Block from = llvm_.GetIncomingBlock(phi, i);
        if (is_catchswitch_phi(operand) && llvm_.GetInstructionParent(operand) != from)
          llvm_.SetOperand(phi, i, copy_at_end(operand, from));
      }
    }
    return copies_.size();
  }

 private:
  Value first_behind_phis(Block b) const {
    Value i = llvm_.GetFirstInstruction(b);
    while (i && llvm_.IsAPHINode(i)) i = llvm_.GetNextInstruction(i);
    return i;
  }
  bool is_catchswitch(Block b) const {
    Value i = first_behind_phis(b);
    return i && llvm_.IsACatchSwitchInst(i);
  }
  bool is_pad_with_phis(Block b) const {
    Value i = first_behind_phis(b);
    return i && (llvm_.IsACatchSwitchInst(i) || llvm_.IsACleanupPadInst(i));
  }
  bool is_catchswitch_phi(Value v) const {
    return llvm_.IsAInstruction(v) && llvm_.IsAPHINode(v) && is_catchswitch(llvm_.GetInstructionParent(v));
  }

  // `v` for a use at the end of `b`.
  Value copy_at_end(Value v, Block b) {
    auto [copy, is_new] = copies_.emplace(std::pair{v, b}, nullptr);
    if (!is_new) return copy->second;
    if (!is_catchswitch(b)) {
      llvm_.PositionBuilderBefore(builder_, llvm_.GetBasicBlockTerminator(b));
      return copy->second = llvm_.BuildFreeze(builder_, v, "");
    }
    llvm_.PositionBuilderBefore(builder_, llvm_.GetFirstInstruction(b));
    Value phi = copy->second = llvm_.BuildPhi(builder_, llvm_.TypeOf(v), "");
    for (Block predecessor : predecessors_[b]) {
      Value from = llvm_.GetInstructionParent(v) == predecessor ? v : copy_at_end(v, predecessor);
      llvm_.AddIncoming(phi, &from, &predecessor, 1);
    }
    return phi;
  }

  const LlvmLibrary& llvm_;
  LlvmLibrary::Builder builder_;
  std::vector<Block> blocks_;
  std::map<Block, std::vector<Block>> predecessors_;
  std::map<std::pair<Value, Block>, Value> copies_;  // nodes stay where they are while others are added
};

}  // namespace

bool fix_handlers(const LlvmLibrary& llvm, LlvmLibrary::Builder builder, LlvmLibrary::Module module) {
  std::size_t copies = 0;
  for (Value f = llvm.GetFirstFunction(module); f; f = llvm.GetNextFunction(f))
    if (llvm.GetFirstBasicBlock(f)) copies += HandlerFix(llvm, builder, f).run();
  return copies > 0;
}

}  // namespace gw::toolchain
