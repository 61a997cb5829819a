#include "job/authority/signed_text.h"

#include <algorithm>

namespace gw::job {
namespace {

Bytes titled_text(std::string_view title, const std::string& content) {
  Bytes text(title.begin(), title.end());
  text.insert(text.end(), content.begin(), content.end());
  return text;
}

}  // namespace

std::string sign_text(const wire::Signer& signer, std::string_view title, const std::string& content) {
  return std::string(as_text(signer.sign(titled_text(title, content))));
}

bool is_signed_text(const wire::Signer& signer, const PublicKey& key, std::string_view title, const std::string& content,
                    const std::string& signature) {
  Signature bytes;
  if (signature.size() != bytes.size()) return false;
  std::ranges::copy(as_bytes(signature), bytes.begin());
  return signer.is_signed(key, titled_text(title, content), bytes);
}

}  // namespace gw::job
