#pragma once
// The table of the local API: every request, and the function that serves it.

#include <span>
#include <variant>

#include "gateway/api.h"
#include "gateway/job_stream.h"
#include "gateway/route.h"

namespace gw::gateway {

// A function with one answer, or one that sends a stream and ends the connection.
using ApiHandler = asio::awaitable<httpd::Answer> (Api::*)(const Match& match, std::string body);
using StreamHandler = asio::awaitable<void> (JobStream::*)(const Match& match);
using Handler = std::variant<ApiHandler, StreamHandler>;

std::span<const Route> routes();
// REQUIRES: `route` is one of routes().
const Handler& handler_of(const Route& route);
// What a token needs for it. REQUIRES: as above.
Scope scope_of(const Route& route);

}  // namespace gw::gateway
