#pragma once
// Which requests the local API has, and how a request is matched with its route. The handlers are in api.h and job_stream.h.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "gateway/web/scope.h"
#include "node/control.h"

namespace gw::gateway {

struct Route {
  std::string_view method;
  std::string_view path;           // "/v1/jobs/{id}"; a segment in braces stands for a SHA-256 in hexadecimal
  std::string_view query = "";     // names of its parameters, separated by blanks
  std::size_t max_body_bytes = 0;  // 0: the request has no body
};

// The values in a request that fits a route. Views into its target, so it must not outlive the request.
struct Match {
  const Route* route = nullptr;
  Hash256 name{};  // the segment in braces, if the path has one
  std::map<std::string_view, std::string_view> query;
  Scope granted = Scope::manage;  // what the sender may do
};

// Kind::not_found: no route has this path; Kind::unsupported: none with this method; Kind::invalid: a name or parameter is wrong.
Result<Match> match(std::span<const Route> routes, std::string_view method, std::string_view target);

// The methods of a path, as in the header Allow.
std::string methods_of(std::span<const Route> routes, std::string_view target);

// --- parameters of a query; Kind::invalid: not one of the allowed values

// 0 if it is missing.
Result<std::uint64_t> number(const Match& match, std::string_view parameter);
// "0" or "1"; false if it is missing.
Result<bool> flag(const Match& match, std::string_view parameter);
// stdout if it is missing.
Result<node::Stream> stream(const Match& match);
// order, stream (output and errors if it is missing), tasks and from.
Result<node::FrameQuery> frame_query(const Match& match);
// filter (all if it is missing), from and limit (100 if it is missing).
Result<job::TaskQuery> task_query(const Match& match);

}  // namespace gw::gateway
