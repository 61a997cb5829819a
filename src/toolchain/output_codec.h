#pragma once
// The encoding of a build's output: for the pipe from the child that pre-processes, and for the cache. The bytes never leave this machine,
// and both ends are the same version of this program.

#include <string>

#include "base/bytes.h"
#include "prep/prep.h"
#include "toolchain/compiler.h"

namespace gw::toolchain {

struct Product {
  prep::Output mobile;
  std::string warnings;
};

Bytes encode(const Product& product);
Result<Product> decode_product(ByteView bytes);

Bytes encode(const Compilation::Linked& linked);
Result<Compilation::Linked> decode_linked(ByteView bytes);

// An Error, or the product.
Bytes encode(const Result<Product>& result);
Result<Product> decode_result(ByteView bytes);

}  // namespace gw::toolchain
