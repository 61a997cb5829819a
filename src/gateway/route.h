#pragma once
// What a request of the local API asks for; docs/api/openapi.yaml.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/hash.h"
#include "job/names.h"
#include "node/control.h"

namespace gw::gateway {

// --- one for each operation, with everything in it checked

struct ShowNode {};
struct ListPeers {};
struct ListJobs {};
struct ShowJob {
  job::JobId job;
};
struct SubmitJob {};  // the body is a pb::JobSubmission
struct CancelJob {
  job::JobId job;
};
struct ReadOutput {
  enum class ReadUntil : std::uint8_t { now, end };
  job::JobId job;
  node::Stream stream = node::Stream::output;
  std::uint64_t from = 0;
  ReadUntil until = ReadUntil::now;
};
struct ReadEvents {
  job::JobId job;
  std::uint64_t from = 0;
};
struct StoreBlob {
  Hash256 hash;
};
struct PingPeer {
  job::PeerId peer;
};
struct SetShare {};  // the body is JSON: what is to be changed
struct ReadMetrics {};
struct ListGrids {};
struct AddGrid {};  // the body says whether it is made or joined
struct LeaveGrid {
  wire::GridId grid;
};
struct InviteToGrid {
  wire::GridId grid;
};
struct RevokeInGrid {
  wire::GridId grid;
};
struct StopNode {};
using Call = std::variant<ShowNode, ListPeers, PingPeer, ListJobs, ShowJob, SubmitJob, CancelJob, ReadOutput, ReadEvents, StoreBlob,
                          SetShare, ReadMetrics, ListGrids, AddGrid, LeaveGrid, InviteToGrid, RevokeInGrid, StopNode>;

// One line of the table that decides which requests there are.
struct Route {
  std::string_view method;
  std::string_view path;       // "/v1/jobs/{id}"; a segment in braces stands for a SHA-256 in hexadecimal
  std::string_view query;      // names it takes, separated by blanks
  std::size_t max_body_bytes;  // 0: it has none
};
std::span<const Route> routes();

// What the first line of a request asks for. Kind::not_found: there is no such path; Kind::unsupported: not with this method;
// Kind::invalid: a value in it is wrong.
struct ParsedRequest {
  Call call;
  std::size_t max_body_bytes = 0;
};
Result<ParsedRequest> parse_request(std::string_view method, std::string_view target);

// The methods a path can be asked with, as in the header Allow.
std::string methods_of(std::string_view target);

}  // namespace gw::gateway
