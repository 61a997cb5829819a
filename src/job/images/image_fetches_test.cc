#include "job/images/image_fetches.h"

#include <gtest/gtest.h>

#include "job/test/fake_disk.h"
#include "job/test/images.h"
#include "job/test/signers.h"

namespace gw::job {
namespace fetches_test {

using std::chrono::seconds;
using test::id_of;

class Fetches : public testing::Test {
 protected:
  Fetches() { EXPECT_TRUE(fetches_.begin(seconds(1), name_, image_.root, id_of(1), out_)); }

  std::vector<ImageFetches::Done> deliver() {
    disk_.deliver(id_of(1), image_, trees_, out_);
    std::vector<ImageFetches::Done> done;
    for (const ImageTrees::Change& change : trees_.take_changes())
      std::ranges::move(fetches_.on_change(change, out_), std::back_inserter(done));
    return done;
  }

  const ImageFetches::Name name_{{sha256(as_bytes("a job"))}, kMainThread};
  const NewImage image_ = test::image_of(EffectGate(kMainThread), 'a');
  BlobReferences blobs_{{}, test::nobody_else};
  ImageTrees trees_{{}, blobs_};
  test::FakeDisk disk_{blobs_};
  ImageFetches fetches_{trees_};
  Actions out_;
};

TEST_F(Fetches, AreDoneWhenAllOfTheImageIsHere) {
  const auto done = deliver();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].name, name_);
  ASSERT_TRUE(done[0].root);
  EXPECT_EQ(*done[0].root, image_.root);
  EXPECT_EQ(fetches_.size(), 0u);
  trees_.release({name_.first, image_.root}, out_);
  EXPECT_EQ(blobs_.size(), 0u) << "it was held once";
}

TEST_F(Fetches, AnImageThatIsHereAlreadyIsDoneAtOnce) {
  ASSERT_EQ(deliver().size(), 1u);
  ASSERT_TRUE(fetches_.begin(seconds(1), name_, image_.root, id_of(1), out_));
  EXPECT_EQ(deliver().size(), 1u);
}

TEST_F(Fetches, OneImageServesAllThatWaitForIt) {
  const ImageFetches::Name other{name_.first, ThreadId{7}};
  ASSERT_TRUE(fetches_.begin(seconds(1), other, image_.root, id_of(1), out_));
  EXPECT_EQ(deliver().size(), 2u);
}

TEST_F(Fetches, ALostBlobEndsTheFetchWithAReason) {
  const auto done = fetches_.on_change({{name_.first, image_.root}, ImageTrees::Change::What::lost, "blob 17 of its image is lost"}, out_);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].root.error().kind, Kind::not_found);
  EXPECT_NE(done[0].root.error().detail.find("blob 17"), std::string::npos);
  EXPECT_EQ(blobs_.size(), 0u);
}

// A stranger's image is refused as soon as its nodes say how large it is.
TEST_F(Fetches, AnImageForWhichThereIsNoRoomIsNotFetched) {
  fetches_.cancel(name_, out_);
  ImageTrees::Size admitted;
  ImageFetches limited(trees_, [&](const ImageFetches::Name&, const ImageTrees::Size& size) -> Status {
    admitted = size;
    if (size.blobs > 2) return fail(Kind::overloaded, "no room");
    return ok();
  });
  ASSERT_TRUE(limited.begin(seconds(1), name_, image_.root, id_of(1), out_));
  disk_.deliver(id_of(1), image_, trees_, out_);
  std::vector<ImageFetches::Done> done;
  for (const ImageTrees::Change& change : trees_.take_changes())
    std::ranges::move(limited.on_change(change, out_), std::back_inserter(done));
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].root.error().kind, Kind::overloaded);
  EXPECT_EQ(admitted.blobs, 3u);
  EXPECT_EQ(blobs_.size(), 0u);
}

TEST_F(Fetches, ACancelledFetchHoldsNothing) {
  fetches_.cancel(name_, out_);
  EXPECT_EQ(blobs_.size(), 0u);
  EXPECT_EQ(fetches_.find(name_), nullptr);
  EXPECT_TRUE(deliver().empty());
}

}  // namespace fetches_test
}  // namespace gw::job
