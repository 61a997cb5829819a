#include "transport/identity/identity.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "os/files/file.h"
#include "transport/identity/certificate.h"

namespace gw::transport {
namespace {

using std::chrono::hours;

const WallTime kNow = std::chrono::system_clock::now();

// A copy of the identity's certificate, valid for these days counted from today, signed with `signer`.
CertificatePointer certificate(const Identity& identity, int from_day, int to_day, const KeyPointer& signer) {
  CertificatePointer copy(X509_dup(identity.certificate().get()), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(copy.get()), from_day * 24 * 3600L);
  X509_gmtime_adj(X509_getm_notAfter(copy.get()), to_day * 24 * 3600L);
  X509_sign(copy.get(), signer.get(), nullptr);
  return copy;
}

TEST(Identity, ASignatureVerifiesWithThePublicKey) {
  const Identity identity = Identity::make().value();
  const Bytes text{1, 2, 3};
  const Signature signature = identity.sign(text);
  EXPECT_TRUE(verify(identity.public_key(), text, signature));
  EXPECT_FALSE(verify(identity.public_key(), Bytes{1, 2, 4}, signature));
  EXPECT_FALSE(verify(Identity::make().value().public_key(), text, signature));
}

TEST(Identity, IsKeptInAFileOfItsOwn) {
  auto folder = os::TempDir::make().value();
  auto file = folder.path() / "key.pem";
  Identity first = Identity::load_or_make(file).value();
  Identity again = Identity::load_or_make(file).value();
  EXPECT_EQ(first.id(), again.id());
  EXPECT_NE(first.id(), Identity::make().value().id());
  EXPECT_EQ(first.id(), id_of(first.key().get()).value()) << "the id that follows from the bytes of the key is that of its certificate";
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing else is left there";
}

TEST(Identity, RefusesAKeyThatOthersMayRead) {
  auto folder = os::TempDir::make().value();
  auto file = folder.path() / "key.pem";
  ASSERT_TRUE(Identity::load_or_make(file));
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  EXPECT_EQ(Identity::load_or_make(file).error().kind, Kind::invalid);
}

TEST(Identity, RefusesAFileThatIsNoKeyAndKeepsIt) {
  auto folder = os::TempDir::make().value();
  auto file = folder.path() / "key.pem";
  std::ofstream(file) << "no key\n";
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_EQ(Identity::load_or_make(file).error().kind, Kind::invalid);
  EXPECT_EQ(std::filesystem::file_size(file), 7u);
}

TEST(Certificate, ItsKeyIsItsName) {
  Identity identity = Identity::make().value();
  EXPECT_EQ(check_certificate(identity.certificate().get(), kNow).value(), identity.id());
}

TEST(Certificate, IsTakenByPeersWhoseClocksAreDaysOff) {
  const Identity identity = Identity::make().value();
  for (const hours off : {hours(-24 * 300), hours(-30), hours(30), hours(24 * 300)})
    EXPECT_TRUE(check_certificate(identity.certificate().get(), kNow + off)) << off.count();
}

TEST(Certificate, IsDated) {
  Identity identity = Identity::make().value();
  EXPECT_TRUE(check_certificate(certificate(identity, -2, 1, identity.key()).get(), kNow));
  EXPECT_FALSE(check_certificate(certificate(identity, -2, -1, identity.key()).get(), kNow));
  EXPECT_FALSE(check_certificate(certificate(identity, 1, 2, identity.key()).get(), kNow));
  EXPECT_FALSE(check_certificate(identity.certificate().get(), kNow + hours(24 * 3651)));
}

TEST(Certificate, SignedByAnotherKeyIsForged) {
  Identity identity = Identity::make().value(), other = Identity::make().value();
  EXPECT_FALSE(check_certificate(certificate(identity, -1, 1, other.key()).get(), kNow));
}

TEST(Certificate, OfAnotherKindOfKeyIsRefused) {
  KeyPointer key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), EVP_PKEY_free);
  Identity identity = Identity::make().value();
  CertificatePointer copy(X509_dup(identity.certificate().get()), X509_free);
  ASSERT_EQ(X509_set_pubkey(copy.get(), key.get()), 1);
  ASSERT_GT(X509_sign(copy.get(), key.get(), EVP_sha256()), 0);
  EXPECT_FALSE(check_certificate(copy.get(), kNow));
}

}  // namespace
}  // namespace gw::transport
