#include "node/driver/pending_requests.h"

namespace gw::node {

Error too_many_requests() { return fail(Kind::overloaded, "too many requests are under way: try again later"); }

template <class Key, class T>
bool PendingRequests::add(Waiting<Key, T>& waiting, const Key& key, Done<T> done) {
  if (closed_ || waiting.size() >= kMaxOfOneKind) {
    post_([done = std::move(done), why = closed_ ? *closed_ : too_many_requests()] { done(why); });
    return false;
  }
  waiting.emplace(key, std::move(done));
  return true;
}

template <class Key, class T>
void PendingRequests::answer(Waiting<Key, T>& waiting, const Key& key, const T& result) {
  const auto [first, last] = waiting.equal_range(key);
  for (auto request = first; request != last; ++request) post_([done = std::move(request->second), result] { done(result); });
  waiting.erase(first, last);
}

template <class Key, class T>
void PendingRequests::fail_all(Waiting<Key, T>& waiting, const Error& why) {
  for (const auto& [key, done] : std::exchange(waiting, {})) done(why);
}

bool PendingRequests::add_upload(const Hash256& hash, Done<Status> done) { return add(uploads_, hash, std::move(done)); }

bool PendingRequests::add_submit(const job::JobId& job, Done<Result<job::JobId>> done) { return add(submits_, job, std::move(done)); }

bool PendingRequests::add_cancel(const job::JobId& job, Done<Status> done) { return add(cancels_, job, std::move(done)); }

bool PendingRequests::add_suspend(const job::JobId& job, Done<Status> done) { return add(suspends_, job, std::move(done)); }

bool PendingRequests::add_resume(const job::JobId& job, Done<Status> done) { return add(resumes_, job, std::move(done)); }

bool PendingRequests::add_input(const job::JobId& job, std::uint64_t piece, Done<Status> done) {
  return add(inputs_, std::pair(job, piece), std::move(done));
}

std::optional<std::uint64_t> PendingRequests::add_grid_request(Done<Result<std::string>> done) {
  if (!add(grid_requests_, last_grid_request_ + 1, std::move(done))) return std::nullopt;
  return ++last_grid_request_;
}

void PendingRequests::on_event(const job::Event& event) {
  if (const auto* uploaded = std::get_if<job::BlobUploaded>(&event)) answer(uploads_, uploaded->hash, ok());
  if (const auto* refused = std::get_if<job::BlobRefused>(&event)) answer(uploads_, refused->hash, Status(refused->error));
  if (const auto* accepted = std::get_if<job::JobAccepted>(&event)) answer(submits_, accepted->job, Result<job::JobId>(accepted->job));
  if (const auto* refused = std::get_if<job::JobRefused>(&event)) answer(submits_, refused->job, Result<job::JobId>(refused->error));
  if (const auto* over = std::get_if<job::JobOver>(&event)) {
    answer(cancels_, over->job, ok());
    answer(suspends_, over->job, Status(fail(Kind::invalid, "job {} has ended before it was suspended", over->job.brief())));
  }
  if (const auto* suspended = std::get_if<job::JobSuspended>(&event)) answer(suspends_, suspended->job, ok());
  if (const auto* resumed = std::get_if<job::JobResumed>(&event)) answer(resumes_, resumed->job, ok());
  if (const auto* refused = std::get_if<job::JobRequestRefused>(&event)) {
    answer(suspends_, refused->job, Status(refused->error));
    answer(resumes_, refused->job, Status(refused->error));
  }
  if (const auto* stored = std::get_if<job::InputStored>(&event)) answer(inputs_, std::pair(stored->job, stored->piece), ok());
  if (const auto* refused = std::get_if<job::InputRefused>(&event))
    answer(inputs_, std::pair(refused->job, refused->piece), Status(refused->error));
  if (const auto* answered = std::get_if<job::GridAnswered>(&event))
    answer(grid_requests_, answered->request,
           answered->error ? Result<std::string>(*answered->error) : Result<std::string>(answered->text));
}

void PendingRequests::close(const Error& why) {
  closed_ = why;
  fail_all(uploads_, why);
  fail_all(submits_, why);
  fail_all(cancels_, why);
  fail_all(suspends_, why);
  fail_all(resumes_, why);
  fail_all(inputs_, why);
  fail_all(grid_requests_, why);
}

}  // namespace gw::node
