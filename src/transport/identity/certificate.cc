#include "transport/identity/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <array>

namespace gw::transport {
namespace {

constexpr long kSecondsPerDay = 24 * 3600;
// The dates prove nothing, because a peer signs its own certificate. They are wide, so that a peer whose clock is wrong can still connect
// and learn from the others that its clock is wrong.
constexpr int kDaysBefore = -3650, kDaysAfter = 3650;

bool fill(X509* certificate, EVP_PKEY* key) {
  X509_NAME* name = X509_get_subject_name(certificate);
  auto common_name = reinterpret_cast<const unsigned char*>("godwit");
  return X509_set_version(certificate, X509_VERSION_3) == 1 && ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), kDaysBefore * kSecondsPerDay) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), kDaysAfter * kSecondsPerDay) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 && X509_sign(certificate, key, nullptr) > 0;
}

}  // namespace

std::string last_openssl_error() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

Result<CertificatePointer> make_certificate(evp_pkey_st* key) {
  CertificatePointer certificate(X509_new(), X509_free);
  if (!certificate || !fill(certificate.get(), key)) return fail(Kind::internal, "cannot make a certificate: {}", last_openssl_error());
  return certificate;
}

Result<PeerId> id_of(evp_pkey_st* key) {
  unsigned char* der = nullptr;
  int size = i2d_PUBKEY(key, &der);
  if (size <= 0) return fail(Kind::invalid, "a public key cannot be encoded: {}", last_openssl_error());
  PeerId id = sha256({der, static_cast<std::size_t>(size)});
  OPENSSL_free(der);
  return id;
}

Result<PeerId> check_certificate(x509_st* certificate, WallTime now) {
  EVP_PKEY* key = X509_get0_pubkey(certificate);
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) return fail(Kind::invalid, "the certificate has no Ed25519 key");
  if (X509_verify(certificate, key) != 1) {
    ERR_clear_error();
    return fail(Kind::invalid, "the certificate is not signed with its own key");
  }
  std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  // X509_cmp_time gives 0 for a time it cannot read.
  if (X509_cmp_time(X509_get0_notBefore(certificate), &seconds) >= 0)
    return fail(Kind::invalid, "the certificate is not valid yet: compare the clocks");
  if (X509_cmp_time(X509_get0_notAfter(certificate), &seconds) <= 0)
    return fail(Kind::invalid, "the certificate has expired: restart that peer");
  return id_of(key);
}

}  // namespace gw::transport
