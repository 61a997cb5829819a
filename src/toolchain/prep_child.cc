#include "toolchain/prep_child.h"

#include <chrono>

#include "os/process/process.h"
#include "toolchain/output_codec.h"

namespace gw::toolchain {
namespace {

constexpr std::chrono::minutes kPrepTimeout{10};
constexpr std::size_t kMaxAnswerBytes = 1u << 30;

std::string how_it_ended(const os::ProcessResult& result) {
  if (result.signal != 0) return fmt::format("signal {}", result.signal);
  return fmt::format("exit code {}", result.exit_code);
}

Result<Product> process_here(ByteView wasm, const prep::Options& options) {
  GW_TRY(auto mobile, prep::process(wasm, options));
  return Product{std::move(mobile), {}};
}

}  // namespace

Result<prep::Output> process_in_child(ByteView wasm, const prep::Options& options) {
  auto child = os::run_forked([&] { return encode(process_here(wasm, options)); }, kPrepTimeout, kMaxAnswerBytes);
  if (!child) return fail(child.error().kind, "the pre-processor {}", child.error().detail);
  if (!child->succeeded()) {
    return fail(Kind::invalid, "the module is malformed, or uses a feature the pre-processor does not know ({}):\n{}", how_it_ended(*child),
                child->err);
  }
  GW_TRY(Product product, decode_result(as_bytes(child->out)));
  return std::move(product.mobile);
}

}  // namespace gw::toolchain
