#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/settings/mount.h"
#include "wire/job_spec.pb.h"

namespace gw::cli {

// The files that a user names when a program is resumed.
struct NamedFiles {
  std::vector<std::string> inputs, outputs;  // HOST[:GUEST]
  std::string stdin_file;
  bool allow_files = false;  // also those that the image names
};

wire::pb::JobSpec::Mount to_spec(const Mount& mount);

// Replaces the paths in the image or job file by the named ones. The file may come from a stranger, so none of its own paths is read or
// written without --allow-files: Kind::invalid lists those that the user has not named.
Status use_named_files(const NamedFiles& named, const std::string& file, wire::pb::JobSpec& spec);

// Whether a resumed program would touch files that its image names.
bool names_files(const wire::pb::JobSpec& spec);

}  // namespace gw::cli
