#pragma once
// The part of LLVM's C API that the rewriting of bitcode needs, from the library that clang-19 itself uses: its headers are not installed,
// and nothing else here may load 140 MB of library.

#include <cstddef>

#include "base/result.h"

struct LLVMOpaqueContext;
struct LLVMOpaqueModule;
struct LLVMOpaqueValue;
struct LLVMOpaqueBasicBlock;
struct LLVMOpaqueBuilder;
struct LLVMOpaqueMemoryBuffer;
struct LLVMOpaqueType;
struct LLVMOpaqueTargetData;
struct LLVMOpaqueAttributeRef;
struct LLVMOpaqueUse;

namespace gw::toolchain {

// Functions without their prefix "LLVM"; see llvm-c/Core.h, BitReader.h, BitWriter.h.
struct LlvmLibrary {
  using Context = LLVMOpaqueContext*;
  using Module = LLVMOpaqueModule*;
  using Value = LLVMOpaqueValue*;
  using Block = LLVMOpaqueBasicBlock*;
  using Builder = LLVMOpaqueBuilder*;
  using Buffer = LLVMOpaqueMemoryBuffer*;
  using Type = LLVMOpaqueType*;
  using DataLayout = LLVMOpaqueTargetData*;
  using Attribute = LLVMOpaqueAttributeRef*;
  using Use = LLVMOpaqueUse*;
  static constexpr unsigned kOfFunction = ~0u;  // the index of the attributes of a function, as against those of a parameter
  static constexpr int kGetElementPtr = 29;     // an opcode
  enum Linkage : int { external = 0, available_externally = 1, internal = 8 };

  // Loaded for the rest of the life of the process.
  static Result<LlvmLibrary> load();

  Context (*ContextCreate)();
  int (*CreateMemoryBufferWithContentsOfFile)(const char*, Buffer*, char**);
  int (*ParseBitcodeInContext2)(Context, Buffer, Module*);
  int (*WriteBitcodeToFile)(Module, const char*);
  void (*ContextSetDiagnosticHandler)(Context, void (*)(void*, void*), void*);
  Value (*GetFirstFunction)(Module);
  Value (*GetNextFunction)(Value);
  Block (*GetFirstBasicBlock)(Value);
  Block (*GetNextBasicBlock)(Block);
  Value (*GetFirstInstruction)(Block);
  Value (*GetNextInstruction)(Value);
  Value (*GetBasicBlockTerminator)(Block);
  Block (*GetInstructionParent)(Value);
  Value (*IsAPHINode)(Value);
  Value (*IsACatchSwitchInst)(Value);
  Value (*IsACleanupPadInst)(Value);
  Value (*IsAInstruction)(Value);
  unsigned (*CountIncoming)(Value);
  Value (*GetIncomingValue)(Value, unsigned);
  Block (*GetIncomingBlock)(Value, unsigned);
  void (*SetOperand)(Value, unsigned, Value);
  Builder (*CreateBuilderInContext)(Context);
  void (*PositionBuilderBefore)(Builder, Value);
  Value (*BuildFreeze)(Builder, Value, const char*);
  Value (*BuildPhi)(Builder, Type, const char*);
  void (*AddIncoming)(Value, Value*, Block*, unsigned);
  Type (*TypeOf)(Value);
  unsigned (*GetNumSuccessors)(Value);
  Block (*GetSuccessor)(Value, unsigned);

  Value (*GetFirstGlobal)(Module);
  Value (*GetNextGlobal)(Value);
  int (*IsThreadLocal)(Value);
  int (*IsDeclaration)(Value);
  const char* (*GetValueName2)(Value, std::size_t*);
  Type (*GlobalGetValueType)(Value);
  Value (*GetInitializer)(Value);
  void (*SetInitializer)(Value, Value);
  int (*IsNull)(Value);
  Value (*AddGlobal)(Module, Type, const char*);
  void (*DeleteGlobal)(Value);
  Use (*GetFirstUse)(Value);
  Use (*GetNextUse)(Use);
  Value (*GetUser)(Use);
  int (*GetLinkage)(Value);
  void (*SetLinkage)(Value, int);
  int (*GetVisibility)(Value);
  void (*SetVisibility)(Value, int);
  void (*SetGlobalConstant)(Value, int);
  DataLayout (*GetModuleDataLayout)(Module);
  unsigned long long (*ABISizeOfType)(DataLayout, Type);
  unsigned (*PreferredAlignmentOfGlobal)(DataLayout, Value);
  unsigned (*GetAlignment)(Value);
  Type (*Int32TypeInContext)(Context);
  Type (*PointerTypeInContext)(Context, unsigned);
  Type (*StructTypeInContext)(Context, Type*, unsigned, int);
  Type (*FunctionType)(Type, Type*, unsigned, int);
  Value (*ConstInt)(Type, unsigned long long, int);
  Value (*ConstNull)(Type);
  Value (*ConstStructInContext)(Context, Value*, unsigned, int);
  Value (*AddFunction)(Module, const char*, Type);
  Value (*GetNamedFunction)(Module, const char*);
  Value (*BuildCall2)(Builder, Type, Value, Value*, unsigned, const char*);
  Value (*IsACallInst)(Value);
  Value (*GetCalledValue)(Value);
  Value (*GetOperand)(Value, unsigned);
  int (*GetNumOperands)(Value);
  Value (*IsAConstantExpr)(Value);
  int (*GetConstOpcode)(Value);
  Type (*GetGEPSourceElementType)(Value);
  Value (*BuildGEP2)(Builder, Type, Value, Value*, unsigned, const char*);
  void (*ReplaceAllUsesWith)(Value, Value);
  void (*InstructionEraseFromParent)(Value);
  int (*HasPersonalityFn)(Value);
  Attribute (*GetStringAttributeAtIndex)(Value, unsigned, const char*, unsigned);
  const char* (*GetStringAttributeValue)(Attribute, unsigned*);
  Attribute (*CreateStringAttribute)(Context, const char*, unsigned, const char*, unsigned);
  void (*RemoveStringAttributeAtIndex)(Value, unsigned, const char*, unsigned);
  void (*AddAttributeAtIndex)(Value, unsigned, Attribute);
};

}  // namespace gw::toolchain
