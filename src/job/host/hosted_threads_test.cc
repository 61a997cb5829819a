#include "job/host/hosted_threads.h"

#include <gtest/gtest.h>

#include "job/test/fake_disk.h"
#include "job/test/signers.h"

namespace gw::job {
namespace hosted_threads_test {

using test::id_of;

constexpr std::uint8_t kHome = 1;

class ThreadsOfAClaim : public testing::Test {
 protected:
  static std::string manifest() {
    wire::pb::Manifest content;
    *content.mutable_module() = Manifest::describe(as_bytes("module"));
    content.mutable_config()->set_random_seed(std::string(32, 's'));
    content.mutable_policy()->set_slots(4);
    content.mutable_array()->set_count(3);
    return std::string(as_text(Manifest::encode(content)));
  }
  HostedThread& add(std::uint64_t thread, std::uint64_t epoch) {
    JobMessage::Assign assign;
    assign.set_thread(thread);
    assign.set_epoch(epoch);
    assign.add_keepers(id_of(kHome).bytes());
    HostedThread& added = threads_.add(environment_, assign, now_);
    threads_.refresh(added);
    return added;
  }

  const Time now_{std::chrono::seconds(10)};
  const JobId job_{sha256(as_bytes("a job"))};
  BlobReferences blobs_{{}, test::nobody_else};
  Swarm swarm_{{}, blobs_, test::nobody_else, test::no_distance, Rng(1)};
  ImageTrees images_{{}, blobs_};
  Budget budget_{{}};
  HostedStorage storage_{&budget_, {job_, id_of(kHome), {}}};
  CodeStaging code_{{}, blobs_, swarm_, storage_, {job_, id_of(kHome), sha256(as_bytes(manifest()))}};
  ImageFetches fetches_{images_};
  std::uint64_t status_ = 1;
  HostedThread::Config config_;
  HostedThread::Environment environment_{config_, job_, id_of(kHome), code_, images_, fetches_, status_};
  HostedThreads threads_{{.threads = 2, .begun = 3}, {job_, images_, storage_, code_}};
  Actions out_;
};

TEST_F(ThreadsOfAClaim, AThreadDoesNotComeBackInAnEpochThatItHasHadHere) {
  add(5, 2);
  EXPECT_EQ(threads_.find(5, 1), nullptr);
  EXPECT_NE(threads_.find(5, 2), nullptr);
  threads_.remove(ThreadId{5}, out_);
  EXPECT_EQ(threads_.find(ThreadId{5}), nullptr);
  EXPECT_FALSE(threads_.may_add(ThreadId{5}, 2));
  EXPECT_TRUE(threads_.may_add(ThreadId{5}, 3));
}

TEST_F(ThreadsOfAClaim, ThereIsALimitForThoseThatAreHereAndForThoseThatEverWere) {
  add(1, 1);
  add(2, 1);
  EXPECT_FALSE(threads_.may_add(ThreadId{3}, 1)) << "two are here";
  threads_.remove(ThreadId{1}, out_);
  EXPECT_TRUE(threads_.may_add(ThreadId{3}, 1));
  add(3, 1);
  threads_.remove(ThreadId{3}, out_);
  EXPECT_FALSE(threads_.may_add(ThreadId{4}, 1)) << "three were here";
  EXPECT_TRUE(threads_.may_add(ThreadId{3}, 2));
}

TEST_F(ThreadsOfAClaim, AWorkerMayNameThreadsThatHaveLeftAndNoOthers) {
  add(5, 2);
  EXPECT_EQ(threads_.thread_of_worker(5, 2).error().kind, Kind::invalid) << "it does not run";
  code_.begin(now_, out_);
  code_.on_loaded(now_, sha256(as_bytes(manifest())), manifest(), out_);
  threads_.adopt(threads_.at(ThreadId{5}), now_, out_);
  EXPECT_EQ(threads_.thread_of_worker(5, 2).value(), &threads_.at(ThreadId{5}));
  EXPECT_EQ(threads_.slots_used(), 1u);
  threads_.remove(ThreadId{5}, out_);
  EXPECT_EQ(threads_.slots_used(), 0u);
  EXPECT_EQ(threads_.thread_of_worker(5, 2).value(), nullptr);
  EXPECT_EQ(threads_.thread_of_worker(5, 3).error().kind, Kind::invalid);
  EXPECT_EQ(threads_.thread_of_worker(6, 1).error().kind, Kind::invalid);
}

TEST_F(ThreadsOfAClaim, AThreadThatWaitsForASlotIsQueuedUntilItStartsOrLeaves) {
  add(1, 1);
  add(2, 1);
  EXPECT_EQ(threads_.queued().size(), 2u);
  threads_.remove(ThreadId{1}, out_);
  EXPECT_EQ(threads_.queued(), (std::set<ThreadId>{ThreadId{2}}));
}

}  // namespace hosted_threads_test
}  // namespace gw::job
