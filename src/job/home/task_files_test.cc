#include "job/home/task_files.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "job/test/graphs.h"

namespace gw::job {
namespace {

const PeerId kHost{sha256(as_bytes("host"))}, kOther{sha256(as_bytes("other"))};

class TaskFilesTest : public testing::Test {
 protected:
  static Manifest manifest() {
    return Manifest::check(Manifest::encode(test::manifest_of_graph({{"first", 2, {}, true}, {"then", 1, {0}}}))).value();
  }
  static JobMessage::Effects piece(std::uint32_t task, std::uint64_t content) {
    JobMessage::Effects message;
    Effect& effect = *message.add_effects();
    effect.set_thread(thread_of_task(task, 3).value());
    effect.mutable_file()->set_path("out");
    std::string bytes(wire::kInputChunkBytes, 'p');
    for (std::size_t i = 0; i < sizeof(content); ++i) bytes[i] = static_cast<char>(content >> (8 * i));
    effect.mutable_file()->set_bytes(std::move(bytes));
    return message;
  }

  const Manifest manifest_ = manifest();
  ClaimTable claims_;
  std::map<Hash256, std::size_t> stored_;
  HomeBlobs blobs_{.has = [this](const Hash256& hash) { return stored_.contains(hash); },
                   .put = [this](const JobId&, const Hash256& hash, std::string bytes, Actions&) { stored_[hash] = bytes.size(); },
                   .adopt = [](const JobId&, const Hash256&) {}};
  TaskFiles files_{{JobId{sha256(as_bytes("job"))}, manifest_, claims_, blobs_}};
  Actions out_;
};

constexpr std::uint64_t kPieces = TaskFiles::kMaxUntakenBytes / wire::kInputChunkBytes;

TEST_F(TaskFilesTest, PiecesThatHomeNeverTakesAreLimitedForEachHost) {
  for (std::uint64_t i = 0; i < kPieces + 50; ++i) files_.admit(kHost, piece(0, i), out_);
  EXPECT_EQ(stored_.size(), kPieces);
  EXPECT_TRUE(files_.admit(kHost, piece(0, 3), out_)) << "it is here already";
  EXPECT_FALSE(files_.admit(kHost, piece(0, kPieces), out_));
  EXPECT_TRUE(files_.admit(kOther, piece(1, kPieces), out_)) << "another host pays for its own";
}

TEST_F(TaskFilesTest, APieceThatHomeTakesMakesRoomForAnother) {
  for (std::uint64_t i = 0; i < kPieces; ++i) files_.admit(kHost, piece(0, i), out_);
  EXPECT_FALSE(files_.admit(kHost, piece(0, kPieces), out_));
  files_.on_effect(piece(0, 0).effects(0), out_);
  EXPECT_TRUE(files_.admit(kHost, piece(0, kPieces), out_));
}

}  // namespace
}  // namespace gw::job
