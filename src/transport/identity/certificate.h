#pragma once
// The certificates of peers and the checks on them.

#include <chrono>
#include <string>

#include "transport/identity/identity.h"

namespace gw::transport {

// The system's clock: certificates are dated.
using WallTime = std::chrono::system_clock::time_point;

// Self-signed, valid from a day ago for ten years.
Result<CertificatePointer> make_certificate(evp_pkey_st* key);

Result<PeerId> id_of(evp_pkey_st* key);

// The owner of the certificate. Kind::invalid unless its key is Ed25519, it is signed with that key, and it is valid at `now`. The TLS
// handshake proves that its sender has the private key.
Result<PeerId> check_certificate(x509_st* certificate, WallTime now);

// The oldest error OpenSSL keeps for this thread, as text; clears them all.
std::string last_openssl_error();

}  // namespace gw::transport
