#pragma once
// The identity of a peer.

#include <filesystem>
#include <memory>

#include "base/hash.h"
#include "base/signature.h"

struct evp_pkey_st;  // EVP_PKEY and X509 of OpenSSL, kept out of this header
struct x509_st;

namespace gw::transport {

// SHA-256 of the public key (DER SubjectPublicKeyInfo).
using PeerId = Hash256;
PeerId id_of(const PublicKey& key);

using KeyPointer = std::shared_ptr<evp_pkey_st>;  // shared with OpenSSL, which counts too
using CertificatePointer = std::shared_ptr<x509_st>;

// An Ed25519 key pair and a certificate signed with it. The certificate has only the key: there is no certificate authority, and the id is
// the name. The certificate is made at each start. A value; immutable.
class Identity {
 public:
  // Makes a new identity that is not stored.
  static Result<Identity> make();
  // Loads the identity in `key_file` (PEM, PKCS #8), or makes a new one and stores it there, readable by this user alone. A file that
  // others may read or change is refused.
  static Result<Identity> load_or_make(const std::filesystem::path& key_file);

  const PeerId& id() const { return id_; }
  const PublicKey& public_key() const { return public_key_; }
  // Ed25519, as gw::verify() checks it.
  Signature sign(ByteView message) const;
  const KeyPointer& key() const { return key_; }
  const CertificatePointer& certificate() const { return certificate_; }

 private:
  Identity(KeyPointer key, CertificatePointer certificate, const PublicKey& public_key);
  static Result<Identity> of(KeyPointer key);

  KeyPointer key_;
  CertificatePointer certificate_;
  PublicKey public_key_;
  PeerId id_;
};

}  // namespace gw::transport
