#pragma once
// The output files of a job as one sequence of bytes: what a home hands out to the owner of the job.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/worker.pb.h"

namespace gw::wire {

// Encodes a piece that `thread` has left: its length in four bytes, little-endian, then the message.
std::string frame_output_file(const pb::Effect::OutputFile& piece, std::uint64_t thread);
std::size_t output_file_frame_bytes(const pb::Effect::OutputFile& piece, std::uint64_t thread);

// Reads such a sequence, however it is cut. Every piece is checked like an effect (wire/messages/worker_frames.h): the bytes may come from
// anywhere.
//
// Holds at most one piece. After an error nothing more may be added. Belongs to one thread.
class OutputFileReader {
 public:
  using Take = std::function<Status(const pb::Effect::OutputFile&)>;

  // Calls `take` for each piece that is complete. Kind::corrupt if these are no pieces; an error of `take` as it is.
  Status add(std::string_view bytes, const Take& take);
  // Whether the sequence may end here.
  bool complete() const { return pending_.empty(); }

 private:
  std::string pending_;
};

}  // namespace gw::wire
