#pragma once
// Whether a peer can be dialled somewhere.

#include "transport/connection/connection.h"

namespace gw::transport {

inline constexpr std::chrono::milliseconds kProbePatience{2'500};

// Dials and makes the handshake, in which the other side must show that it is `expected`, and closes again without a hello.
// Kind::not_found: no process listens there; invalid: another peer is there; timeout: no answer in time. Node thread.
asio::awaitable<Status> probe(asio::io_context& io, asio::ssl::context& tls, Endpoint where, PeerId expected);

}  // namespace gw::transport
