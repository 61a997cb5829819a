#pragma once
// TLS between peers: version 1.3, both sides show a certificate, without a certificate authority.

#include <optional>

#include "transport/asio.h"
#include "transport/identity/certificate.h"

namespace gw::transport {

// Without session tickets, so that each connection proves both keys anew.
Result<asio::ssl::context> make_tls_context(evp_pkey_st* key, x509_st* certificate);

// The demands of one handshake on the other side's certificate, and its findings. Must stay where it is while the handshake runs.
struct PeerCheck {
  std::optional<PeerId> expected;  // none: any peer; its id is known after the handshake
  Result<PeerId> found = fail(Kind::invalid, "it showed no certificate");
};

// REQUIRES: `ssl` is of a context from make_tls_context. Without a check of its own, a handshake fails.
void set_check(SSL* ssl, PeerCheck& check);

}  // namespace gw::transport
