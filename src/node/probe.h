#pragma once
// The ping of a user to another peer; wire/probe.proto.

#include <string>

#include "base/bytes.h"
#include "node/control.h"

namespace gw::node {

Bytes make_probe();
// The answer to a request of another peer. Kind::unsupported: the request is not a probe, and there are no other kinds.
Result<Bytes> answer_probe(ByteView request, const std::string& version);
// Decodes an answer that came after `round_trip`; way and remote are left empty. Kind::corrupt.
Result<PingView> read_probe_answer(ByteView answer, std::chrono::nanoseconds round_trip);

}  // namespace gw::node
