// The readers of a module's outer structure: they refuse it with a sentence, or the `godwit` section they found encodes to the same again.

#include <cstdint>
#include <cstdlib>

#include "wire/wasm/module_info.h"
#include "wire/wasm/wasm_binary.h"

namespace {

template <class T>
void expect_reason(const gw::Result<T>& result) {
  if (!result && result.error().detail.empty()) std::abort();
}

void read_module(gw::ByteView wasm) {
  expect_reason(gw::wire::read_sections(wasm));
  expect_reason(gw::wire::read_types(wasm));
  expect_reason(gw::wire::read_imports(wasm));
  expect_reason(gw::wire::read_exports(wasm));
  expect_reason(gw::wire::read_memories(wasm));
  expect_reason(gw::wire::read_function_names(wasm));
  expect_reason(gw::wire::read_module_info(wasm));
}

void read_section(gw::ByteView section) {
  auto info = gw::wire::decode_module_info(section);
  expect_reason(info);
  if (!info) return;
  gw::Bytes again = gw::wire::encode(*info);
  if (!std::equal(section.begin(), section.end(), again.begin(), again.end())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gw::ByteView bytes(data, size);
  read_module(bytes);
  read_section(bytes);
  return 0;
}
