#include "node/embedded/gate_state.h"

namespace gw::node {

using StreamState = wire::pb::GateState::StreamState;

Result<wire::pb::GateState> gate_of(const wire::Image& image) {
  const Bytes& state = image.content().job_state;
  wire::pb::GateState gate;
  if (!gate.ParseFromArray(state.data(), static_cast<int>(state.size())))
    return fail(Kind::corrupt, "the image has no readable state of its effect gate");
  if (state.empty()) {  // saved by an isolate that stood alone: it has done nothing yet
    gate.set_version(job::kGateStateVersion);
    gate.set_thread(job::kMainThread.value());
    gate.set_epoch(1);
  }
  GW_TRY_VOID(job::check_version(gate));
  return gate;
}

wire::pb::GateState gate_for_another_home(wire::pb::GateState gate, const job::StreamMarks& stored,
                                          const std::deque<job::Effect>& unshown) {
  gate.set_next_determinant(0);
  for (StreamState& stream : *gate.mutable_streams()) {
    const auto name = wire::read(stream.stream());
    if (!name) continue;  // damaged: restoring the image reports it
    std::uint64_t last = wire::mark_of(stored, *name);
    std::deque<job::Effect> outbox;
    for (const job::Effect& effect : stream.outbox())
      if (effect.sequence() > last) outbox.push_back(effect);
    // Backwards: what is not the last of what is stored cannot be sent again.
    for (auto effect = unshown.rbegin(); effect != unshown.rend(); ++effect) {
      if (effect->thread() != gate.thread() || wire::stream_of(*effect) != *name) continue;
      if (effect->sequence() != last) break;
      outbox.push_front(*effect);
      --last;
    }
    stream.clear_outbox();
    for (const job::Effect& effect : outbox) *stream.add_outbox() = effect;
  }
  return gate;
}

Result<wire::pb::GateState> gate_for_new_job(wire::pb::GateState gate) {
  gate.set_thread(job::kMainThread.value());
  gate.set_epoch(1);
  for (StreamState& stream : *gate.mutable_streams()) {
    if (stream.next_sequence() <= static_cast<std::uint64_t>(stream.outbox_size()))
      return fail(Kind::corrupt, "the state of the image's effect gate is damaged: counts");
    std::uint64_t next = 1;
    for (job::Effect& effect : *stream.mutable_outbox()) {
      effect.set_thread(gate.thread());
      effect.set_sequence(next++);
      if (effect.has_message()) effect.mutable_message()->set_spawns(0);  // the new job has no children yet
      if (effect.has_watch()) effect.mutable_watch()->set_spawns(0);
    }
    stream.set_next_sequence(next);
  }
  gate.set_next_determinant(0);
  gate.set_input_pieces(0);
  gate.set_mail(0);
  return gate;
}

Result<wire::pb::JobSpec> spec_of(const wire::Image& image) {
  GW_TRY(const wire::pb::GateState gate, gate_of(image));
  wire::pb::JobSpec spec;
  if (!spec.ParseFromString(gate.job())) return fail(Kind::corrupt, "the job description in the image cannot be read: use another copy");
  return spec;
}

Result<wire::Image> image_for_new_job(const wire::Image& image, const wire::pb::JobSpec& spec) {
  GW_TRY(wire::pb::GateState gate, gate_of(image));
  GW_TRY(gate, gate_for_new_job(std::move(gate)));
  gate.set_job(job_spec_for_image(spec));
  return with_gate(image, gate, {}, wire::Storage::raw);
}

std::string job_spec_for_image(wire::pb::JobSpec spec) {
  spec.mutable_config()->Clear();
  return spec.SerializeAsString();
}

namespace {

// Stores a page in another way. The bytes it points to then are in `owned`: those of the store itself, where it has them in memory.
// Kind::corrupt, Kind::not_found.
Status store_as(wire::Storage wanted, wire::ImagePage& page, BlobReader* elsewhere, std::deque<SharedBytes>& owned) {
  if (page.storage == wanted || (page.storage == wire::Storage::elsewhere && elsewhere == nullptr)) return ok();
  const auto own = [](Bytes bytes) {
    auto owner = std::make_shared<const Bytes>(std::move(bytes));
    return SharedBytes(*owner, owner);
  };
  SharedBytes plain;
  if (page.storage == wire::Storage::elsewhere) {
    GW_TRY(plain, elsewhere->view(page.hash));
    page.stored = plain.view();
  } else if (page.storage == wire::Storage::zstd) {
    Bytes unpacked(wire::kPageBytes);
    GW_TRY_VOID(wire::load_page(page, unpacked));
    unpacked.resize(wire::without_end_zeros(unpacked).size());
    unpacked.shrink_to_fit();
    plain = own(std::move(unpacked));
    page.stored = plain.view();
  }
  std::optional<Bytes> shorter = wanted == wire::Storage::zstd ? wire::compress_page(page.stored) : std::nullopt;
  page.storage = shorter ? wire::Storage::zstd : wire::Storage::raw;
  if (shorter) plain = own(*std::move(shorter));
  if (plain.size() > 0) page.stored = owned.emplace_back(std::move(plain)).view();
  return ok();
}

}  // namespace

Result<wire::Image> with_gate(const wire::Image& image, const wire::pb::GateState& gate, ByteView module, wire::Storage pages,
                              BlobReader* elsewhere) {
  wire::ImageContent content = image.content();
  const std::string state = gate.SerializeAsString();
  content.job_state.assign(state.begin(), state.end());
  content.module_wasm = module;
  std::deque<SharedBytes> owned;  // what pages may point to
  for (wire::ImagePage& page : content.pages) GW_TRY_VOID(store_as(pages, page, elsewhere, owned));
  return wire::Image::encode(content);
}

}  // namespace gw::node
