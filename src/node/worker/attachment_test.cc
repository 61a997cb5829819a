#include "node/worker/attachment.h"

#include <gtest/gtest.h>

#include <map>

#include "job/images/new_image.h"
#include "wire/messages/worker_frames.h"

namespace gw::node {
namespace {

// A disk with the parts of one image of three pages: two in the first node, one, which is short, in the second.
class AttachmentTest : public testing::Test, protected BlobReader {
 protected:
  AttachmentTest() {
    content_.memory_pages = wire::kPagesPerNode + 1;
    wire::pb::GateState gate;
    gate.set_thread(7);
    gate.set_epoch(2);
    gate.set_next_determinant(5);
    wire::pb::GateState::StreamState& stream = *gate.add_streams();
    wire::write(wire::kHomeStream, *stream.mutable_stream());
    stream.set_next_sequence(4);
    const std::string state = gate.SerializeAsString();
    content_.job_state.assign(state.begin(), state.end());
    for (const auto& [index, size] :
         {std::pair<std::uint32_t, std::size_t>{0, wire::kPageBytes}, {7, wire::kPageBytes}, {256, wire::kPageUnit}}) {
      const Hash256 hash = put(std::string(size, static_cast<char>('a' + index % 26)));
      content_.pages.push_back({index, hash, wire::Storage::elsewhere, {}});
    }
    const wire::Image image = wire::Image::encode(content_).value();
    root_ = put(std::string(as_text(image.root())));
    for (const wire::StoredBlob& blob : image.pack().blobs()) put(std::string(as_text(blob.stored)));
    nodes_ = image.nodes();
  }

  Hash256 put(std::string bytes) {
    const Hash256 hash = sha256(as_bytes(bytes));
    blobs_[hash] = std::move(bytes);
    return hash;
  }
  // An image whose only part is a root with these nodes.
  Hash256 put_root(std::uint32_t memory_pages, std::vector<wire::NodeName> nodes) {
    wire::ImageRoot root;
    root.memory_pages = memory_pages;
    root.nodes = std::move(nodes);
    return put(std::string(as_text(wire::encode_root(root).value())));
  }
  Result<std::string> load(const Hash256& hash) override {
    ++loads_;
    const auto found = blobs_.find(hash);
    if (found == blobs_.end()) return fail(Kind::corrupt, "a blob is damaged");
    return found->second;
  }
  Result<std::vector<os::SealedMemory>> join(const Hash256& root) {
    return join(root, {.thread = 7, .epoch = 3, .determinants = 5, .stored = {{wire::kHomeStream, 3}}});
  }
  Result<std::vector<os::SealedMemory>> join(const Hash256& root, const job::Attachment::Gate& gate) {
    return assemble({.form = job::Attachment::Form::image, .bytes = {}, .blobs = {root}, .whole = {}, .gate = gate}, max_bytes_, *this,
                    go_on_);
  }
  // The whole has these pieces, as a manifest lists them.
  Result<std::vector<os::SealedMemory>> join_pieces(const std::vector<std::string>& pieces) {
    job::Attachment what;
    Sha256 whole;
    for (const std::string& piece : pieces) {
      what.blobs.push_back(put(piece));
      whole.update(as_bytes(piece));
    }
    what.whole = whole.finish();
    return assemble(what, max_bytes_, *this, go_on_);
  }

  wire::ImageContent content_;
  std::map<Hash256, std::string> blobs_;
  std::vector<wire::NodeName> nodes_;
  Hash256 root_;
  std::uint64_t max_bytes_ = 1u << 30;
  std::size_t loads_ = 0;
  GoOn go_on_ = [] { return true; };
};

// A worker that was killed while 3 GiB were read for it once kept everything else that needed the disk waiting.
TEST_F(AttachmentTest, AnAssemblyEndsWhenItsResultIsNotNeededAnyMore) {
  go_on_ = [] { return false; };
  EXPECT_EQ(join(root_).error().kind, Kind::disconnected);
  EXPECT_EQ(loads_, 0u);
  int asked = 0;
  go_on_ = [&] { return ++asked < 2; };
  const std::string piece(wire::kInputChunkBytes, 'p');
  loads_ = 0;
  EXPECT_EQ(join_pieces(std::vector<std::string>(kPackBytes / wire::kInputChunkBytes + 2, piece)).error().kind, Kind::disconnected);
  EXPECT_LE(loads_, kPackBytes / wire::kInputChunkBytes + 1) << "the last piece was read first";
}

// Finding N8: the worker would send determinant 5 where its host expects another one, and be ended for it with all its threads.
TEST_F(AttachmentTest, AnImageThatIsNotWhatItsKeeperSaysDoesNotGoToTheWorker) {
  EXPECT_TRUE(join(root_, {.thread = 7, .epoch = 2, .determinants = 5, .stored = {{wire::kHomeStream, 100}}}));
  const job::Attachment::Gate wrong[] = {{.thread = 8, .epoch = 3, .determinants = 5, .stored = {{wire::kHomeStream, 3}}},
                                         {.thread = 7, .epoch = 1, .determinants = 5, .stored = {{wire::kHomeStream, 3}}},
                                         {.thread = 7, .epoch = 3, .determinants = 4, .stored = {{wire::kHomeStream, 3}}},
                                         {.thread = 7, .epoch = 3, .determinants = 6, .stored = {{wire::kHomeStream, 3}}},
                                         {.thread = 7, .epoch = 3, .determinants = 5, .stored = {{wire::kHomeStream, 2}}}};
  for (const job::Attachment::Gate& gate : wrong) {
    const auto joined = join(root_, gate);
    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().kind, Kind::corrupt);
    EXPECT_NE(joined.error().detail.find("its keeper"), std::string::npos) << joined.error().detail;
  }
}

TEST_F(AttachmentTest, AnImageIsItsNodesAndPacksOfItsPages) {
  const auto memories = join(root_);
  ASSERT_TRUE(memories) << memories.error().detail;
  ASSERT_EQ(memories->size(), 2u);
  const auto nodes = wire::Image::decode(memories->at(0).bytes(), nullptr);
  ASSERT_TRUE(nodes) << nodes.error().detail;
  EXPECT_EQ(nodes->id(), root_);
  EXPECT_EQ(nodes->content().job_state, content_.job_state);
  const auto pack = wire::BlobPack::decode(memories->at(1).bytes(), nullptr);
  ASSERT_TRUE(pack) << pack.error().detail;
  ASSERT_EQ(pack->blobs().size(), 3u);
  for (const wire::ImagePage& page : content_.pages) EXPECT_NE(pack->find(page.hash), nullptr) << page.index;
}

TEST_F(AttachmentTest, WhatCannotBeReadHereIsToBeFoundElsewhere) {
  for (const auto& [hash, bytes] : std::map(blobs_)) {
    blobs_.erase(hash);
    EXPECT_EQ(join(root_).error().kind, Kind::not_found);
    blobs_[hash] = bytes;
  }
}

// Roots that a hostile peer could send: each is refused as something that is not an image at any host.
TEST_F(AttachmentTest, WhatIsNoTreeIsRefused) {
  const wire::NodeName first = nodes_.at(0);
  const Hash256 page = content_.pages[0].hash;
  const std::map<std::string, Hash256> roots = {
      {"a page as root", page},
      {"a node as root", first.hash},
      {"a root below a root", put_root(256, {{0, root_}})},
      {"a page below a root", put_root(256, {{0, page}})},
      {"a page outside the memory", put_root(7, {first})},
      {"an empty root", put("")},
  };
  for (const auto& [what, root] : roots) {
    const auto joined = join(root);
    ASSERT_FALSE(joined) << what;
    EXPECT_TRUE(joined.error().kind == Kind::corrupt || joined.error().kind == Kind::unsupported) << what << ": " << joined.error().detail;
    EXPECT_FALSE(joined.error().detail.empty());
  }
}

TEST_F(AttachmentTest, PiecesBecomeOneMemory) {
  const std::string first(wire::kInputChunkBytes, 'a'), last = "the end";
  const auto memories = join_pieces({first, first, last});
  ASSERT_TRUE(memories) << memories.error().detail;
  ASSERT_EQ(memories->size(), 1u);
  EXPECT_EQ(as_text(memories->front().bytes()), first + first + last);
  EXPECT_EQ(join_pieces({last, first}).error().kind, Kind::corrupt) << "only the last piece is shorter than a MiB";
  EXPECT_EQ(join_pieces({first, ""}).error().kind, Kind::corrupt);
  EXPECT_EQ(join_pieces({}).error().kind, Kind::corrupt);
  EXPECT_EQ(assemble({.blobs = {put(last)}, .whole = {}}, max_bytes_, *this, go_on_).error().kind, Kind::corrupt);
}

// A stranger lists one MiB 8,192 times: neither the disk nor the memory of the host may be used up before that is refused.
TEST_F(AttachmentTest, AnAttachmentThatIsLargerThanItsJobMayUseIsRefusedBeforeItIsRead) {
  job::Attachment what;
  what.blobs.assign(8192, put(std::string(wire::kInputChunkBytes, 'a')));
  const auto joined = assemble(what, max_bytes_, *this, go_on_);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().kind, Kind::overloaded);
  EXPECT_EQ(joined.error().detail, "an attachment of 8191 MiB is larger than the 1024 MiB of memory that the job may use here");
  EXPECT_EQ(loads_, 0u);
  max_bytes_ = wire::kInputChunkBytes + 6;
  EXPECT_EQ(join_pieces({std::string(wire::kInputChunkBytes, 'a'), "the end"}).error().kind, Kind::overloaded);
}

TEST_F(AttachmentTest, AnImageWithMorePagesThanItsJobMayUseIsRefused) {
  max_bytes_ = 2 * wire::kPageBytes;
  EXPECT_EQ(join(root_).error().kind, Kind::overloaded);
  max_bytes_ += wire::kPageUnit;
  EXPECT_TRUE(join(root_));
}

TEST_F(AttachmentTest, AnImageWithoutPagesNamesAllOfThem) {
  const auto image = image_without_pages(root_, *this);
  ASSERT_TRUE(image) << image.error().detail;
  EXPECT_EQ(image->id(), root_);
  EXPECT_FALSE(image->content().pages.empty());
  EXPECT_TRUE(image->content().nodes_elsewhere.empty());
}

}  // namespace
}  // namespace gw::node
