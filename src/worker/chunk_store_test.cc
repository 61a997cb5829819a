#include "worker/chunk_store.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

namespace gw::worker {
namespace chunk_store_test {

Hash256 hash(int number) { return sha256(as_bytes("chunk " + std::to_string(number))); }

class Chunks : public testing::Test {
 protected:
  std::size_t asked() { return outgoing_.take().size(); }
  void deliver(int number) {
    wire::pb::ToWorker::Chunk chunk;
    chunk.set_hash(hash(number).bytes.data(), sizeof(Hash256));
    chunk.set_bytes("chunk " + std::to_string(number));
    ASSERT_TRUE(store_.on_chunk(chunk));
  }

  OutgoingFrames outgoing_{os::UniqueFd(::eventfd(0, EFD_CLOEXEC))};
  ChunkStore store_{outgoing_};
};

TEST_F(Chunks, AChunkThatWasReadAheadIsNotAskedForAgain) {
  store_.read_ahead(std::vector{hash(1), hash(2)});
  EXPECT_EQ(asked(), 2u);
  store_.read_ahead(std::vector{hash(1), hash(2), hash(3)});
  EXPECT_EQ(asked(), 1u);
  EXPECT_FALSE(store_.chunk(hash(1)).value());
  EXPECT_EQ(asked(), 0u);
  deliver(1);
  EXPECT_TRUE(store_.chunk(hash(1)).value());
  store_.read_ahead(std::vector{hash(1)});
  EXPECT_EQ(asked(), 0u);
}

TEST_F(Chunks, NoMoreIsReadAheadThanFits) {
  for (int number = 0; number < 12; ++number) store_.read_ahead(std::vector{hash(number)});
  EXPECT_EQ(asked(), 12u);
  std::vector<Hash256> many;
  for (int number = 12; number < 40; ++number) many.push_back(hash(number));
  store_.read_ahead(many);
  EXPECT_EQ(asked(), ChunkStore::kMaxAhead - 12);
}

}  // namespace chunk_store_test
}  // namespace gw::worker
