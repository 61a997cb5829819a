#include "transport/identity/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <memory>

namespace gw::transport {
namespace {

constexpr std::size_t kMaxCertificateBytes = 4096;

int check_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

Result<PeerId> checked(X509_STORE_CTX* store, const PeerCheck& check) {
  X509* certificate = X509_STORE_CTX_get0_cert(store);
  if (certificate == nullptr) return fail(Kind::invalid, "it showed no certificate");
  GW_TRY(PeerId id, check_certificate(certificate, std::chrono::system_clock::now()));
  if (check.expected && id != *check.expected)
    return fail(Kind::invalid, "peer {} answered, not {}: the address belongs to another peer now", id.hex(), check.expected->hex());
  return id;
}

// Takes the place of OpenSSL's own check, which asks for an authority.
int on_certificate(X509_STORE_CTX* store, void*) {
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* check = static_cast<PeerCheck*>(SSL_get_ex_data(ssl, check_index()));
  if (check != nullptr) check->found = checked(store, *check);
  if (check != nullptr && check->found) return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED);  // decides which alert the other side gets
  return 0;
}

}  // namespace

Result<asio::ssl::context> make_tls_context(evp_pkey_st* key, x509_st* certificate) {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set1_sigalgs_list(context.get(), "ed25519") != 1 || SSL_CTX_use_certificate(context.get(), certificate) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key) != 1 || SSL_CTX_set_num_tickets(context.get(), 0) != 1)
    return fail(Kind::internal, "cannot set up TLS: {}", last_openssl_error());
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(context.get(), kMaxCertificateBytes);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context.get(), on_certificate, nullptr);
  return asio::ssl::context(context.release());
}

void set_check(SSL* ssl, PeerCheck& check) { GW_ASSERT(SSL_set_ex_data(ssl, check_index(), &check) == 1); }

}  // namespace gw::transport
