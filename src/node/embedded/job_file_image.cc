#include "node/embedded/job_file_image.h"

#include "node/embedded/embedded_job.h"
#include "node/embedded/gate_state.h"
#include "node/worker/attachment.h"
#include "os/clock.h"

namespace gw::node {
namespace {

// The effects that were not shown, in their order; of the first only the part that was not shown.
Result<std::deque<job::Effect>> unshown_effects(JobFile& file) {
  GW_TRY(const auto unshown, file.unshown());
  std::deque<job::Effect> effects;
  GW_TRY_VOID(file.visit_effects([&](const job::Effect& effect) -> Status {
    if (auto rest = rest_to_show(effect, unshown)) effects.push_back(*std::move(rest));
    return ok();
  }));
  return effects;
}

}  // namespace

Result<wire::Image> image_of_job_file(JobFile& file) {
  const CommandSigner signer;
  GW_TRY(const std::uint64_t boot, file.raise_boot());
  const peer::Peer::Identity identity{.self = signer.self(), .key = signer.key().public_key(), .boot = boot, .wall_offset = {}};
  peer::Peer peer(embedded_config(Survival::file), identity, signer, Rng(random_number()));
  GW_TRY(const peer::Stored stored, file.stored());
  std::vector<job::Action> unused;  // the peer only tells what it finds
  GW_TRY_VOID(peer.start(os::monotonic_now(), stored, unused));
  if (peer.homes().empty()) return fail(Kind::invalid, "the program in {} has ended, or has not begun", file.path().string());
  const auto kept = peer.suspended_image(peer.homes().begin()->first);
  if (!kept)
    return fail(kept.error().kind, "{} cannot become an image: {}: continue it here with 'godwit resume {}', and suspend it",
                file.path().string(), kept.error().detail, file.path().string());
  GW_TRY(const wire::Image image, image_without_pages(kept->root, file));
  GW_TRY(wire::pb::GateState gate, gate_of(image));
  if (kept->supplied_input > gate.input_pieces() && file.spec().input_file().empty())
    return fail(Kind::unsupported, "{} holds piped input that the program has not read: continue it here with 'godwit resume {}'",
                file.path().string(), file.path().string());
  GW_TRY(const std::deque<job::Effect> unshown, unshown_effects(file));
  gate = gate_for_another_home(std::move(gate), kept->stored, unshown);
  gate.set_job(job_spec_for_image(file.spec()));
  return with_gate(image, gate, file.module(), wire::Storage::raw, &file);
}

}  // namespace gw::node
