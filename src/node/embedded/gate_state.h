#pragma once
// Adapts the gate of a suspended thread to the job or home in which the thread continues.

#include <cstdint>
#include <deque>

#include "job/effects/effect_gate.h"
#include "node/disk/blob_reader.h"
#include "wire/image/image.h"
#include "wire/job_spec.pb.h"

namespace gw::node {

// The gate that the image was saved with. Kind::corrupt; Kind::unsupported: by another version of godwit.
Result<wire::pb::GateState> gate_of(const wire::Image& image);

// The gate for another home, where effects are stored up to `stored` but for those that are `unshown`, the last of what goes to home, and
// no determinant was ever recorded.
wire::pb::GateState gate_for_another_home(wire::pb::GateState gate, const job::StreamMarks& stored, const std::deque<job::Effect>& unshown);

// The gate for a new job, whose home knows of no effect, determinant or input before: all numbers begin anew. Kind::corrupt: its numbers do
// not fit together.
Result<wire::pb::GateState> gate_for_new_job(wire::pb::GateState gate);

// The JobSpec of the command that started the program, as the image contains it; empty if the image has none. Kind::corrupt.
Result<wire::pb::JobSpec> spec_of(const wire::Image& image);
// The JobSpec as an image contains it: without the configuration, because what the program started with is in its WASI state.
std::string job_spec_for_image(wire::pb::JobSpec spec);
// The image as a new job begins with it: gate_for_new_job(), these words, no module.
Result<wire::Image> image_for_new_job(const wire::Image& image, const wire::pb::JobSpec& spec);

// The image with another gate, with this module or none, its pages stored in that way. Pages that are elsewhere are read one by one, so
// that a large memory is not copied more often than it must be; nullptr: they stay elsewhere. Kind::corrupt, Kind::not_found.
Result<wire::Image> with_gate(const wire::Image& image, const wire::pb::GateState& gate, ByteView module, wire::Storage pages,
                              BlobReader* elsewhere = nullptr);

}  // namespace gw::node
