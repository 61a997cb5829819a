#include "cli/jobs/image_file.h"

#include "node/embedded/job_file.h"
#include "os/files/file.h"

namespace gw::cli {
namespace {

constexpr std::size_t kMaxImageBytes = std::size_t{6} << 30;  // all of a wasm32 memory, and room for the rest

}  // namespace

Result<wire::Image> read_image(const std::string& file) {
  GW_TRY(auto bytes, os::read_file(file, kMaxImageBytes));
  return wire::Image::decode(std::move(bytes));
}

Result<bool> is_job_file(const std::string& file) {
  GW_TRY(auto head, os::read_head(file, node::JobFile::kHeadBytes));
  return node::JobFile::is_job_file(head);
}

}  // namespace gw::cli
