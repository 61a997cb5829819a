#pragma once
// A peer alone with a disk that answers at once.

#include <gtest/gtest.h>

#include <algorithm>

#include "job/records.h"
#include "overlay/test/test_peers.h"
#include "peer/peer.h"
#include "wire/grid_name.h"

namespace gw::peer {
namespace peer_test {

using std::chrono::milliseconds;

inline PeerId peer_id(std::uint8_t number) { return overlay::test_id(number); }

inline SigningKey a_key() { return SigningKey(sha256(as_bytes("a submitter")).bytes); }

// A peer alone with a disk that answers at once. Its other actions are kept for the test.
class LonelyPeer : public testing::Test {
 protected:
  LonelyPeer() { start(); }

  void start() {
    ++boot_;
    const Peer::Config config{.grids = {.grids = grids_, .otherwise = default_grid_, .overlay = {.address = "self:1"}},
                              .slots = {.slots = 2}};
    peer_ = std::make_unique<Peer>(config, Peer::Identity{peer_id(0), overlay::test_key(0), boot_}, signer_, Rng(1));
    std::vector<Action> out;
    ASSERT_TRUE(peer_->start(
        now_, {records_, damaged_, [](const Hash256&) { return std::nullopt; }, [this](const JobId& job) { return effects_of(job); }},
        out));
    carry_out(std::move(out));
  }

  Result<std::vector<job::StoredEffect>> effects_of(const JobId& job) const {
    std::vector<job::StoredEffect> effects;
    for (const job::Append& append : appends_)
      if (append.job == job) effects.push_back(append.entry.header);
    return effects;
  }

  template <class Input>
  void give(Input input) {
    std::vector<Action> out;
    input(*peer_, out);
    carry_out(std::move(out));
  }

  void tick(milliseconds time) {
    for (const job::Time until = now_ + time; now_ < until; now_ += milliseconds(100))
      give([&](Peer& peer, std::vector<Action>& out) { peer.on_tick(now_, out); });
  }

  void hear(std::uint8_t from, PeerMessage message, std::uint64_t boot = 1) {
    message.set_version(wire::kPeerProtocol);
    message.set_boot(boot);
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_message(now_, peer_id(from), message, out); });
  }

  JobId submit(std::uint32_t tasks, const std::string& grid = "") {
    const std::string module = "a module";
    const Hash256 hash = sha256(as_bytes(module));
    wire::pb::Manifest manifest;
    manifest.mutable_module()->set_hash(wire::bytes_of(hash));
    manifest.mutable_module()->set_size(module.size());
    manifest.mutable_module()->add_chunks(wire::bytes_of(hash));
    manifest.mutable_config()->set_random_seed(std::string(32, 's'));
    manifest.mutable_config()->add_args("program");
    manifest.mutable_policy()->set_slots(2);
    manifest.mutable_policy()->set_checkpoint_every_ns(static_cast<std::uint64_t>(checkpoint_every_.count()));
    manifest.set_standard_input(standard_input_);
    if (tasks > 1) manifest.mutable_array()->set_count(tasks);
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, Upload{{hash, module}}, out); });
    return submit(manifest, grid);
  }

  JobId submit(const wire::pb::Manifest& manifest, const std::string& grid = "", std::uint8_t home = 0) {
    const Bytes bytes = job::Manifest::encode(manifest);
    wire::pb::JobCharter charter;
    charter.set_first_home(peer_id(home).bytes());
    charter.set_key(job_key_);
    if (!job_key_.empty()) charter.set_nonce(job::nonce_of_key(job_key_));
    if (!grid.empty()) charter.set_grid(wire::open_grid(grid).bytes());
    charter.set_manifest(wire::bytes_of(sha256(bytes)));
    const Bytes signed_charter = job::Charter::sign(charter, a_key());
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_local(now_, Submit{signed_charter, bytes}, out); });
    return {sha256(signed_charter)};
  }

  static PeerMessage about(const JobId& job, JobMessage content) {
    PeerMessage message;
    content.set_job(job.bytes());
    content.set_term(1);
    *message.mutable_job() = std::move(content);
    return message;
  }

  // Feeds the peer a frame of its worker.
  void say(const wire::pb::FromWorker& frame) {
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_worker(now_, WorkerId{1}, WorkerFrame{frame, {}}, out); });
  }

  wire::pb::FromWorker end_of(ThreadId thread, std::uint32_t code) {
    wire::pb::FromWorker frame;
    wire::pb::Effect& effect = *frame.mutable_effects()->add_effects();
    effect.set_thread(thread.value());
    effect.set_epoch(1);
    effect.set_sequence(1);
    effect.mutable_end()->set_exit_code(code);
    wire::set_stream(effect);
    return frame;
  }

  std::vector<std::string> refusals() const {
    std::vector<std::string> sentences;
    for (const job::Event& event : events_)
      if (const auto* refused = std::get_if<job::PeerRefused>(&event)) sentences.push_back(refused->sentence);
    return sentences;
  }

  // Everything recorded so far is durable.
  void answer_disk() {
    give([&](Peer& peer, std::vector<Action>& out) { peer.on_disk(now_, Persisted{unanswered_}, out); });
  }

  template <class Event>
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(events_, [](const job::Event& e) { return std::holds_alternative<Event>(e); }));
  }

  job::Time now_{milliseconds(1)};
  job::Time checkpoint_every_{0};
  std::string job_key_;  // of jobs that are submitted
  bool standard_input_ = false;
  std::vector<std::string> grids_ = {"one", "two"};
  std::string default_grid_;
  std::uint64_t boot_ = 0;
  const overlay::TestSigner signer_{overlay::test_key(0)};
  std::unique_ptr<Peer> peer_;
  std::map<std::string, std::string> records_;
  std::vector<std::string> damaged_;
  std::vector<job::Append> appends_;
  std::map<Hash256, std::string> blobs_;
  std::vector<job::Event> events_;
  std::vector<Action> others_;
  job::Ticket unanswered_ = 0;
  bool answers_disk_ = true;  // at once

 private:
  void carry_out(std::vector<Action> actions) {
    for (Action& action : actions) {
      if (const auto* persist = std::get_if<job::Persist>(&action)) {
        appends_.insert(appends_.end(), persist->appends.begin(), persist->appends.end());
        for (const job::Record& record : persist->records) {
          records_.erase(record.key);
          if (record.value) records_[record.key] = *record.value;
        }
        unanswered_ = persist->ticket;
        if (answers_disk_) answer_disk();
      } else if (const auto* store = std::get_if<job::StoreBlob>(&action)) {
        blobs_[store->hash] = store->bytes.str();
        give([&](Peer& peer, std::vector<Action>& out) { peer.on_disk(now_, BlobStored{store->hash}, out); });
      } else if (const auto* load = std::get_if<job::LoadBlob>(&action)) {
        give([&](Peer& peer, std::vector<Action>& out) { peer.on_disk(now_, BlobLoaded{load->hash, blobs_.at(load->hash)}, out); });
      } else if (const auto* notice = std::get_if<job::Notify>(&action)) {
        events_.push_back(notice->event);
      } else {
        others_.push_back(std::move(action));
      }
    }
  }
};

}  // namespace peer_test
}  // namespace gw::peer
