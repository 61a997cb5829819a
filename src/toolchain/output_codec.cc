#include "toolchain/output_codec.h"

namespace gw::toolchain {
namespace {

enum class Tag : std::uint8_t { product, error };

// The counters of a report in their order in the encoding.
constexpr unsigned prep::Report::* kCounters[] = {&prep::Report::functions,    &prep::Report::instrumented,   &prep::Report::sites,
                                                  &prep::Report::loops,        &prep::Report::polled,         &prep::Report::versioned,
                                                  &prep::Report::unpolled,     &prep::Report::polled_entries, &prep::Report::nan_points,
                                                  &prep::Report::direct_calls, &prep::Report::unrolled};

void write_report(ByteWriter& out, const prep::Report& report) {
  out.u64(report.bytes_before);
  out.u64(report.bytes_after);
  for (auto counter : kCounters) out.u32(report.*counter);
  out.u32(static_cast<std::uint32_t>(report.left_unpolled.size()));
  for (const prep::LoopReport& loop : report.left_unpolled) {
    out.string(loop.function);
    out.string(loop.reason);
  }
}

Result<prep::Report> read_report(ByteReader& in) {
  prep::Report report;
  GW_TRY(report.bytes_before, in.u64());
  GW_TRY(report.bytes_after, in.u64());
  for (auto counter : kCounters) {
    GW_TRY(report.*counter, in.u32());
  }
  GW_TRY(auto loops, in.u32());
  for (std::uint32_t i = 0; i < loops; ++i) {
    prep::LoopReport loop;
    GW_TRY(loop.function, in.string());
    GW_TRY(loop.reason, in.string());
    report.left_unpolled.push_back(std::move(loop));
  }
  return report;
}

}  // namespace

Bytes encode(const Product& product) {
  ByteWriter out;
  out.string(product.warnings);
  write_report(out, product.mobile.report);
  out.bytes(product.mobile.wasm);
  return out.take();
}

Result<Product> decode_product(ByteView bytes) {
  ByteReader in(bytes);
  Product product;
  GW_TRY(product.warnings, in.string());
  GW_TRY(product.mobile.report, read_report(in));
  GW_TRY(auto wasm, in.bytes(in.remaining()));
  product.mobile.wasm.assign(wasm.begin(), wasm.end());
  return product;
}

Bytes encode(const Compilation::Linked& linked) {
  ByteWriter out;
  out.string(linked.warnings);
  out.bytes(linked.wasm);
  return out.take();
}

Result<Compilation::Linked> decode_linked(ByteView bytes) {
  ByteReader in(bytes);
  Compilation::Linked linked;
  GW_TRY(linked.warnings, in.string());
  GW_TRY(auto wasm, in.bytes(in.remaining()));
  linked.wasm.assign(wasm.begin(), wasm.end());
  return linked;
}

Bytes encode(const Result<Product>& result) {
  ByteWriter out;
  if (result) {
    out.u8(static_cast<std::uint8_t>(Tag::product));
    out.bytes(encode(*result));
  } else {
    out.u8(static_cast<std::uint8_t>(Tag::error));
    out.u8(static_cast<std::uint8_t>(result.error().kind));
    out.string(result.error().detail);
  }
  return out.take();
}

Result<Product> decode_result(ByteView bytes) {
  ByteReader in(bytes);
  GW_TRY(auto tag, in.u8());
  if (tag == static_cast<std::uint8_t>(Tag::product)) return decode_product(bytes.subspan(in.position()));
  GW_TRY(auto kind, in.u8());
  GW_TRY(auto detail, in.string());
  return Error{static_cast<Kind>(kind), std::move(detail)};
}

}  // namespace gw::toolchain
