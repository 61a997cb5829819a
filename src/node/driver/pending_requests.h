#pragma once
// Requests of users that the peer has not answered yet.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "job/actions.h"

namespace gw::node {

// Holds the callbacks of open requests: a request is added before the peer gets it, and answered by the peer's event about it. Equal
// requests are answered together.
//
// A callback is called once, through `post`, so never from inside a call; only those that close() fails are called at once.
// Belongs to the node thread. Limit: kMaxOfOneKind of each kind at a time.
class PendingRequests {
 public:
  static constexpr std::size_t kMaxOfOneKind = 1024;

  using Post = std::function<void(std::function<void()>)>;  // calls it from a later turn of the loop
  template <class T>
  using Done = std::function<void(T)>;

  explicit PendingRequests(Post post) : post_(std::move(post)) {}

  // False: the request is refused and `done` gets the reason; the peer must not get it. Kind::overloaded, or what close() was given.
  bool add_upload(const Hash256& hash, Done<Status> done);
  bool add_submit(const job::JobId& job, Done<Result<job::JobId>> done);
  bool add_cancel(const job::JobId& job, Done<Status> done);
  bool add_suspend(const job::JobId& job, Done<Status> done);
  bool add_resume(const job::JobId& job, Done<Status> done);
  bool add_input(const job::JobId& job, std::uint64_t piece, Done<Status> done);
  // Returns the number of the request, from 1 on; none: refused as above.
  std::optional<std::uint64_t> add_grid_request(Done<Result<std::string>> done);

  void on_event(const job::Event& event);

  // Fails all open requests and refuses all later ones with this error.
  void close(const Error& why);
  const std::optional<Error>& closed() const { return closed_; }

 private:
  template <class Key, class T>
  using Waiting = std::multimap<Key, Done<T>>;

  template <class Key, class T>
  bool add(Waiting<Key, T>& waiting, const Key& key, Done<T> done);
  template <class Key, class T>
  void answer(Waiting<Key, T>& waiting, const Key& key, const T& result);
  template <class Key, class T>
  void fail_all(Waiting<Key, T>& waiting, const Error& why);

  const Post post_;
  Waiting<Hash256, Status> uploads_;
  Waiting<job::JobId, Result<job::JobId>> submits_;
  Waiting<job::JobId, Status> cancels_;
  Waiting<job::JobId, Status> suspends_;
  Waiting<job::JobId, Status> resumes_;
  Waiting<std::pair<job::JobId, std::uint64_t>, Status> inputs_;
  Waiting<std::uint64_t, Result<std::string>> grid_requests_;
  std::uint64_t last_grid_request_ = 0;
  std::optional<Error> closed_;
};

// The error for other requests with the same limit.
Error too_many_requests();

}  // namespace gw::node
