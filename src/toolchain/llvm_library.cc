#include "toolchain/llvm_library.h"

#include <dlfcn.h>

#include <string>

namespace gw::toolchain {

Result<LlvmLibrary> LlvmLibrary::load() {
  constexpr const char* kName = "libLLVM.so.19.1";
  // In a namespace of its own: libbinaryen contains parts of another LLVM, to which this one must not be bound.
  void* const handle = dlmopen(LM_ID_NEWLM, kName, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return fail(Kind::not_found, "cannot load {} ({}): install clang-19 with tools/setup", kName, dlerror());
  LlvmLibrary llvm{};
  std::string missing;
  auto resolve = [&]<class F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(handle, name));
    if (!function) missing = name;
  };
#define GW_RESOLVE(NAME) resolve(llvm.NAME, "LLVM" #NAME)
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
#undef GW_RESOLVE
  if (!missing.empty()) return fail(Kind::unsupported, "{} has no function {}", kName, missing);
  return llvm;
}

}  // namespace gw::toolchain
