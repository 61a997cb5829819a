#include "transport/identity/identity.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "os/files/file.h"
#include "os/files/io.h"
#include "os/files/unique_fd.h"
#include "transport/identity/certificate.h"

namespace gw::transport {
namespace {

constexpr std::size_t kMaxKeyFileBytes = 4096;

using BioPointer = std::unique_ptr<BIO, decltype(&BIO_free)>;

Result<KeyPointer> make_key() {
  KeyPointer key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  if (!key) return fail(Kind::internal, "cannot make an Ed25519 key: {}", last_openssl_error());
  return key;
}

Result<Bytes> to_pem(evp_pkey_st* key) {
  BioPointer memory(BIO_new(BIO_s_secmem()), BIO_free);
  if (!memory || PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return fail(Kind::internal, "cannot write down a private key: {}", last_openssl_error());
  char* text = nullptr;
  long size = BIO_get_mem_data(memory.get(), &text);
  return Bytes(text, text + size);
}

Result<KeyPointer> from_pem(ByteView pem, const std::filesystem::path& file) {
  BioPointer memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  // Without a function that asks for a password OpenSSL would ask the terminal.
  auto no_password = [](char*, int, int, void*) { return -1; };
  KeyPointer key(memory ? PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr) : nullptr, EVP_PKEY_free);
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519)
    return fail(Kind::invalid, "'{}' holds no Ed25519 private key: restore it, or remove it to get a new identity", file.string());
  return key;
}

// Empty if there is no such file.
Result<std::optional<Bytes>> read_private(const std::filesystem::path& file) {
  os::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return std::optional<Bytes>();
  if (!fd) return fail(Kind::invalid, "cannot open the key file '{}': {}", file.string(), os::reason(errno));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail(Kind::internal, "cannot look at '{}': {}", file.string(), os::reason(errno));
  if (!S_ISREG(status.st_mode)) return fail(Kind::invalid, "the key file '{}' is no ordinary file", file.string());
  if (status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return fail(Kind::invalid,
                "the key file '{}' must belong to you and be closed to others: chmod 600 it, or remove it if others have seen it",
                file.string());
  GW_TRY(Bytes content, os::read_to_end(fd.get(), file.string(), kMaxKeyFileBytes));
  return std::optional(std::move(content));
}

}  // namespace

// The DER of a SubjectPublicKeyInfo is the same for all keys of a kind, but for the key at its end.
PeerId id_of(const PublicKey& key) {
  Bytes der{0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
  der.insert(der.end(), key.begin(), key.end());
  return sha256(der);
}

Identity::Identity(KeyPointer key, CertificatePointer certificate, const PublicKey& public_key)
    : key_(std::move(key)), certificate_(std::move(certificate)), public_key_(public_key), id_(id_of(public_key)) {}

Result<Identity> Identity::of(KeyPointer key) {
  PublicKey public_key{};
  std::size_t size = public_key.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), public_key.data(), &size) != 1 || size != public_key.size())
    return fail(Kind::internal, "cannot take the public key out of a key pair: {}", last_openssl_error());
  GW_TRY(CertificatePointer certificate, make_certificate(key.get()));
  return Identity(std::move(key), std::move(certificate), public_key);
}

Signature Identity::sign(ByteView message) const {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> signer(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  Signature signature{};
  std::size_t size = signature.size();
  GW_ASSERT(signer != nullptr && EVP_DigestSignInit(signer.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
            EVP_DigestSign(signer.get(), signature.data(), &size, message.data(), message.size()) == 1);
  return signature;
}

Result<Identity> Identity::make() {
  GW_TRY(KeyPointer key, make_key());
  return of(std::move(key));
}

Result<Identity> Identity::load_or_make(const std::filesystem::path& key_file) {
  GW_TRY(auto content, read_private(key_file));
  if (!content) {
    GW_TRY(KeyPointer fresh, make_key());
    GW_TRY(Bytes pem, to_pem(fresh.get()));
    GW_TRY_VOID(os::create_private_file(key_file, pem));
    GW_TRY(content, read_private(key_file));  // this process's key, or that of a process that was faster
    if (!content) return fail(Kind::internal, "the key file '{}' was removed while it was being made", key_file.string());
  }
  GW_TRY(KeyPointer key, from_pem(*content, key_file));
  return of(std::move(key));
}

}  // namespace gw::transport
