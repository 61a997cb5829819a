#include "overuse.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/bytes.h"

namespace gw::hostile {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kPageBytes = 65536, kPagesOfImage = 128;
constexpr std::uint64_t kManySlots = 64;
constexpr milliseconds kBetweenImages{50};
constexpr std::chrono::minutes kPatience{2};  // until a busy target has asked for a whole image and answered

}  // namespace

Overuse::Overuse(const Protocol& protocol, const Options& options)
    : protocol_(protocol),
      options_(options),
      answers_(protocol),
      stranger_(options.target, [this](const std::string& message) { on_message(message); }),
      rng_(options.seed) {}

// Tells the target who takes part in a new job.
Status Overuse::lead(std::uint64_t nonce) {
  GW_TRY_VOID(stranger_.ensure_connected());
  OwnJob job(protocol_, stranger_.identity(), stranger_.target(), nonce);
  const auto roster = job.message("roster", options_.knowledge.protocol);
  pb::Message& proof = descend(*roster, protocol_.kind("roster"));
  sub(proof, "charter").CopyFrom(*job.charter());
  sub(proof, "roster").CopyFrom(*job.roster());
  const std::string id = job.id();
  jobs_.emplace(id, std::move(job));
  return stranger_.send(roster->SerializeAsString());
}

// The root of an image of one node, as in docs/image-format.md; its pages are there to be asked for.
std::string Overuse::image() {
  OwnJob& job = jobs_.begin()->second;
  std::string node(32, '\0');
  std::fill_n(node.begin(), kPagesOfImage / 8, '\xff');
  for (std::uint64_t i = 0; i < kPagesOfImage; ++i) {
    std::string page(kPageBytes, '\0');
    for (char& byte : page) byte = static_cast<char>(rng_.next() | 1);
    node += job.add_blob(std::move(page));
  }
  ByteWriter root;
  root.u16(4);
  root.u8(2);
  root.u8(1);
  root.bytes(Bytes(32, 'm'));
  for (const std::uint32_t field : {static_cast<std::uint32_t>(kPagesOfImage), 0u, 0u, 0u, 0u, 1u, 0u}) root.u32(field);
  root.bytes(as_bytes(job.add_blob(std::move(node))));
  return job.add_blob(std::string(as_text(root.view())));
}

int Overuse::fill_disk() {
  if (!lead(options_.seed)) return 1;
  const std::uint64_t images = options_.mebibytes * (1u << 20) / (kPageBytes * kPagesOfImage);
  for (std::uint64_t thread = 1; thread <= images; ++thread) {
    const OwnJob& job = jobs_.begin()->second;
    const auto message = job.message("keep_image", options_.knowledge.protocol);
    pb::Message& keep = descend(*message, protocol_.kind("keep_image"));
    set(keep, "thread", thread);
    set(keep, "epoch", std::uint64_t{1});
    set(keep, "keeper_generation", std::uint64_t{1});
    set(keep, "image_root", image());
    sub(keep, "grant").CopyFrom(*job.grant(thread, 1, 1));
    if (!stranger_.send(message->SerializeAsString())) return 1;
    stranger_.listen(kBetweenImages);
  }
  const auto was_heard = [&] { return asked_bytes_ >= kPageBytes * kPagesOfImage && answers_.has("job.kept"); };
  const auto deadline = Stranger::Clock::now() + kPatience;
  while (!was_heard() && Stranger::Clock::now() < deadline) stranger_.listen(kBetweenImages);
  stranger_.listen(std::chrono::seconds(options_.seconds));
  answers_.print();
  fmt::print("offered {} MiB, was asked for {} MiB\n", options_.mebibytes, asked_bytes_ >> 20);
  return 0;
}

int Overuse::hold_slots() {
  for (std::uint64_t nonce = 1; nonce <= options_.jobs; ++nonce) {
    if (!lead(nonce)) return 1;
    for (const auto& [id, job] : jobs_)
      stranger_.send_at_once(job.search(options_.knowledge.grids.front(), kManySlots, options_.knowledge.protocol)->SerializeAsString());
  }
  stranger_.listen(std::chrono::seconds(options_.seconds));
  answers_.print();
  fmt::print("claimed {} slots\n", claimed_);
  return 0;
}

void Overuse::on_message(const std::string& encoded) {
  answers_.add(encoded);
  const auto message = protocol_.make();
  const std::string kind = protocol_.kind_of(encoded);
  if (!message->ParseFromString(encoded) || !kind.starts_with("job.")) return;
  pb::Message& about = sub(*message, "job");
  const auto job = jobs_.find(get_text(about, "job"));
  if (job == jobs_.end()) return;
  if (kind == "job.want_blob") {
    const std::string hash = get_text(sub(about, "want_blob"), "hash");
    const auto bytes = job->second.blob(hash);
    if (!bytes) return;
    const auto answer = job->second.message("blob", options_.knowledge.protocol);
    set(descend(*answer, protocol_.kind("blob")), "hash", hash);
    set(descend(*answer, protocol_.kind("blob")), "bytes", *bytes);
    asked_bytes_ += bytes->size();
    stranger_.send_at_once(answer->SerializeAsString());
  } else if (kind == "job.offer") {
    const auto claim = job->second.message("claim", options_.knowledge.protocol);
    set(descend(*claim, protocol_.kind("claim")), "claim", get_number(sub(about, "offer"), "claim"));
    claimed_ += get_number(sub(about, "offer"), "slots");
    stranger_.send_at_once(claim->SerializeAsString());
  }
}

}  // namespace gw::hostile
