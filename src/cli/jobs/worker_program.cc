#include "cli/jobs/worker_program.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;

// This very program, also after its file was replaced on disk.
constexpr const char* kSelf = "/proc/self/exe";

}  // namespace

Result<fs::path> worker_program() {
  std::error_code failure;
  const fs::path self = fs::read_symlink(kSelf, failure);
  const fs::path worker = self.parent_path() / "godwit-worker";
  if (failure || !fs::exists(worker, failure))
    return fail(Kind::not_found, "{} is missing: it belongs beside godwit, install both", worker.string());
  return worker;
}

node::NativeCode::Config native_code_config(const fs::path& cache_root, const fs::path& worker) {
  return {.cache_root = cache_root, .compiler = {worker.string(), "--compile"}, .filler = {kSelf, std::string(kFillWord)}};
}

}  // namespace gw::cli
