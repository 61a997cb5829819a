#pragma once

#include <cstdint>
#include <filesystem>

#include "gateway/client.h"
#include "wire/image/image.h"
#include "wire/job_spec.pb.h"

namespace gw::cli {

// The part of a job's spec that its manifest has: its limits, and its files without their paths on the submitter's machine.
wire::pb::JobSpec spec_of_manifest(const wire::pb::Manifest& manifest);

// Writes the state of a suspended job of one thread to an image, with its program. `spec`: the words of the command that started it, if the
// caller knows them; else those of the manifest. Returns the size of the file. Kind::invalid: it is not suspended; Kind::unsupported: it
// has several threads.
Result<std::uint64_t> export_image(gateway::Client& client, const job::JobId& id, const std::optional<wire::pb::JobSpec>& spec,
                                   wire::Storage pages, const std::filesystem::path& file);

}  // namespace gw::cli
