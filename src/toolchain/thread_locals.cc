// Problem: LLVM makes a thread_local variable a plain one if a wasm program has no shared memory, so all guest threads would have the same.
// The emulation of LLVM (-femulated-tls) does nothing for wasm.
//
// Here a variable `x` becomes a record `godwit_thread.x` of four words (struct thread_variable in sdk/guest/runtime/thread_data.c): size,
// alignment, a word for the runtime, and the address of its initial value, null if that is zero. Clang marks accesses by the intrinsic
// llvm.threadlocal.address, which becomes a call of godwit_thread_variable with the record. So does the address where it stands unmarked,
// as it does in constructors.
//
// In a function with exception handlers the calls stand at its beginning: LLVM takes a call inside a handler that does not say so for one
// that is never reached.

#include "toolchain/thread_locals.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gw::toolchain {
namespace {

using Block = LlvmLibrary::Block;
using Value = LlvmLibrary::Value;
using Type = LlvmLibrary::Type;

constexpr std::string_view kAddressIntrinsic = "llvm.threadlocal.address";
constexpr const char* kRuntimeFunction = "godwit_thread_variable";
const std::string kRecordPrefix = "godwit_thread.";
const std::string kInitialPrefix = "godwit_thread_initial.";

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool contains_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

class ThreadLocals {
 public:
  ThreadLocals(const LlvmLibrary& llvm, LlvmLibrary::Context context, LlvmLibrary::Builder builder, LlvmLibrary::Module module)
      : llvm_(llvm), context_(context), builder_(builder), module_(module) {
    word_ = llvm_.Int32TypeInContext(context_);
    pointer_ = llvm_.PointerTypeInContext(context_, 0);
    Type fields[] = {word_, word_, word_, pointer_};
    record_ = llvm_.StructTypeInContext(context_, fields, 4, 0);
  }

  Result<bool> run() {
    std::vector<Value> variables;
    for (Value g = llvm_.GetFirstGlobal(module_); g; g = llvm_.GetNextGlobal(g))
      if (llvm_.IsThreadLocal(g)) variables.push_back(g);
    if (variables.empty()) return false;
    for (Value variable : variables) add_record(variable);
    for (Value f = llvm_.GetFirstFunction(module_); f; f = llvm_.GetNextFunction(f))
      if (llvm_.GetFirstBasicBlock(f)) replace_accesses(f);
    for (Value variable : variables) {
      if (is_used(variable))
        return fail(Kind::unsupported, "the thread_local variable {} is used in a way that cannot be separated by thread",
                    name_of(variable));
      llvm_.ReplaceAllUsesWith(variable, llvm_.ConstNull(pointer_));
      llvm_.DeleteGlobal(variable);
    }
    return true;
  }

 private:
  struct Access {
    Value user;  // an instruction
    unsigned operand;
    Value variable;
  };

  std::string name_of(Value value) const {
    std::size_t size = 0;
    const char* const name = llvm_.GetValueName2(value, &size);
    return std::string(name, size);
  }

  void add_record(Value variable) {
    const std::string name = name_of(variable);
    Value record = records_[variable] = llvm_.AddGlobal(module_, record_, (kRecordPrefix + name).c_str());
    const int linkage = llvm_.GetLinkage(variable);
    if (llvm_.IsDeclaration(variable) || linkage == LlvmLibrary::available_externally) return;
    Type type = llvm_.GlobalGetValueType(variable);
    LlvmLibrary::DataLayout layout = llvm_.GetModuleDataLayout(module_);
    const unsigned alignment = std::max(llvm_.GetAlignment(variable), llvm_.PreferredAlignmentOfGlobal(layout, variable));
    Value fields[] = {llvm_.ConstInt(word_, llvm_.ABISizeOfType(layout, type), 0), llvm_.ConstInt(word_, alignment, 0),
                      llvm_.ConstInt(word_, 0, 0), initial_value(variable, name, type)};
    llvm_.SetInitializer(record, llvm_.ConstStructInContext(context_, fields, 4, 0));
    llvm_.SetLinkage(record, linkage);
    llvm_.SetVisibility(record, llvm_.GetVisibility(variable));
  }

  Value initial_value(Value variable, const std::string& name, Type type) {
    Value value = llvm_.GetInitializer(variable);
    if (llvm_.IsNull(value)) return llvm_.ConstNull(pointer_);
    Value initial = llvm_.AddGlobal(module_, type, (kInitialPrefix + name).c_str());
    llvm_.SetInitializer(initial, value);
    llvm_.SetLinkage(initial, LlvmLibrary::internal);
    llvm_.SetGlobalConstant(initial, 1);
    return initial;
  }

  // By more than constants that nothing uses any longer.
  bool is_used(Value value) const {
    for (LlvmLibrary::Use use = llvm_.GetFirstUse(value); use; use = llvm_.GetNextUse(use)) {
      Value user = llvm_.GetUser(use);
      if (!llvm_.IsAConstantExpr(user) || is_used(user)) return true;
    }
    return false;
  }

  // The variable that a constant is the address of, or of a part of; null if there is none.
  Value variable_in(Value constant) const {
    if (records_.contains(constant)) return constant;
    return llvm_.IsAConstantExpr(constant) && llvm_.GetConstOpcode(constant) == LlvmLibrary::kGetElementPtr
               ? variable_in(llvm_.GetOperand(constant, 0))
               : nullptr;
  }

  // The same address, of the variable of the thread.
  Value rebuilt(Value constant, Value variable) {
    if (records_.contains(constant)) return variable;
    std::vector<Value> indices;
    for (unsigned i = 1; i < static_cast<unsigned>(llvm_.GetNumOperands(constant)); ++i) indices.push_back(llvm_.GetOperand(constant, i));
    Value base = rebuilt(llvm_.GetOperand(constant, 0), variable);
    return llvm_.BuildGEP2(builder_, llvm_.GetGEPSourceElementType(constant), base, indices.data(), static_cast<unsigned>(indices.size()),
                           "");
  }

  void replace_accesses(Value function) {
    std::vector<Access> accesses;
    for (Block b = llvm_.GetFirstBasicBlock(function); b; b = llvm_.GetNextBasicBlock(b))
      for (Value i = llvm_.GetFirstInstruction(b); i; i = llvm_.GetNextInstruction(i))
        for (unsigned k = 0; k < static_cast<unsigned>(llvm_.GetNumOperands(i)); ++k)
          if (Value variable = variable_in(llvm_.GetOperand(i, k))) accesses.push_back({i, k, variable});
    if (accesses.empty()) return;
    const bool in_front = llvm_.HasPersonalityFn(function) != 0;
    // Instructions that are built in front stand before this one, in the order in which they are built; the place itself goes at the end.
    llvm_.PositionBuilderBefore(builder_, llvm_.GetFirstInstruction(llvm_.GetFirstBasicBlock(function)));
    Value front = llvm_.BuildFreeze(builder_, llvm_.ConstInt(word_, 0, 0), "");
    std::map<Value, Value> known;
    for (const Access& access : accesses) {
      Value& address = known[access.variable];
      llvm_.PositionBuilderBefore(builder_, in_front || llvm_.IsAPHINode(access.user) ? front : access.user);
      if (!address || !in_front) address = call_runtime(records_[access.variable]);
      if (is_intrinsic(access.user)) {
        llvm_.ReplaceAllUsesWith(access.user, address);
        llvm_.InstructionEraseFromParent(access.user);
      } else {
        llvm_.SetOperand(access.user, access.operand, rebuilt(llvm_.GetOperand(access.user, access.operand), address));
      }
    }
    llvm_.InstructionEraseFromParent(front);
  }

  bool is_intrinsic(Value user) const {
    return llvm_.IsACallInst(user) && name_of(llvm_.GetCalledValue(user)).starts_with(kAddressIntrinsic);
  }

  Value call_runtime(Value record) {
    Type type = llvm_.FunctionType(pointer_, &pointer_, 1, 0);
    Value function = llvm_.GetNamedFunction(module_, kRuntimeFunction);
    if (!function) function = llvm_.AddFunction(module_, kRuntimeFunction, type);
    return llvm_.BuildCall2(builder_, type, function, &record, 1, "");
  }

  const LlvmLibrary& llvm_;
  LlvmLibrary::Context context_;
  LlvmLibrary::Builder builder_;
  LlvmLibrary::Module module_;
  Type word_, pointer_, record_;
  std::map<Value, Value> records_;
};

}  // namespace

bool mentions_thread_locals(std::string_view text) {
  return contains_word(text, "thread_local") || contains_word(text, "_Thread_local") || contains_word(text, "__thread");
}

Result<bool> separate_thread_locals(const LlvmLibrary& llvm, LlvmLibrary::Context context, LlvmLibrary::Builder builder,
                                    LlvmLibrary::Module module) {
  return ThreadLocals(llvm, context, builder, module).run();
}

}  // namespace gw::toolchain
