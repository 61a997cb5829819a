#include "job/images/image_trees.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace {

PeerId tree_peer(std::uint8_t number) { return {sha256(ByteView(&number, 1))}; }

// The memory of a thread, a byte per page, and its images as a worker makes them.
class FakeMemory {
 public:
  explicit FakeMemory(std::uint32_t pages) : bytes_(pages, 1) {}

  void write(std::uint32_t page, std::uint8_t byte) {
    bytes_[page] = byte;
    dirty_.insert(page / wire::kPagesPerNode);
  }

  NewImage save() {
    wire::pb::GateState gate;
    gate.set_thread(1);
    gate.set_epoch(1);
    wire::ImageContent content{.memory_pages = static_cast<std::uint32_t>(bytes_.size())};
    const std::string state = gate.SerializeAsString();
    content.job_state.assign(state.begin(), state.end());
    std::vector<Bytes> stored;
    stored.reserve(bytes_.size());
    for (std::uint32_t index = 0; index < bytes_.size(); ++index) {
      const auto known = nodes_.find(index / wire::kPagesPerNode);
      if (known != nodes_.end() && !dirty_.contains(known->first)) continue;
      Bytes& page = stored.emplace_back(wire::kPageUnit, bytes_[index]);
      page[0] = static_cast<std::uint8_t>(index), page[1] = static_cast<std::uint8_t>(index >> 8);
      const Hash256 hash = sha256(page);
      const bool saved = !saved_.insert(hash).second;
      content.pages.push_back({index, hash, saved ? wire::Storage::elsewhere : wire::Storage::raw, saved ? ByteView() : ByteView(page)});
    }
    for (const auto& [number, hash] : nodes_)
      if (!dirty_.contains(number)) content.nodes_elsewhere.push_back({number, hash});
    const wire::Image image = wire::Image::encode(content).value();
    for (const wire::NodeName& node : image.nodes()) nodes_[node.number] = node.hash;
    dirty_.clear();
    const auto owner = std::make_shared<const Bytes>(image.encoded().begin(), image.encoded().end());
    return check_new_image(*owner, owner).value();
  }

 private:
  Bytes bytes_;
  std::set<std::uint32_t> dirty_;
  std::set<Hash256> saved_;
  std::map<std::uint32_t, Hash256> nodes_;
};

// Blobs and trees of one peer, with a disk that answers at once.
struct TreePeer {
  std::vector<PeerId> holders;
  BlobReferences blobs{{}, [this](const JobId&) { return holders; }};
  ImageTrees trees{{}, blobs};
  std::map<Hash256, std::string> disk;
  std::size_t stored = 0, loaded = 0;
  std::set<Hash256> asked;

  void carry_out(Actions& out) {
    while (!out.now.empty()) {
      const std::vector<Action> actions = std::exchange(out.now, {});
      for (const Action& action : actions) {
        if (const auto* store = std::get_if<StoreBlob>(&action)) {
          ++stored;
          disk[store->hash] = store->bytes.str();
          blobs.on_stored(store->hash);
          trees.on_stored(store->hash, out);
        } else if (const auto* load = std::get_if<LoadBlob>(&action)) {
          ++loaded;
          const auto found = disk.find(load->hash);
          const auto bytes = found == disk.end() ? std::nullopt : std::optional(found->second);
          if (!bytes) blobs.on_lost(Time(0), load->hash);
          trees.on_loaded(Time(0), load->hash, bytes, out);
        } else if (const auto* drop = std::get_if<DropBlob>(&action)) {
          disk.erase(drop->hash);
        } else if (const auto* send = std::get_if<Send>(&action)) {
          if (send->message.job().has_want_blob()) asked.insert(wire::hash_of(send->message.job().want_blob().hash()));
        }
      }
    }
  }

  // Answers all requests from another peer's disk until there are none.
  void fetch_from(const TreePeer& other, const PeerId& name) {
    Actions out;
    for (; !asked.empty(); blobs.on_tick(std::chrono::milliseconds(1), out), carry_out(out)) {
      for (const Hash256& hash : std::exchange(asked, {})) {
        JobMessage::Blob answer;
        answer.set_hash(wire::bytes_of(hash));
        const auto found = other.disk.find(hash);
        answer.set_missing(found == other.disk.end());
        if (found != other.disk.end()) answer.set_bytes(found->second);
        ASSERT_TRUE(blobs.on_blob(Time(0), name, answer, out));
        carry_out(out);
      }
    }
  }
};

class ImageTreesTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPages = 16 * wire::kPagesPerNode;

  void save(TreePeer& peer) {
    const NewImage image = memory_.save();
    ASSERT_TRUE(peer.trees.add(job_, image, out_));
    peer.carry_out(out_);
    roots_.push_back(image.root);
  }
  std::vector<std::string> changes(TreePeer& peer, const Hash256& root) {
    std::vector<std::string> found;
    for (const ImageTrees::Change& change : peer.trees.take_changes())
      if (change.name.root == root && change.what != ImageTrees::Change::What::grown) found.push_back(change.sentence);
    return found;
  }
  void fetch(const Hash256& root) {
    ASSERT_TRUE(keeper_.trees.want(Time(0), {job_, root}, host_name_, out_));
    keeper_.carry_out(out_);
    keeper_.fetch_from(host_, host_name_);
  }

  const JobId job_{sha256(as_bytes("a job"))};
  const PeerId host_name_ = tree_peer(1);
  FakeMemory memory_{kPages};
  TreePeer host_, keeper_;
  Actions out_;
  std::vector<Hash256> roots_;
};

TEST_F(ImageTreesTest, AFetchedImageIsCompleteWhenAllOfItIsOnTheDisk) {
  save(host_);
  EXPECT_TRUE(host_.trees.complete({job_, roots_[0]}));
  EXPECT_EQ(changes(host_, roots_[0]), std::vector<std::string>{""});
  ASSERT_TRUE(keeper_.trees.want(Time(0), {job_, roots_[0]}, host_name_, out_));
  EXPECT_FALSE(keeper_.trees.complete({job_, roots_[0]}));
  keeper_.carry_out(out_);
  keeper_.fetch_from(host_, host_name_);
  EXPECT_TRUE(keeper_.trees.complete({job_, roots_[0]}));
  EXPECT_EQ(changes(keeper_, roots_[0]), std::vector<std::string>{""});
  EXPECT_EQ(keeper_.disk, host_.disk);
}

// The purpose of the trees: one changed page of 4,096 costs that page, its node and the root, at the host and at the keeper.
TEST_F(ImageTreesTest, AChangedPageCostsThePageAndWhatIsAboveIt) {
  save(host_);
  fetch(roots_[0]);
  const std::size_t stored = host_.stored, fetched = keeper_.stored, loaded = keeper_.loaded;
  memory_.write(1000, 7);
  save(host_);
  EXPECT_EQ(host_.stored - stored, 3u);
  fetch(roots_[1]);
  EXPECT_TRUE(keeper_.trees.complete({job_, roots_[1]}));
  EXPECT_EQ(keeper_.stored - fetched, 3u);
  EXPECT_EQ(keeper_.loaded - loaded, 2u) << "root and node, not the nodes it has";
  for (TreePeer* peer : {&host_, &keeper_}) {
    peer->trees.release({job_, roots_[0]}, out_);
    peer->carry_out(out_);
    EXPECT_EQ(peer->disk.size(), kPages + 16 + 1u);
    peer->trees.release({job_, roots_[1]}, out_);
    peer->carry_out(out_);
    EXPECT_TRUE(peer->disk.empty());
    EXPECT_EQ(peer->blobs.size(), 0u);
    EXPECT_EQ(peer->trees.size(), 0u);
  }
}

// A peer that keeps images of a thread fetches one when the same thread, begun anew here, saves the same one.
TEST_F(ImageTreesTest, APartThatIsSavedHereEndsItsFetch) {
  for (const bool root_came : {false, true}) {
    FakeMemory memory(3 * wire::kPagesPerNode);
    const NewImage first = memory.save();
    TreePeer source, both;
    Actions out;
    ASSERT_TRUE(source.trees.add(job_, first, out));
    source.carry_out(out);
    ASSERT_TRUE(both.trees.want(Time(0), {job_, first.root}, tree_peer(1), out));
    both.carry_out(out);
    if (root_came) {
      JobMessage::Blob answer;
      answer.set_hash(wire::bytes_of(first.root));
      answer.set_bytes(source.disk.at(first.root));
      ASSERT_TRUE(both.blobs.on_blob(Time(0), tree_peer(1), answer, out));
      both.carry_out(out);
    }
    ASSERT_TRUE(both.trees.add(job_, first, out));
    both.carry_out(out);
    EXPECT_TRUE(both.trees.complete({job_, first.root}));
    memory.write(7, 2);
    const NewImage second = memory.save();
    ASSERT_TRUE(both.trees.add(job_, second, out)) << "the rest of it is held";
    both.carry_out(out);
    EXPECT_TRUE(both.trees.complete({job_, second.root}));
    for (const Hash256& root : {first.root, first.root, second.root}) both.trees.release({job_, root}, out);
    both.carry_out(out);
    EXPECT_EQ(both.blobs.size(), 0u);
    EXPECT_TRUE(both.disk.empty());
  }
}

TEST_F(ImageTreesTest, RefusesAnImageThatRefersToMissingParts) {
  memory_.save();
  memory_.write(3, 3);
  const NewImage changes = memory_.save();
  const Status added = host_.trees.add(job_, changes, out_);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, Kind::corrupt);
  EXPECT_EQ(host_.trees.size(), 0u);
  EXPECT_EQ(host_.blobs.size(), 0u);
}

TEST_F(ImageTreesTest, ACancelledFetchLeavesNothingBehind) {
  save(host_);
  for (const std::size_t answers : {0u, 1u, 5u, 500u}) {
    ASSERT_TRUE(keeper_.trees.want(Time(0), {job_, roots_[0]}, host_name_, out_));
    keeper_.carry_out(out_);
    for (std::size_t i = 0; i < answers && !keeper_.asked.empty(); ++i) {
      const Hash256 hash = *keeper_.asked.begin();
      keeper_.asked.erase(hash);
      JobMessage::Blob answer;
      answer.set_hash(wire::bytes_of(hash));
      answer.set_bytes(host_.disk.at(hash));
      ASSERT_TRUE(keeper_.blobs.on_blob(Time(0), host_name_, answer, out_));
      keeper_.carry_out(out_);
    }
    keeper_.trees.release({job_, roots_[0]}, out_);
    keeper_.carry_out(out_);
    keeper_.asked.clear();
    EXPECT_EQ(keeper_.blobs.size(), 0u) << answers;
    EXPECT_EQ(keeper_.trees.size(), 0u);
    EXPECT_TRUE(keeper_.disk.empty());
  }
}

TEST_F(ImageTreesTest, IsFoundAgainAfterARestart) {
  save(host_);
  memory_.write(1000, 7);
  save(host_);
  TreePeer again;
  again.disk = host_.disk;
  const auto read = [&](const Hash256& hash) {
    const auto found = again.disk.find(hash);
    return found == again.disk.end() ? std::nullopt : std::optional(found->second);
  };
  for (const Hash256& root : roots_) ASSERT_TRUE(again.trees.adopt({job_, root}, read));
  EXPECT_TRUE(again.trees.complete({job_, roots_[1]}));
  EXPECT_EQ(again.blobs.size(), host_.disk.size());
  for (const Hash256& root : roots_) again.trees.release({job_, root}, out_);
  again.carry_out(out_);
  EXPECT_TRUE(again.disk.empty());
  EXPECT_EQ(again.trees.adopt({job_, roots_[0]}, read).error().kind, Kind::corrupt);
  EXPECT_EQ(again.blobs.size(), 0u);
}

// A page that the disk has lost is fetched again; if no peer has it any more, the image's users learn what is lost.
TEST_F(ImageTreesTest, ADamagedPageIsAskedForAgainAndItsLossIsSaid) {
  save(host_);
  fetch(roots_[0]);
  keeper_.holders = {host_name_};
  (void)keeper_.trees.take_changes();
  Bytes page(wire::kPageUnit, 1);
  page[0] = 5, page[1] = 0;
  const Hash256 hash = sha256(page);
  for (const bool lost : {false, true}) {
    ASSERT_EQ(keeper_.disk.erase(hash), 1u);
    keeper_.blobs.on_lost(Time(0), hash);
    keeper_.trees.on_damaged(hash);
    EXPECT_FALSE(keeper_.trees.complete({job_, roots_[0]}));
    if (lost) host_.disk.erase(hash);
    keeper_.blobs.on_tick(Time(0), out_);
    keeper_.carry_out(out_);
    keeper_.fetch_from(host_, host_name_);
    for (const Hash256& gone : keeper_.blobs.take_lost()) keeper_.trees.on_lost(gone);
    EXPECT_EQ(keeper_.trees.complete({job_, roots_[0]}), !lost);
    EXPECT_EQ(
        changes(keeper_, roots_[0]),
        std::vector<std::string>{lost ? "blob " + hash.hex() + " of its image is lost: no peer that takes part in the job has it" : ""});
  }
}

TEST_F(ImageTreesTest, AMalformedRootIsLostAtOnce) {
  const std::string garbage = "this is no root";
  const Hash256 hash = sha256(as_bytes(garbage));
  host_.disk[hash] = garbage;
  fetch(hash);
  EXPECT_FALSE(keeper_.trees.complete({job_, hash}));
  const auto told = changes(keeper_, hash);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0], "");
  keeper_.trees.release({job_, hash}, out_);
  keeper_.carry_out(out_);
  EXPECT_EQ(keeper_.blobs.size(), 0u);
}

TEST(NewImage, IsRefusedIfAPageIsNotWhatItsHashSays) {
  FakeMemory memory(3);
  wire::pb::GateState gate;
  gate.set_thread(1);
  const std::string state = gate.SerializeAsString();
  const Bytes page(wire::kPageUnit, 9);
  wire::ImageContent content{.memory_pages = 1};
  content.job_state.assign(state.begin(), state.end());
  content.pages.push_back({0, sha256(as_bytes("another page")), wire::Storage::raw, page});
  const wire::Image image = wire::Image::encode(content).value();
  EXPECT_EQ(check_new_image(image.encoded(), nullptr).error().kind, Kind::corrupt);
  content.pages[0].hash = sha256(page);
  const wire::Image honest = wire::Image::encode(content).value();
  EXPECT_TRUE(check_new_image(honest.encoded(), nullptr));
  content.job_state.clear();
  const wire::Image gateless = wire::Image::encode(content).value();
  EXPECT_FALSE(check_new_image(gateless.encoded(), nullptr));
}

// A peer that sent an image of thousands of nodes, one by one, made its receiver count all of them each time.
TEST_F(ImageTreesTest, TheSizeAtMostGrowsWithEachNode) {
  save(host_);
  const ImageTrees::Name name{job_, roots_[0]};
  ASSERT_TRUE(keeper_.trees.want(Time(0), name, host_name_, out_));
  EXPECT_EQ(keeper_.trees.size_at_most(name).blobs, 1u);
  keeper_.carry_out(out_);
  keeper_.fetch_from(host_, host_name_);
  ASSERT_TRUE(keeper_.trees.complete(name));
  const ImageTrees::Size exact = keeper_.trees.size(name), at_most = keeper_.trees.size_at_most(name);
  EXPECT_EQ(at_most.blobs, exact.blobs);
  EXPECT_EQ(at_most.nodes, 16u + 1);
  EXPECT_GE(at_most.bytes, exact.bytes);
  // The second image shares all nodes but one with the first.
  memory_.write(0, 7);
  save(host_);
  ASSERT_TRUE(keeper_.trees.want(Time(0), {job_, roots_[1]}, host_name_, out_));
  keeper_.carry_out(out_);
  keeper_.fetch_from(host_, host_name_);
  EXPECT_EQ(keeper_.trees.size_at_most({job_, roots_[1]}).blobs, exact.blobs);
}

// Simulator, disks 14: a worker that left a page to the image before was killed for it, because the page had rotted meanwhile.
TEST_F(ImageTreesTest, AnImageMayLeaveAPageThatIsFetchedAgain) {
  save(host_);
  const Hash256 page = [&] {
    for (const auto& [hash, bytes] : host_.disk)
      if (bytes.size() == wire::kPageUnit && static_cast<std::uint8_t>(bytes[0]) == 0 && static_cast<std::uint8_t>(bytes[1]) == 0)
        return hash;
    return Hash256{};
  }();
  ASSERT_TRUE(host_.disk.contains(page));
  host_.blobs.on_lost(Time(0), page);
  host_.trees.on_damaged(page);
  memory_.write(1, 7);  // in the same node
  save(host_);
  EXPECT_FALSE(host_.trees.complete({job_, roots_[1]}));
  host_.blobs.put(page, SharedBytes(std::string(host_.disk.at(page))), job_, out_);
  host_.carry_out(out_);
  EXPECT_TRUE(host_.trees.complete({job_, roots_[1]}));
}

}  // namespace
}  // namespace gw::job
