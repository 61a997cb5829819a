#ifndef GODWIT_MESSAGES_HPP
#define GODWIT_MESSAGES_HPP
// Messages between the threads of a job. Each one arrives exactly once, in order for each pair of threads, wherever the two run, and
// whatever is moved or restarted meanwhile.

#include <chrono>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <godwit/threads.hpp>
#include <godwit/travel.hpp>

namespace godwit {

using tag = std::uint64_t;

inline constexpr tag any_tag = ~tag{0};
inline constexpr thread_id anyone = 0;
// Tags of programs are below this one.
inline constexpr tag first_reserved_tag = tag{1} << 61;

// A message as it came, or the end of a thread (watch()).
struct message {
  thread_id from = 0;
  godwit::tag tag = 0;
  std::string bytes;

  template <class T>
  T as() const {
    return from_bytes<T>(bytes);
  }
};

// How a thread ended.
struct ending {
  int exit_code = 0;
  std::string sentence;  // empty: it exited by itself
};

namespace detail {

inline constexpr tag kMoreFollows = tag{1} << 63;
inline constexpr std::size_t kMostBytes = std::size_t{1} << 20;

[[noreturn]] inline void die(const char* what, int error) {
  std::fprintf(stderr, "godwit: %s: %s\n", what, std::strerror(error));
  std::abort();
}

// Messages that have come for this thread and were not asked for yet. They are part of the program's memory, so they move with the
// thread; a child begins without any.
class post {
 public:
  struct item {
    message what;
    std::optional<ending> notice;
  };

  // The first item for which `wanted` is true; waits for it, at most so long. Nothing: the time is over.
  template <class Wanted>
  std::optional<item> take(const Wanted& wanted, std::uint64_t timeout_ns) {
    forget_if_child();
    for (auto one = items_.begin(); one != items_.end(); ++one) {
      if (!wanted(*one)) continue;
      item taken = std::move(*one);
      items_.erase(one);
      return taken;
    }
    while (pull(timeout_ns)) {
      if (items_.empty() || !wanted(items_.back())) continue;
      item taken = std::move(items_.back());
      items_.pop_back();
      return taken;
    }
    return std::nullopt;
  }

  static post& mine() {
    static post only;
    return only;
  }

 private:
  void forget_if_child() {
    const thread_id now = this_thread::id();
    if (std::exchange(owner_, now) == now) return;
    items_.clear();
    parts_.clear();
  }

  // False: nothing came in time. An item that is a part of a value only waits for the rest.
  bool pull(std::uint64_t timeout_ns) {
    godwit_mail header;
    int error = godwit_receive(&header, room_.data(), room_.size(), timeout_ns);
    while (error == ENOBUFS) {
      room_.resize(header.size);
      error = godwit_receive(&header, room_.data(), room_.size(), timeout_ns);
    }
    if (error == ETIMEDOUT) return false;
    if (error != 0) die("a message could not be received", error);
    const std::string_view bytes(room_.data(), header.size);
    if (header.kind == GODWIT_MAIL_NOTICE) {
      items_.push_back({{header.from, 0, {}}, ending{static_cast<int>(header.exit_code), std::string(bytes)}});
      return true;
    }
    std::string& begun = parts_[{header.from, header.tag & ~kMoreFollows}];
    begun += bytes;
    if ((header.tag & kMoreFollows) != 0) return true;
    items_.push_back({{header.from, header.tag, std::move(begun)}, std::nullopt});
    parts_.erase({header.from, header.tag});
    return true;
  }

  thread_id owner_ = 0;
  std::deque<item> items_;
  std::map<std::pair<thread_id, tag>, std::string> parts_;
  std::string room_ = std::string(4096, '\0');
};

inline void send_bytes(thread_id to, tag tag, std::string_view bytes) {
  for (;;) {
    const std::string_view part = bytes.substr(0, kMostBytes);
    bytes.remove_prefix(part.size());
    const int error = godwit_send(to, bytes.empty() ? tag : tag | kMoreFollows, part.data(), part.size());
    if (error != 0) die("a message could not be sent", error);
    if (bytes.empty()) return;
  }
}

template <class Duration>
std::uint64_t nanoseconds(Duration duration) {
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

inline auto message_filter(thread_id from, tag tag) {
  return [=](const post::item& one) {
    const bool tag_fits = tag == any_tag ? one.what.tag < first_reserved_tag : one.what.tag == tag;
    return !one.notice && tag_fits && (from == anyone || one.what.from == from);
  };
}

}  // namespace detail

// Puts a message into the mailbox of a thread of the same job: does not wait for the receiver, but for room when much is on its way. What is
// sent to a thread that is over is dropped.
template <class... Ts>
void send(thread_id to, tag tag, const Ts&... values) {
  detail::send_bytes(to, tag, to_bytes(values...));
}

// The next message of that sender and tag; others stay until they are asked for. Waits until it is there.
inline message receive(thread_id from = anyone, tag tag = any_tag) {
  return std::move(detail::post::mine().take(detail::message_filter(from, tag), GODWIT_FOREVER)->what);
}

template <class T>
T receive_as(thread_id from = anyone, tag tag = any_tag) {
  return receive(from, tag).as<T>();
}

// The same, waiting for each further message at most so long. Nothing: none came.
template <class Rep, class Period>
std::optional<message> receive_for(std::chrono::duration<Rep, Period> timeout, thread_id from = anyone, tag tag = any_tag) {
  auto item = detail::post::mine().take(detail::message_filter(from, tag), detail::nanoseconds(timeout));
  if (!item) return std::nullopt;
  return std::move(item->what);
}

// Without waiting.
inline std::optional<message> try_receive(thread_id from = anyone, tag tag = any_tag) {
  return receive_for(std::chrono::nanoseconds(0), from, tag);
}

// Values of one type between this thread and another, in both directions.
template <class T>
class channel {
 public:
  channel(thread_id peer, godwit::tag tag) : peer_(peer), tag_(tag) {}
  void send(const T& value) const { godwit::send(peer_, tag_, value); }
  T receive() const { return receive_as<T>(peer_, tag_); }
  template <class Rep, class Period>
  std::optional<T> receive_for(std::chrono::duration<Rep, Period> timeout) const {
    const auto got = godwit::receive_for(timeout, peer_, tag_);
    return got ? std::optional<T>(got->template as<T>()) : std::nullopt;
  }
  thread_id peer() const { return peer_; }

 private:
  thread_id peer_;
  godwit::tag tag_;
};

// Asks for the end of a thread, which wait_for_end() then waits for.
inline void watch(thread_id thread) {
  if (const int error = godwit_watch(thread); error != 0) detail::die("a thread could not be watched", error);
}

// Returns when the thread is over. REQUIRES: watch() was called for it, once for each call of this.
inline ending wait_for_end(thread_id thread) {
  const auto is_its_end = [=](const detail::post::item& one) { return one.notice && one.what.from == thread; };
  return *detail::post::mine().take(is_its_end, GODWIT_FOREVER)->notice;
}

// A thread of the job that runs a function: a fork, so what it sees is a copy of everything as it was, and it may run on another peer. It
// ends when the function returns. Not joined and not detached, it is joined by the destructor.
class thread {
 public:
  thread() = default;
  template <class F, class... Args>
    requires std::invocable<F, Args...>
  explicit thread(F&& function, Args&&... args) {
    const auto forked = fork();
    if (!forked) detail::die("there is no room for another thread", EAGAIN);
    if (forked->in_child()) {
      std::invoke(std::forward<F>(function), std::forward<Args>(args)...);
      std::exit(0);
    }
    id_ = forked->child;
    watch(id_);
  }
  thread(thread&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  thread& operator=(thread&& other) noexcept {
    if (this != &other && joinable()) join();
    id_ = std::exchange(other.id_, 0);
    return *this;
  }
  ~thread() {
    if (joinable()) join();
  }

  thread_id id() const { return id_; }
  bool joinable() const { return id_ != 0; }
  // How it ended. REQUIRES: joinable().
  ending join() { return wait_for_end(std::exchange(id_, 0)); }
  void detach() { id_ = 0; }

 private:
  thread_id id_ = 0;
};

}  // namespace godwit

#endif
