#pragma once
// A host of one job with a home and a keeper that say what a test lets them say.

#include <gtest/gtest.h>

#include <algorithm>

#include "job/host/hosted_job.h"
#include "job/test/fake_disk.h"
#include "job/test/images.h"
#include "job/test/signers.h"

namespace gw::job {
namespace hosted_job_test {

using std::chrono::seconds;
using test::id_of;
using wire::pb::FromWorker;

constexpr std::uint8_t kHome = 1, kSelf = 2, kKeeper = 3;

// A host with one slot whose code is staged, a home and a keeper that say what a test lets them say.
class AtHost : public testing::Test {
 protected:
  AtHost() { claim(manifest_of(3)); }

  static wire::pb::Manifest manifest_of(int tasks) {
    wire::pb::Manifest content;
    *content.mutable_module() = Manifest::describe(as_bytes("module"));
    content.mutable_config()->set_random_seed(std::string(32, 's'));
    content.mutable_policy()->set_slots(4);
    content.mutable_policy()->set_checkpoint_every_ns(10'000'000'000);
    content.mutable_array()->set_count(static_cast<std::uint32_t>(tasks));
    return content;
  }
  void claim(const wire::pb::Manifest& content) {
    receive(kHome, begin_claim(content));
    receive(kHome, "module");
  }
  // The manifest, which the host asks home for.
  std::string begin_claim(const wire::pb::Manifest& content) {
    std::string manifest(as_text(Manifest::encode(content)));
    host_.emplace(HostedJob::Config(), HostedJob::Environment{id_of(kSelf), blobs_, swarm_, images_, next_worker_, budget_},
                  HostedJob::Claim{id_of(kHome), job_, 7, 1, sha256(as_bytes(manifest))});
    host_->begin(now_, out_);
    return manifest;
  }

  void receive(std::uint8_t from, const std::string& bytes) {
    host_->on_blob_stored(now_, disk_.receive(id_of(from), bytes, out_), out_);
    take();
    for (const Hash256& hash : std::exchange(disk_.loads, {})) host_->on_loaded(now_, hash, disk_.find(hash), out_);
  }

  std::vector<JobMessage> take() {
    std::vector<JobMessage> list;
    for (auto& [peer, message] : disk_.take(out_)) list.push_back(std::move(message));
    return list;
  }
  std::vector<JobMessage::Status> statuses() {
    std::vector<JobMessage::Status> list;
    for (const JobMessage& message : take())
      if (message.has_status()) list.push_back(message.status());
    return list;
  }

  static JobMessage::Assign assignment(std::uint32_t task, std::uint64_t epoch = 1) {
    JobMessage::Assign assign;
    assign.set_claim(7);
    assign.set_thread(thread_of_task(task, 3).value());
    assign.set_epoch(epoch);
    assign.set_task(task);
    assign.add_keepers(id_of(kKeeper).bytes());
    assign.set_keeper_generation(5);
    return assign;
  }
  JobMessage::Assign assign(std::uint32_t task, std::uint64_t epoch = 1) {
    const JobMessage::Assign assign = assignment(task, epoch);
    host_->on_assign(now_, assign, out_);
    return assign;
  }
  void load() {
    FromWorker frame;
    frame.mutable_loaded();
    ASSERT_TRUE(host_->on_frame(now_, frame, {}, out_));
  }
  Status effect(const JobMessage::Assign& assign, std::uint64_t sequence, bool end = false) {
    FromWorker frame;
    Effect& effect = *frame.mutable_effects()->add_effects();
    effect.set_thread(assign.thread());
    effect.set_epoch(assign.epoch());
    effect.set_sequence(sequence);
    if (end) {
      effect.mutable_end();
    } else {
      effect.mutable_output()->set_bytes("x");
    }
    wire::set_stream(effect);
    return host_->on_frame(now_, frame, {}, out_);
  }
  void stored(const JobMessage::Assign& assign, std::uint64_t sequence, const Stream& stream = kHomeStream) {
    JobMessage::Stored stored;
    stored.set_thread(assign.thread());
    stored.set_epoch(assign.epoch());
    wire::write(StreamMarks{{stream, sequence}}, *stored.mutable_streams());
    host_->on_stored(now_, stored, out_);
  }
  Status image(ThreadId thread, std::uint64_t epoch, char content, FromWorker::Image::Why why = FromWorker::Image::CHECKPOINT) {
    return image(EffectGate(thread, epoch), content, why);
  }
  Status image(const EffectGate& gate, char content, FromWorker::Image::Why why) {
    const NewImage image = test::image_of(gate, content);
    FromWorker frame;
    frame.mutable_image()->set_thread(gate.thread().value());
    frame.mutable_image()->set_why(why);
    frame.mutable_image()->set_id(wire::bytes_of(image.root));
    return host_->on_frame(now_, frame, image, out_);
  }
  // Stores the images that the worker has sent on disk. Returns the messages that the host sends after that.
  std::vector<JobMessage> store_images() {
    take();
    for (const auto& [hash, bytes] : disk_.blobs) images_.on_stored(hash, out_);
    for (const ImageTrees::Change& change : images_.take_changes()) host_->on_image_change(now_, change, out_);
    return take();
  }
  static NewImage image_of_child(const JobMessage::Assign& parent, std::uint64_t number) {
    return test::image_of(EffectGate(ThreadId{parent.thread()}, parent.epoch()).fork(child_of(ThreadId{parent.thread()}, number)), 'c');
  }
  Status image_of_spawn(const JobMessage::Assign& parent, std::uint64_t number, const NewImage& image) {
    FromWorker frame;
    frame.mutable_image()->set_thread(parent.thread());
    frame.mutable_image()->set_why(FromWorker::Image::SPAWNED);
    frame.mutable_image()->set_spawn(number);
    frame.mutable_image()->set_id(wire::bytes_of(image.root));
    return host_->on_frame(now_, frame, image, out_);
  }
  Status spawn(const JobMessage::Assign& parent, std::uint64_t number) {
    FromWorker frame;
    Effect& effect = *frame.mutable_effects()->add_effects();
    effect.set_thread(parent.thread());
    effect.set_epoch(parent.epoch());
    effect.set_sequence(number);
    effect.mutable_spawn()->set_child(child_of(ThreadId{parent.thread()}, number).value());
    wire::set_stream(effect);
    return host_->on_frame(now_, frame, {}, out_);
  }
  void child_kept(const JobMessage::Assign& parent, std::uint64_t number) {
    JobMessage::Kept kept;
    kept.set_thread(parent.thread());
    kept.set_epoch(parent.epoch());
    kept.set_keeper_generation(5);
    kept.set_spawn(number);
    kept.set_image_root(wire::bytes_of(image_of_child(parent, number).root));
    host_->on_kept(now_, id_of(kKeeper), kept, out_);
  }

  void suspend(const JobMessage::Assign& assign) {
    JobMessage::ThreadName name;
    name.set_thread(assign.thread());
    name.set_epoch(assign.epoch());
    host_->on_suspend(now_, name, out_);
  }
  void kept(ThreadId thread, char content) { kept(thread, 0, test::image_of(EffectGate(thread, 1), content).root); }
  void kept(ThreadId thread, std::uint64_t determinants, const std::optional<Hash256>& parts) {
    JobMessage::Kept kept;
    kept.set_thread(thread.value());
    kept.set_epoch(1);
    kept.set_keeper_generation(5);
    kept.set_determinants(determinants);
    if (parts) kept.set_image_root(wire::bytes_of(*parts));
    host_->on_kept(now_, id_of(kKeeper), kept, out_);
  }
  bool says_suspended() {
    const auto sent = take();
    return std::ranges::any_of(sent, [](const JobMessage& message) { return message.has_suspended(); });
  }

  Time now_{seconds(100)};
  const JobId job_{sha256(as_bytes("a job"))};
  std::uint64_t next_worker_ = 0;
  BlobReferences blobs_{{}, test::nobody_else};
  Swarm swarm_{{}, blobs_, test::nobody_else, test::no_distance, Rng(1)};
  ImageTrees images_{{}, blobs_};
  Budget budget_{{}};
  test::FakeDisk disk_{blobs_};
  Actions out_;
  std::optional<HostedJob> host_;
};

}  // namespace hosted_job_test
}  // namespace gw::job
