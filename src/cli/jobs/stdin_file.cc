#include "cli/jobs/stdin_file.h"

namespace gw::cli {

Result<wire::pb::InputEntry> add_stdin_file(const std::string& file, node::InputFiles& inputs) {
  GW_TRY(std::vector<wire::pb::InputEntry> entries, inputs.add_apart({file, "stdin"}));
  if (entries.size() != 1 || entries.front().type() != wire::pb::InputEntry::FILE)
    return fail(Kind::invalid, "--stdin {} is not a file", file);
  return std::move(entries.front());
}

}  // namespace gw::cli
