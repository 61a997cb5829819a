#pragma once
// The part of LLVM's C API that handler_fix.cc needs, from the library that clang-19 itself uses: its headers are not installed, and
// nothing else here may load 140 MB of library.

#include "base/result.h"

struct LLVMOpaqueContext;
struct LLVMOpaqueModule;
struct LLVMOpaqueValue;
struct LLVMOpaqueBasicBlock;
struct LLVMOpaqueBuilder;
struct LLVMOpaqueMemoryBuffer;
struct LLVMOpaqueType;

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
};

}  // namespace gw::toolchain
