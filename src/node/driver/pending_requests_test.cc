#include "node/driver/pending_requests.h"

#include <gmock/gmock.h>

namespace gw::node {
namespace {

using testing::ElementsAre;

class PendingRequestsTest : public testing::Test {
 protected:
  void run_posted() {
    for (const auto& callback : std::exchange(posted_, {})) callback();
  }
  PendingRequests::Done<Status> note() {
    return [this](Status status) { answers_.push_back(status ? "ok" : status.error().detail); };
  }

  std::vector<std::function<void()>> posted_;
  std::vector<std::string> answers_;
  PendingRequests requests_{[this](std::function<void()> callback) { posted_.push_back(std::move(callback)); }};
  const Hash256 hash_ = sha256(as_bytes("blob"));
  const job::JobId job_{sha256(as_bytes("job"))};
};

TEST_F(PendingRequestsTest, AnswersEqualRequestsTogetherAndOnce) {
  EXPECT_TRUE(requests_.add_upload(hash_, note()));
  EXPECT_TRUE(requests_.add_upload(hash_, note()));
  requests_.on_event(job::BlobUploaded{hash_});
  requests_.on_event(job::BlobUploaded{hash_});
  EXPECT_TRUE(answers_.empty());  // never from inside the call
  run_posted();
  EXPECT_THAT(answers_, ElementsAre("ok", "ok"));
}

TEST_F(PendingRequestsTest, AnswersOnlyWhatTheEventIsAbout) {
  EXPECT_TRUE(requests_.add_input(job_, 0, note()));
  EXPECT_TRUE(requests_.add_input(job_, 1, note()));
  requests_.on_event(job::InputRefused{job_, 1, fail(Kind::invalid, "not the next one")});
  run_posted();
  EXPECT_THAT(answers_, ElementsAre("not the next one"));
  requests_.on_event(job::InputStored{job_, 0});
  run_posted();
  EXPECT_THAT(answers_, ElementsAre("not the next one", "ok"));
}

TEST_F(PendingRequestsTest, CancelsAreAnsweredByTheEndOfTheJob) {
  EXPECT_TRUE(requests_.add_cancel(job_, note()));
  requests_.on_event(job::JobOver{.job = {}});
  run_posted();
  EXPECT_TRUE(answers_.empty());
  requests_.on_event(job::JobOver{.job = job_});
  run_posted();
  EXPECT_THAT(answers_, ElementsAre("ok"));
}

TEST_F(PendingRequestsTest, SuspensionIsAnsweredWhenItIsReachedOrCannotBe) {
  EXPECT_TRUE(requests_.add_suspend(job_, note()));
  requests_.on_event(job::JobSuspended{job_});
  EXPECT_TRUE(requests_.add_suspend(job_, note()));
  requests_.on_event(job::JobRequestRefused{job_, fail(Kind::invalid, "it is suspended")});
  EXPECT_TRUE(requests_.add_resume(job_, note()));
  requests_.on_event(job::JobResumed{job_});
  EXPECT_TRUE(requests_.add_suspend(job_, note()));
  requests_.on_event(job::JobOver{.job = job_});
  run_posted();
  EXPECT_THAT(answers_, ElementsAre("ok", "it is suspended", "ok", testing::HasSubstr("has ended before it was suspended")));
}

TEST_F(PendingRequestsTest, GridRequestsAreNumberedFromOneOn) {
  std::vector<std::string> texts;
  const auto done = [&](const Result<std::string>& text) { texts.push_back(text.value()); };
  EXPECT_EQ(requests_.add_grid_request(done), 1);
  EXPECT_EQ(requests_.add_grid_request(done), 2);
  requests_.on_event(job::GridAnswered{.request = 0, .error = {}, .text = "nobody waits for it"});
  requests_.on_event(job::GridAnswered{.request = 2, .error = {}, .text = "second"});
  run_posted();
  EXPECT_THAT(texts, ElementsAre("second"));
}

TEST_F(PendingRequestsTest, RefusesMoreThanItsLimit) {
  for (std::size_t i = 0; i < PendingRequests::kMaxOfOneKind; ++i) EXPECT_TRUE(requests_.add_cancel(job_, [](const Status&) {}));
  EXPECT_FALSE(requests_.add_cancel(job_, note()));
  EXPECT_TRUE(requests_.add_upload(hash_, note()));  // another kind
  run_posted();
  EXPECT_THAT(answers_, ElementsAre(too_many_requests().detail));
}

TEST_F(PendingRequestsTest, CloseFailsWhatWaitsAndWhatComesLater) {
  EXPECT_TRUE(requests_.add_upload(hash_, note()));
  requests_.close(fail(Kind::disconnected, "the daemon stops"));
  EXPECT_THAT(answers_, ElementsAre("the daemon stops"));
  EXPECT_FALSE(requests_.add_upload(hash_, note()));
  run_posted();
  EXPECT_THAT(answers_, ElementsAre("the daemon stops", "the daemon stops"));
}

}  // namespace
}  // namespace gw::node
