#include "job/home/suspension.h"

#include <gtest/gtest.h>

namespace gw::job {
namespace suspension_test {

TEST(Suspension, IsReachedOnceWhenNoThreadHasAHost) {
  Suspension suspension(JobId{sha256(as_bytes("a job"))});
  Actions out;
  EXPECT_FALSE(suspension.complete(0, out)) << "nobody wants it";
  ASSERT_TRUE(suspension.begin(out));
  EXPECT_TRUE(suspension.wanted());
  EXPECT_FALSE(suspension.complete(1, out));
  EXPECT_TRUE(suspension.complete(0, out));
  EXPECT_FALSE(suspension.complete(0, out));
  EXPECT_TRUE(suspension.reached());
  EXPECT_EQ(suspension.begin(out).error().kind, Kind::invalid);
  ASSERT_TRUE(suspension.end(out));
  EXPECT_FALSE(suspension.wanted());
  EXPECT_EQ(suspension.end(out).error().kind, Kind::invalid);
}

TEST(Suspension, OutlivesARestart) {
  Suspension suspension(JobId{sha256(as_bytes("a job"))});
  Actions out;
  ASSERT_TRUE(suspension.begin(out));
  ASSERT_EQ(out.records.size(), 1u);
  EXPECT_TRUE(out.records[0].value);
  Suspension again(JobId{sha256(as_bytes("a job"))});
  again.recover(2);
  EXPECT_TRUE(again.wanted());
  EXPECT_TRUE(again.complete(0, out));
  again.clear(out);
  EXPECT_FALSE(out.records.back().value) << "a job that is over leaves nothing";
}

TEST(Suspension, FindsTheOnlyThreadThatCanBeExported) {
  const PeerId self{sha256(as_bytes("home"))};
  wire::pb::Manifest content;
  *content.mutable_module() = Manifest::describe(as_bytes("module"));
  content.mutable_config()->set_random_seed(std::string(32, 's'));
  content.mutable_policy()->set_slots(1);
  const Manifest manifest = Manifest::check(Manifest::encode(content)).value();
  ThreadTable threads;
  threads.add(kMainThread);
  Suspension suspension(JobId{sha256(as_bytes("a job"))});
  Actions out;
  EXPECT_EQ(suspension.only_thread(threads, manifest, self).error().kind, Kind::invalid) << "it runs";
  ASSERT_TRUE(suspension.begin(out));
  ASSERT_TRUE(suspension.complete(0, out));
  EXPECT_EQ(suspension.only_thread(threads, manifest, self).error().kind, Kind::not_found) << "nobody keeps it";
  threads.set_keepers(kMainThread, {self});
  EXPECT_EQ(suspension.only_thread(threads, manifest, self).value(), kMainThread);
  threads.add(child_of(kMainThread, 1));
  EXPECT_EQ(suspension.only_thread(threads, manifest, self).error().kind, Kind::unsupported);
}

}  // namespace suspension_test
}  // namespace gw::job
