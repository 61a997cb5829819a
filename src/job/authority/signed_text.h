#pragma once
// Texts that peers sign, with a title for each kind of them.

#include <string>
#include <string_view>

#include "wire/signer.h"

namespace gw::job {

// The signature covers the title too, so a signature over one kind of text is not valid for another kind.
std::string sign_text(const wire::Signer& signer, std::string_view title, const std::string& content);
// `signature` may be any bytes.
bool is_signed_text(const wire::Signer& signer, const PublicKey& key, std::string_view title, const std::string& content,
                    const std::string& signature);

}  // namespace gw::job
