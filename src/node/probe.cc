#include "node/probe.h"

#include <algorithm>

#include "os/clock.h"
#include "wire/probe.pb.h"

namespace gw::node {
namespace {

constexpr std::string_view kProbe = "godwit probe 1";
constexpr std::size_t kMaxVersion = 64;  // characters

}  // namespace

Bytes make_probe() {
  const ByteView bytes = as_bytes(kProbe);
  return {bytes.begin(), bytes.end()};
}

Result<Bytes> answer_probe(ByteView request, const std::string& version) {
  if (as_text(request) != kProbe) return fail(Kind::unsupported, "the request is not a probe, the only request that peers may make");
  wire::pb::ProbeAnswer answer;
  answer.set_version(version);
  answer.set_wall_clock_ns(static_cast<std::uint64_t>(os::wall_now().count()));
  const std::string text = answer.SerializeAsString();
  const ByteView bytes = as_bytes(text);
  return Bytes(bytes.begin(), bytes.end());
}

Result<PingView> read_probe_answer(ByteView bytes, std::chrono::nanoseconds round_trip) {
  wire::pb::ProbeAnswer answer;
  const bool read = answer.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (!read || answer.version().size() > kMaxVersion || answer.wall_clock_ns() > INT64_MAX)
    return fail(Kind::corrupt, "the peer's answer is not understood: it may be of another version");
  // The other peer read its clock between our question and the arrival of its answer: assume the middle.
  const auto ahead = std::chrono::nanoseconds(answer.wall_clock_ns()) - (os::wall_now() - round_trip / 2);
  return PingView{.round_trip = std::chrono::duration_cast<std::chrono::microseconds>(round_trip),
                  .version = answer.version(),
                  .clock_ahead = std::chrono::duration_cast<std::chrono::milliseconds>(ahead)};
}

}  // namespace gw::node
