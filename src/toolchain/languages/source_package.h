#pragma once
// Sources that other people publish: Debian's source packages and packages of the npm registry.

#include <filesystem>
#include <string>

#include "base/result.h"

namespace gw::toolchain {

// Fetch a package with the machine's own clients (apt-get, npm), which check its signature or hash, and unpack it into `folder`, which
// exists. apt-get works on lists of its own there: nothing of the system changes, and no root is needed.
// Kind::not_found: the client is not installed. Kind::disconnected: the package cannot be fetched; the sentence has the client's last line.

// The original source, without Debian's changes, at folder/source.
Result<std::filesystem::path> fetch_debian_source(const std::string& package, const std::filesystem::path& folder);
// `name` with its version: "@scope/name@1.2.3". Its files are below folder/package.
Result<std::filesystem::path> fetch_npm_package(const std::string& name, const std::filesystem::path& folder);

}  // namespace gw::toolchain
