#pragma once
// The module as it comes in: checked, stripped of what the transformation replaces, and parsed.

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "prep/ir.h"
#include "prep/unwind_stack.h"
#include "wire/module_info.h"

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
  // Reserved by the linker, if the module was linked with our guest runtime; else made room for behind its memory. Level off has none.
  const UnwindArea& unwind_area() const { return unwind_area_; }
  // Its address, if the module was linked with our guest runtime.
  std::optional<std::uint32_t> poll_cell() const;

 private:
  explicit SourceModule(BinaryenModuleRef module) : module_(module) {}
  Status check_contents() const;
  // The start function becomes the first thing _start does: instantiation must not run guest code.
  Status call_start_function_from_start_export(std::optional<std::uint32_t> index);

  BinaryenModuleRef module_;
  std::uint32_t features_ = 0;
  UnwindArea unwind_area_;
};

}  // namespace gw::prep
