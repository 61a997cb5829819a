#pragma once
// A home with hosts that say what a test lets them say.

#include <gtest/gtest.h>

#include <algorithm>

#include "job/home/home.h"
#include "job/placing/search_query.h"
#include "job/records.h"
#include "job/test/fake_peers.h"
#include "job/test/signers.h"

namespace gw::job {
namespace home_test {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::id_of;

constexpr std::uint8_t kHomePeer = 1, kFirst = 2, kSecond = 3, kKeeperPeer = 4;

inline wire::pb::Manifest manifest_of(std::uint32_t tasks) {
  wire::pb::Manifest manifest;
  manifest.mutable_module()->set_hash(std::string(32, 'm'));
  manifest.mutable_module()->set_size(1);
  manifest.mutable_module()->add_chunks(std::string(32, 'm'));
  manifest.mutable_config()->set_random_seed(std::string(32, 's'));
  manifest.mutable_policy()->set_slots(4);
  manifest.mutable_policy()->set_max_failures(5);
  manifest.mutable_policy()->set_checkpoint_every_ns(1'000'000'000);
  manifest.mutable_array()->set_count(tasks);
  return manifest;
}

// A home whose disk answers at once, and hosts that say what a test lets them say.
class AtHome : public testing::Test {
 protected:
  AtHome() {
    peers_.free_slots = {{id_of(kFirst), 2}, {id_of(kKeeperPeer), 0}};
    begin(2);
  }

  void begin(std::uint32_t tasks, const wire::pb::Manifest::Policy* policy = nullptr) {
    content_ = manifest_of(tasks);
    if (policy != nullptr) *content_.mutable_policy() = *policy;
    const Bytes bytes = Manifest::encode(content_);
    home_ = std::make_unique<job::Home>(config_, environment_, charter_, Manifest::check(bytes).value());
    home_->begin(now_, {.manifest = bytes}, out_);
    take();
  }

  // Home is killed and starts again with what is on its disk, but for the output.
  void restart() {
    take();
    HomeRecords records;
    for (const auto& [key, value] : records_) {
      const auto found = RecordKey::decode(key);
      ASSERT_TRUE(found);
      if (found->kind == RecordKind::thread) ASSERT_TRUE(records.threads[found->thread].ParseFromString(value));
      if (found->kind == RecordKind::job) ASSERT_TRUE(records.job.ParseFromString(value));
      if (found->kind == RecordKind::mail) ASSERT_TRUE(records.mail[found->thread][found->number].ParseFromString(value));
      if (found->kind == RecordKind::mail_mark) ASSERT_TRUE(records.mail_marks[found->thread].ParseFromString(value));
      if (found->kind == RecordKind::watch) records.watches.insert({found->thread, ThreadId{found->number}});
      if (found->kind == RecordKind::counters) ASSERT_TRUE(records.counters.ParseFromString(value));
    }
    home_ = std::make_unique<job::Home>(config_, environment_, charter_, Manifest::check(Manifest::encode(content_)).value());
    ASSERT_TRUE(home_->recover(now_, records));
  }

  // The messages home has sent since the last call.
  std::vector<std::pair<PeerId, JobMessage>> take() {
    std::vector<std::pair<PeerId, JobMessage>> sent;
    home_->end_turn(out_);
    for (std::vector<Action>* list : {&out_.now, &out_.later})
      for (Action& action : *list) {
        if (auto* send = std::get_if<Send>(&action)) {
          note_round(send->message.job());
          sent.emplace_back(send->to, std::move(*send->message.mutable_job()));
        }
        if (auto* notify = std::get_if<Notify>(&action)) events_.push_back(std::move(notify->event));
      }
    for (Append& append : out_.appends) appends_.push_back(std::move(append));
    for (Record& record : out_.records) {
      records_.erase(record.key);
      if (record.value) records_[record.key] = *record.value;
    }
    out_ = {};
    return sent;
  }

  std::vector<JobMessage::Assign> assigned(std::uint8_t host) {
    std::vector<JobMessage::Assign> list;
    for (const auto& [to, message] : take())
      if (to == id_of(host) && message.has_assign()) list.push_back(message.assign());
    return list;
  }

  // Home asks that host alone for slots, if a thread waits for one.
  void let_ask(std::uint8_t host) {
    const auto free_slots = peers_.free_slots;
    for (auto& [peer, slots] : peers_.free_slots) slots = 0;
    peers_.free_slots[id_of(host)] = 8;
    const std::uint64_t before = round_;
    const auto asked = [&] {
      const auto is_search = [&](const Action& action) {
        const auto* send = std::get_if<Send>(&action);
        return send != nullptr && send->to == id_of(host) && note_round(send->message.job()) > before;
      };
      return std::ranges::any_of(out_.now, is_search);
    };
    for (const Time until = now_ + seconds(6); now_ < until && !asked() && home_->snapshot().waiting > 0;)
      tick(milliseconds(400), milliseconds(400));
    peers_.free_slots = free_slots;
  }
  std::uint64_t note_round(const JobMessage& message) {
    if (!message.has_search()) return 0;
    const std::uint64_t round = read_query(message.search(), charter_.id()).value().round();
    round_ = std::max(round_, round);
    return round;
  }
  std::vector<JobMessage::Assign> offer(std::uint8_t host, std::uint32_t slots, std::uint64_t claim = 7, std::uint64_t memory = 0) {
    let_ask(host);
    auto list = offer_unasked(host, slots, claim, memory);
    if (!list.empty()) return list;
    tick(config_.slots.search.answer);  // a host that is not trusted gets work when no other has offered slots
    return assigned(host);
  }
  std::vector<JobMessage::Assign> offer_unasked(std::uint8_t host, std::uint32_t slots, std::uint64_t claim = 7, std::uint64_t memory = 0) {
    JobMessage::Offer offer;
    offer.set_round(round_);
    offer.set_claim(claim);
    offer.set_slots(slots);
    offer.set_memory_bytes(memory);
    home_->on_offer(now_, id_of(host), offer, out_);
    return assigned(host);
  }

  void status(std::uint8_t host, const std::vector<JobMessage::Assign>& held, JobMessage::StartState state, const std::string& failure = "",
              std::uint64_t progress = 0) {
    JobMessage::Status status;
    status.set_claim(7);
    status.set_full(true);
    status.set_number(++status_number_);
    status.set_failure(failure);
    status.set_progress(progress);
    for (const JobMessage::Assign& assign : held) {
      JobMessage::Status::Held& one = *status.add_held();
      one.set_thread(assign.thread());
      one.set_epoch(assign.epoch());
      one.set_start_state(state);
    }
    home_->on_status(now_, id_of(host), status, out_);
  }

  static Effect output_of(const JobMessage::Assign& assign, std::uint64_t sequence) {
    Effect effect;
    effect.set_thread(assign.thread());
    effect.set_epoch(assign.epoch());
    effect.set_sequence(sequence);
    effect.mutable_output()->set_descriptor(1);
    effect.mutable_output()->set_bytes("x");
    wire::set_stream(effect);
    return effect;
  }
  static Effect spawn_of(const JobMessage::Assign& assign, std::uint64_t sequence) {
    Effect effect = output_of(assign, sequence);
    effect.mutable_spawn()->set_child(child_of(ThreadId{assign.thread()}, sequence).value());
    wire::set_stream(effect);
    return effect;
  }
  static Effect end_of(const JobMessage::Assign& assign, std::uint64_t sequence, Effect::End::Reason reason = Effect::End::EXITED) {
    Effect effect = output_of(assign, sequence);
    effect.mutable_end()->set_reason(reason);
    return effect;
  }

  void effects(std::uint8_t host, const std::vector<Effect>& list, std::uint64_t determinants = 0) {
    JobMessage::Effects message;
    message.set_thread(list.front().thread());
    message.set_epoch(list.front().epoch());
    message.set_start_state(JobMessage::BEGINNING);
    message.set_determinants(determinants);
    for (const Effect& effect : list) *message.add_effects() = effect;
    home_->on_effects(now_, id_of(host), message, out_);
  }

  void stalled(std::uint8_t host, const JobMessage::Assign& assign) {
    JobMessage::Status status;
    status.set_claim(7);
    status.set_number(++status_number_);
    JobMessage::Status::Held& one = *status.add_held();
    one.set_thread(assign.thread());
    one.set_epoch(assign.epoch());
    one.set_start_state(JobMessage::BEGINNING);
    one.set_stalled_keeper(assign.keepers(0));
    home_->on_status(now_, id_of(host), status, out_);
  }
  void suspended(std::uint8_t host, const JobMessage::Assign& assign) {
    JobMessage::ThreadName name;
    name.set_thread(assign.thread());
    name.set_epoch(assign.epoch());
    home_->on_suspended(now_, id_of(host), name, out_);
  }
  void drain(std::uint8_t host, const std::vector<JobMessage::Assign>& held) {
    JobMessage::Status status;
    status.set_claim(7);
    status.set_number(++status_number_);
    status.set_draining(true);
    for (const JobMessage::Assign& assign : held) {
      JobMessage::Status::Held& one = *status.add_held();
      one.set_thread(assign.thread());
      one.set_epoch(assign.epoch());
      one.set_start_state(JobMessage::BEGINNING);
    }
    home_->on_status(now_, id_of(host), status, out_);
  }
  std::vector<JobMessage::ThreadName> suspends(std::uint8_t host) {
    std::vector<JobMessage::ThreadName> list;
    for (const auto& [to, message] : take())
      if (to == id_of(host) && message.has_suspend()) list.push_back(message.suspend());
    return list;
  }
  template <bool (JobMessage::*has)() const>
  bool sent_to(std::uint8_t host) {
    bool any = false;
    for (const auto& [to, message] : take()) any = any || (to == id_of(host) && (message.*has)());
    return any;
  }

  enum class KeptState : std::uint8_t { good, bad };
  void fail_at(std::uint8_t host, const JobMessage::Assign& assign, KeptState kept = KeptState::good) {
    JobMessage::ThreadName name;
    name.set_thread(assign.thread());
    name.set_epoch(assign.epoch());
    name.set_failure("it cannot run");
    name.set_kept_state_bad(kept == KeptState::bad);
    home_->on_thread_failed(now_, id_of(host), name, out_);
  }

  void tick(Time time, milliseconds step = milliseconds(500)) {
    for (const Time until = now_ + time; now_ < until;) {
      now_ += step;
      home_->on_tick(now_, out_);
    }
  }

  template <class Event>
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(events_, [](const job::Event& event) { return std::holds_alternative<Event>(event); }));
  }

  Time now_{seconds(100)};
  const Charter charter_ = test::charter_of(kHomePeer);
  const PublicKey key_ = test::key_of(kHomePeer);
  const test::TestSigner signer_{kHomePeer};
  test::FakePeers peers_;
  Rng rng_{1};
  PeerHistory history_{{}};
  job::Home::Config config_;
  job::Home::Environment environment_{id_of(kHomePeer), 1, Time(0), peers_, key_, signer_, rng_, history_};
  wire::pb::Manifest content_;
  std::unique_ptr<job::Home> home_;
  std::uint64_t status_number_ = 0;
  std::uint64_t round_ = 0;  // of the last search
  Actions out_;
  std::vector<Event> events_;
  std::map<std::string, std::string> records_;
  std::vector<Append> appends_;
};

}  // namespace home_test
}  // namespace gw::job
