#pragma once
// The module as it comes in: checked, stripped of what the transformation replaces, parsed, and without exception instructions.

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "prep/ir.h"
#include "prep/mobility/unwind_stack.h"
#include "wire/wasm/module_info.h"

namespace gw::prep {

// Owns a parsed Binaryen module.
class SourceModule {
 public:
  // Refuses what cannot be made mobile. REQUIRES: well-formed wasm.
  static Result<SourceModule> parse(ByteView wasm, wire::Level level);

  SourceModule(SourceModule&& other) noexcept;
  SourceModule& operator=(SourceModule&&) = delete;
  ~SourceModule();

  BinaryenModuleRef ref() const { return module_; }
  std::uint32_t features() const { return features_; }  // bits of Binaryen's feature set that are switched on
  // Behind the memory of the module, which has been made so much larger. Level off has none.
  const UnwindArea& unwind_area() const { return unwind_area_; }
  // The address of the poll cell, if the module was linked with our guest runtime.
  std::optional<std::uint32_t> poll_cell() const;

 private:
  explicit SourceModule(BinaryenModuleRef module) : module_(module) {}
  Status check_contents() const;
  Status replace_exceptions();
  // The start function becomes the first thing _start does: instantiation must not run guest code.
  Status call_start_function_from_start_export(std::optional<std::uint32_t> index);

  BinaryenModuleRef module_;
  std::uint32_t features_ = 0;
  UnwindArea unwind_area_;
};

}  // namespace gw::prep
