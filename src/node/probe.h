#pragma once
// One peer asks another whether it is there; wire/probe.proto.

#include <string>

#include "base/bytes.h"
#include "node/control.h"

namespace gw::node {

Bytes make_probe();
// What to answer to a request of another peer. Kind::unsupported: it is no probe, and nothing else is asked.
Result<Bytes> answer_probe(ByteView request, const std::string& version);
// What an answer says that came after `round_trip`; way and remote are left empty. Kind::corrupt.
Result<PingView> read_probe_answer(ByteView answer, std::chrono::nanoseconds round_trip);

}  // namespace gw::node
