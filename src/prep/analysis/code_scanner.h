#pragma once
// Walks the instructions of a function body in wasm's binary form.

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"

namespace gw::prep {

struct Instruction {
  std::size_t offset;           // from the start of the body, which begins with the declarations of locals
  std::uint8_t opcode;          // the prefix byte, for prefixed ones
  std::uint64_t immediate = 0;  // the first one, if there is any: label depth, index, constant
};

// Reads the instructions of one body in order. Knows the instructions that modules may contain: those of our own
// passes, and exceptions.
class CodeScanner {
 public:
  static Result<CodeScanner> open(ByteView body);
  // Nothing at the end of the body.
  Result<std::optional<Instruction>> next();

 private:
  explicit CodeScanner(ByteView body) : body_(body), in_(body) {}
  Status skip_immediates(Instruction& instruction);
  Status skip_simd_immediates();
  Status skip_bulk_immediates();
  Status skip_lebs(unsigned count);

  ByteView body_;
  ByteReader in_;
};

}  // namespace gw::prep
