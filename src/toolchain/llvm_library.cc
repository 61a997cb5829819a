#include "toolchain/llvm_library.h"

#include <dlfcn.h>

#include <string>

namespace gw::toolchain {
namespace {

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <class F>
  void resolve(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library_, name));
    if (!function) missing_ = name;
  }
  const std::string& missing() const { return missing_; }  // empty: nothing

 private:
  void* library_;
  std::string missing_;
};

#define GW_RESOLVE(NAME) symbols.resolve(llvm.NAME, "LLVM" #NAME)

void resolve_code(LlvmLibrary& llvm, Symbols& symbols) {
  GW_RESOLVE(ContextCreate);
  GW_RESOLVE(CreateMemoryBufferWithContentsOfFile);
  GW_RESOLVE(ParseBitcodeInContext2);
  GW_RESOLVE(WriteBitcodeToFile);
  GW_RESOLVE(ContextSetDiagnosticHandler);
  GW_RESOLVE(GetFirstFunction);
  GW_RESOLVE(GetNextFunction);
  GW_RESOLVE(GetFirstBasicBlock);
  GW_RESOLVE(GetNextBasicBlock);
  GW_RESOLVE(GetFirstInstruction);
  GW_RESOLVE(GetNextInstruction);
  GW_RESOLVE(GetBasicBlockTerminator);
  GW_RESOLVE(GetInstructionParent);
  GW_RESOLVE(IsAPHINode);
  GW_RESOLVE(IsACatchSwitchInst);
  GW_RESOLVE(IsACleanupPadInst);
  GW_RESOLVE(IsAInstruction);
  GW_RESOLVE(CountIncoming);
  GW_RESOLVE(GetIncomingValue);
  GW_RESOLVE(GetIncomingBlock);
  GW_RESOLVE(SetOperand);
  GW_RESOLVE(CreateBuilderInContext);
  GW_RESOLVE(PositionBuilderBefore);
  GW_RESOLVE(BuildFreeze);
  GW_RESOLVE(BuildPhi);
  GW_RESOLVE(AddIncoming);
  GW_RESOLVE(TypeOf);
  GW_RESOLVE(GetNumSuccessors);
  GW_RESOLVE(GetSuccessor);
}

void resolve_variables(LlvmLibrary& llvm, Symbols& symbols) {
  GW_RESOLVE(GetFirstGlobal);
  GW_RESOLVE(GetNextGlobal);
  GW_RESOLVE(IsThreadLocal);
  GW_RESOLVE(IsDeclaration);
  GW_RESOLVE(GetValueName2);
  GW_RESOLVE(GlobalGetValueType);
  GW_RESOLVE(GetInitializer);
  GW_RESOLVE(SetInitializer);
  GW_RESOLVE(IsNull);
  GW_RESOLVE(AddGlobal);
  GW_RESOLVE(DeleteGlobal);
  GW_RESOLVE(GetFirstUse);
  GW_RESOLVE(GetNextUse);
  GW_RESOLVE(GetUser);
  GW_RESOLVE(GetLinkage);
  GW_RESOLVE(SetLinkage);
  GW_RESOLVE(GetVisibility);
  GW_RESOLVE(SetVisibility);
  GW_RESOLVE(SetGlobalConstant);
  GW_RESOLVE(GetModuleDataLayout);
  GW_RESOLVE(ABISizeOfType);
  GW_RESOLVE(PreferredAlignmentOfGlobal);
  GW_RESOLVE(GetAlignment);
  GW_RESOLVE(Int32TypeInContext);
  GW_RESOLVE(PointerTypeInContext);
  GW_RESOLVE(StructTypeInContext);
  GW_RESOLVE(FunctionType);
  GW_RESOLVE(ConstInt);
  GW_RESOLVE(ConstNull);
  GW_RESOLVE(ConstStructInContext);
  GW_RESOLVE(AddFunction);
  GW_RESOLVE(GetNamedFunction);
  GW_RESOLVE(BuildCall2);
  GW_RESOLVE(IsACallInst);
  GW_RESOLVE(GetCalledValue);
  GW_RESOLVE(GetOperand);
  GW_RESOLVE(GetNumOperands);
  GW_RESOLVE(IsAConstantExpr);
  GW_RESOLVE(GetConstOpcode);
  GW_RESOLVE(GetGEPSourceElementType);
  GW_RESOLVE(BuildGEP2);
  GW_RESOLVE(ReplaceAllUsesWith);
  GW_RESOLVE(InstructionEraseFromParent);
  GW_RESOLVE(HasPersonalityFn);
  GW_RESOLVE(GetStringAttributeAtIndex);
  GW_RESOLVE(GetStringAttributeValue);
  GW_RESOLVE(CreateStringAttribute);
  GW_RESOLVE(RemoveStringAttributeAtIndex);
  GW_RESOLVE(AddAttributeAtIndex);
}

#undef GW_RESOLVE

}  // namespace

Result<LlvmLibrary> LlvmLibrary::load() {
  constexpr const char* kName = "libLLVM.so.19.1";
  // In a namespace of its own: libbinaryen contains parts of another LLVM, to which this one must not be bound.
  void* const handle = dlmopen(LM_ID_NEWLM, kName, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return fail(Kind::not_found, "cannot load {} ({}): install clang-19 with tools/setup", kName, dlerror());
  LlvmLibrary llvm{};
  Symbols symbols(handle);
  resolve_code(llvm, symbols);
  resolve_variables(llvm, symbols);
  if (!symbols.missing().empty()) return fail(Kind::unsupported, "{} has no function {}", kName, symbols.missing());
  return llvm;
}

}  // namespace gw::toolchain
