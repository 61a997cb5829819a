#include "flood.h"

#include <fmt/core.h>

#include <algorithm>

namespace gw::hostile {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMessagesPerIdentity = 400;
constexpr milliseconds kLastAnswers{1000};
constexpr milliseconds kHangUp{20};
constexpr std::uint64_t kWantedSlots = 1;

}  // namespace

Flood::Flood(const Protocol& protocol, const Options& options, As as)
    : protocol_(protocol),
      options_(options),
      as_(as),
      mutator_(protocol, options.knowledge, options.seed),
      answers_(protocol),
      stranger_(options.target, [this](const std::string& message) { on_message(message); }) {}

std::vector<Flood::Shot> Flood::all_shots() {
  std::vector<Shot> shots;
  for (std::size_t kind = 0; kind < protocol_.kinds().size(); ++kind) {
    const MessageKind& named = protocol_.kinds()[kind];
    if (!options_.kind.empty() && named.name() != options_.kind) continue;
    if (as_ == As::leader && named.path.front()->name() != "job") continue;
    const auto message = mutator_.plausible(named);
    const auto sites = Mutator::sites(*message);
    shots.push_back({kind, kNoSite, 0});
    for (std::size_t site = 0; site < sites.size(); ++site)
      for (int variant = 0; variant < Mutator::variants(sites[site]); ++variant) shots.push_back({kind, site, variant});
  }
  Rng rng(options_.seed);
  for (std::size_t i = shots.size(); i > 1; --i) std::swap(shots[i - 1], shots[rng.below(i)]);
  if (shots.size() > options_.messages) shots.resize(options_.messages);
  return shots;
}

int Flood::run() {
  if (as_ == As::leader && !come_as_leader()) return 1;
  for (const Shot& shot : all_shots())
    if (!fire(shot)) return 1;
  stranger_.listen(kLastAnswers);
  answers_.print();
  fmt::print("sent {} messages of {} kinds as {} strangers\n", sent_, protocol_.kinds().size(), stranger_.identities());
  return 0;
}

int Flood::print_baseline() {
  for (std::size_t kind = 0; kind < protocol_.kinds().size(); ++kind) {
    if (as_ == As::leader && protocol_.kinds()[kind].path.front()->name() != "job") continue;
    const std::size_t before = stranger_.disconnected();
    if (!fire({kind, kNoSite, 0})) return 1;
    stranger_.listen(kHangUp);
    if (stranger_.disconnected() > before) fmt::print("hung up on {}\n", protocol_.kinds()[kind].name());
  }
  answers_.print();
  return 0;
}

bool Flood::fire(const Shot& shot) {
  const MessageKind& kind = protocol_.kinds()[shot.kind];
  if (as_ == As::leader && !come_as_leader()) return false;
  const auto message = mutator_.plausible(kind);
  const auto sites = Mutator::sites(*message);
  if (shot.site < sites.size()) mutator_.mutate(sites[shot.site], shot.variant);
  std::string encoded;
  (void)message->SerializePartialToString(&encoded);
  if (const Status status = stranger_.send(encoded); !status && status.error().kind != Kind::invalid) {
    fmt::print("gone after {} messages, the last a {}: {}\n{:.2000}\n", sent_, kind.name(), status.error().detail,
               message->ShortDebugString());
    return false;
  }
  if (++sent_ % kMessagesPerIdentity == 0) stranger_.leave();
  return true;
}

// After a disconnection the stranger returns with another identity, and so with another job: it sends a roster, searches slots and
// claims them.
Status Flood::come_as_leader() {
  GW_TRY_VOID(stranger_.ensure_connected());
  if (own_identity_ == stranger_.identities()) return ok();
  own_identity_ = stranger_.identities();
  own_.emplace(protocol_, stranger_.identity(), stranger_.target(), options_.seed + sent_);
  mutator_.speak_of(&*own_);
  const auto roster = own_->message("roster", options_.knowledge.protocol);
  pb::Message& proof = descend(*roster, protocol_.kind("roster"));
  sub(proof, "charter").CopyFrom(*own_->charter());
  sub(proof, "roster").CopyFrom(*own_->roster());
  GW_TRY_VOID(stranger_.send(roster->SerializeAsString()));
  const auto search = own_->search(options_.knowledge.grids.front(), kWantedSlots, options_.knowledge.protocol);
  GW_TRY_VOID(stranger_.send(search->SerializeAsString()));  // on_message claims what is offered
  return ok();
}

void Flood::on_message(const std::string& encoded) {
  answers_.add(encoded);
  const auto message = protocol_.make();
  if (!own_ || !message->ParseFromString(encoded)) return;
  const std::string kind = protocol_.kind_of(encoded);
  if (kind == "job.want_blob") answer_wanted_blob(sub(*message, "job"));
  if (kind != "job.offer") return;
  const auto claim = own_->message("claim", options_.knowledge.protocol);
  const std::uint64_t number = get_number(sub(sub(*message, "job"), "offer"), "claim");
  set(descend(*claim, protocol_.kind("claim")), "claim", number);
  mutator_.set_claim(number);
  stranger_.send_at_once(claim->SerializeAsString());
}

void Flood::answer_wanted_blob(pb::Message& job) {
  const std::string hash = get_text(sub(job, "want_blob"), "hash");
  const auto bytes = own_->blob(hash);
  if (!bytes) return;
  const auto answer = own_->message("blob", options_.knowledge.protocol);
  set(descend(*answer, protocol_.kind("blob")), "hash", hash);
  set(descend(*answer, protocol_.kind("blob")), "bytes", *bytes);
  stranger_.send_at_once(answer->SerializeAsString());
}

}  // namespace gw::hostile
