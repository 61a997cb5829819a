#include "node/embedded/gate_state.h"

#include <gmock/gmock.h>

namespace gw::node {
namespace {

job::Effect an_effect(std::uint64_t sequence, std::uint64_t thread = 1) {
  job::Effect effect;
  effect.set_thread(thread);
  effect.set_sequence(sequence);
  effect.mutable_output()->set_bytes("x");
  wire::set_stream(effect);
  return effect;
}

// The gate of a thread that has forked twice; home knows of the first child.
wire::pb::GateState a_gate(std::uint64_t emitted, std::initializer_list<std::uint64_t> outbox) {
  wire::pb::GateState gate;
  gate.set_version(job::kGateStateVersion);
  gate.set_thread(1);
  gate.set_epoch(3);
  gate.set_next_determinant(17);
  auto& home = *gate.add_streams();
  wire::write(job::kHomeStream, *home.mutable_stream());
  home.set_next_sequence(emitted + 1);
  for (const std::uint64_t sequence : outbox) *home.add_outbox() = an_effect(sequence);
  auto& log = *gate.add_streams();
  wire::write(job::kLogStream, *log.mutable_stream());
  log.set_next_sequence(3);
  job::Effect& fork = *log.add_outbox();
  fork.set_thread(1);
  fork.set_sequence(2);
  fork.mutable_spawn()->set_child(job::child_of(job::kMainThread, 2).value());
  wire::set_stream(fork);
  return gate;
}

std::vector<std::uint64_t> outbox_of(const wire::pb::GateState& gate, int stream = 0) {
  std::vector<std::uint64_t> sequences;
  for (const job::Effect& effect : gate.streams(stream).outbox()) sequences.push_back(effect.sequence());
  return sequences;
}

constexpr int kLog = 1;

TEST(GateState, OnlyEffectsThatAreNotStoredAreSentAgain) {
  const auto gate = gate_for_another_home(a_gate(9, {7, 8, 9}), {{job::kHomeStream, 8}, {job::kLogStream, 1}}, {});
  EXPECT_THAT(outbox_of(gate), testing::ElementsAre(9));
  EXPECT_THAT(outbox_of(gate, kLog), testing::ElementsAre(2));
  EXPECT_EQ(gate.streams(0).next_sequence(), 10u);
  EXPECT_EQ(gate.next_determinant(), 0u);
}

TEST(GateState, WhatNobodyHasSeenIsSentAgain) {
  const job::StreamMarks stored{{job::kHomeStream, 8}, {job::kLogStream, 2}};
  const auto gate = gate_for_another_home(a_gate(9, {8, 9}), stored, {an_effect(7), an_effect(4, 2), an_effect(8)});
  EXPECT_THAT(outbox_of(gate), testing::ElementsAre(7, 8, 9));
  EXPECT_TRUE(outbox_of(gate, kLog).empty());
}

TEST(GateState, ANewJobCountsFromTheBeginning) {
  wire::pb::GateState old = a_gate(9, {8, 9});
  old.set_input_pieces(5);
  old.set_input_bytes(500);
  const wire::pb::GateState gate = gate_for_new_job(old).value();
  EXPECT_THAT(outbox_of(gate), testing::ElementsAre(1, 2));
  EXPECT_EQ(gate.streams(0).next_sequence(), 3u);
  EXPECT_THAT(outbox_of(gate, kLog), testing::ElementsAre(1));
  EXPECT_EQ(gate.streams(kLog).next_sequence(), 2u);
  EXPECT_EQ(gate.next_determinant(), 0u);
  EXPECT_EQ(gate.input_pieces(), 0u);
  EXPECT_EQ(gate.input_bytes(), 500u) << "where a file is read on";
  EXPECT_TRUE(job::EffectGate::restore(as_bytes(gate.SerializeAsString()), 1, {}).has_value());
}

TEST(GateState, AnotherVersionIsRefusedByItsNumber) {
  wire::pb::GateState old = a_gate(4, {});
  old.set_version(job::kGateStateVersion + 1);
  const wire::Image image = with_gate(wire::Image::encode({}).value(), old, {}, wire::Storage::raw).value();
  const auto gate = gate_of(image);
  ASSERT_FALSE(gate);
  EXPECT_EQ(gate.error().kind, Kind::unsupported);
}

TEST(GateState, ReportsNumbersThatDoNotFit) { EXPECT_EQ(gate_for_new_job(a_gate(1, {1, 2, 3})).error().kind, Kind::corrupt); }

TEST(GateState, AnIsolateThatStoodAloneIsAMainThreadThatHasDoneNothing) {
  const wire::Image image = wire::Image::encode({}).value();
  const wire::pb::GateState gate = gate_of(image).value();
  EXPECT_EQ(gate.thread(), job::kMainThread.value());
  EXPECT_TRUE(gate.streams().empty());
  EXPECT_TRUE(job::EffectGate::restore(as_bytes(gate.SerializeAsString()), 1, {}).has_value());
}

TEST(GateState, ChangesTheGateOfAnImageAndNothingElse) {
  wire::ImageContent content;
  content.memory_pages = 3;
  content.module_hash = sha256(as_bytes("module"));
  const Bytes module{1, 2, 3};
  const wire::Image changed = with_gate(wire::Image::encode(content).value(), a_gate(4, {}), module, wire::Storage::raw).value();
  EXPECT_EQ(gate_of(changed).value().streams(0).next_sequence(), 5u);
  EXPECT_EQ(changed.content().memory_pages, 3u);
  EXPECT_EQ(changed.content().module_wasm.size(), 3u);
  EXPECT_TRUE(with_gate(changed, a_gate(4, {}), {}, wire::Storage::raw).value().content().module_wasm.empty());
}

class OneBlob final : public BlobReader {
 public:
  explicit OneBlob(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::string> load(const Hash256& hash) override {
    if (hash != sha256(as_bytes(bytes_))) return fail(Kind::not_found, "there is no such blob");
    return bytes_;
  }

 private:
  const std::string bytes_;
};

// The pages of a large image were copied twice, once for the image that is written and once for what its pages pointed to.
TEST(GateState, PagesThatAStoreHasInMemoryAreNotCopiedOnTheirWay) {
  class InMemory final : public BlobReader {
   public:
    Result<std::string> load(const Hash256&) override { return fail(Kind::internal, "a page was copied"); }
    Result<SharedBytes> view(const Hash256&) override { return page_; }

   private:
    const SharedBytes page_{std::string(wire::kPageBytes, 'a')};
  };
  InMemory blobs;
  wire::ImageContent content;
  content.memory_pages = 3;
  content.module_hash = sha256(as_bytes("module"));
  const Hash256 hash = sha256(as_bytes(std::string(wire::kPageBytes, 'a')));
  content.pages = {{.index = 1, .hash = hash, .storage = wire::Storage::elsewhere, .stored = {}}};
  const auto whole = with_gate(wire::Image::encode(content).value(), a_gate(4, {}), {}, wire::Storage::raw, &blobs);
  ASSERT_TRUE(whole) << whole.error().detail;
  EXPECT_TRUE(whole->verify_pages());
}

TEST(GateState, PagesThatAreElsewhereAreReadAndStoredAsWanted) {
  OneBlob blobs(std::string(wire::kPageBytes, 'a'));
  wire::ImageContent content;
  content.memory_pages = 3;
  content.module_hash = sha256(as_bytes("module"));
  const Hash256 hash = sha256(as_bytes(std::string(wire::kPageBytes, 'a')));
  content.pages = {{.index = 1, .hash = hash, .storage = wire::Storage::elsewhere, .stored = {}}};
  const wire::Image image = wire::Image::encode(content).value();
  for (const wire::Storage storage : {wire::Storage::raw, wire::Storage::zstd}) {
    const wire::Image whole = with_gate(image, a_gate(4, {}), {}, storage, &blobs).value();
    EXPECT_EQ(whole.content().pages.at(0).storage, storage);
    EXPECT_TRUE(whole.verify_pages());
    const wire::Image plain = with_gate(whole, a_gate(4, {}), {}, wire::Storage::raw).value();
    EXPECT_EQ(plain.content().pages.at(0).stored.size(), wire::kPageBytes);
    EXPECT_TRUE(plain.verify_pages());
  }
  EXPECT_EQ(with_gate(image, a_gate(4, {}), {}, wire::Storage::zstd).value().content().pages.at(0).storage, wire::Storage::elsewhere);
  OneBlob another("another");
  EXPECT_EQ(with_gate(image, a_gate(4, {}), {}, wire::Storage::raw, &another).error().kind, Kind::not_found);
}

}  // namespace
}  // namespace gw::node
