#pragma once
// The certificates peers show each other, and what is asked of them.

#include <chrono>
#include <string>

#include "transport/identity.h"

namespace gw::transport {

// The system's clock: certificates are dated.
using WallTime = std::chrono::system_clock::time_point;

// Self-signed, valid from a day ago for ten years.
Result<CertificatePointer> make_certificate(evp_pkey_st* key);

Result<PeerId> id_of(evp_pkey_st* key);

// Whose certificate it is. Kind::invalid unless its key is Ed25519, it is signed with that key, and it is valid at `now`. That its sender
// has the private key is proven by the TLS handshake.
Result<PeerId> check_certificate(x509_st* certificate, WallTime now);

// The oldest error OpenSSL keeps for this thread, as text; clears them all.
std::string last_openssl_error();

}  // namespace gw::transport
