#pragma once
// Makes a new record store from the readable part of a damaged one.

#include <chrono>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "wire/records.pb.h"

namespace gw::node {

// The record of a job that cannot continue because its other records are lost. `record` is empty if it is lost too.
wire::pb::JobRecord without_records(wire::pb::JobRecord record, std::chrono::nanoseconds since_1970);

// Moves the damaged store aside (*.damaged) and makes a new one. It is not known which records are lost, so no job continues that a missing
// record could make wrong: running jobs of this home end, with an error and with the readable output. Finished jobs, grids, known peers and
// images kept for others stay, as far as they can be read. A job of which only the output is left ends in the same way. If no grid can be
// read, a private one may be lost: then the peer joins no grid by itself, and takes no job that names none, until its user joins one.
//
// Returns a sentence that says what was saved. Blocks on the disk. REQUIRES: no process has the store open.
Result<std::string> repair_records(const std::filesystem::path& file, const std::filesystem::path& jobs_folder,
                                   std::chrono::nanoseconds since_1970);

}  // namespace gw::node
