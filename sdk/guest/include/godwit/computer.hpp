#ifndef GODWIT_COMPUTER_HPP
#define GODWIT_COMPUTER_HPP
// Calls that run on other peers: a virtual computer of worker threads, and async() on it.
//
//   godwit::computer grid{{.workers = 8}};
//   std::vector<godwit::future<double>> parts;
//   for (int i = 0; i < 100; i++) parts.push_back(grid.async(simulate, i));
//   for (auto& part : parts) sum += part.get();
//
// A worker is a fork of the thread that makes the computer, so it begins with a copy of all that this has prepared. Calls and results are
// messages: a worker whose peer dies goes on elsewhere, and each result comes once.

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <godwit/messages.hpp>

namespace godwit {

// A call ended with an exception, or its worker with it.
class remote_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The answer to a worker whose program ends badly: a new worker, fewer workers, or no more calls. The death of a peer is no such case.
enum class on_failure { replace, ignore, cancel };

namespace detail {

inline constexpr tag kReady = first_reserved_tag + 1, kCalls = first_reserved_tag + 2, kResults = first_reserved_tag + 3,
                     kStop = first_reserved_tag + 4;
inline constexpr std::size_t kMostCalls = 256;              // in a message
inline constexpr std::size_t kMostCallBytes = 256u << 10;   // unless one call has more
inline constexpr std::size_t kBatchesAhead = 2;             // at a worker, so that it has the next calls when it needs them
inline constexpr unsigned kAsyncsPerLook = 64;

[[noreturn]] inline void raise(const std::string& text) {
#if defined(__cpp_exceptions)
  throw remote_error(text);
#else
  std::fprintf(stderr, "godwit: %s\n", text.c_str());
  std::abort();
#endif
}

enum class outcome : std::uint8_t { waiting, value, error };

// The result of a call, shared by its future and its computer.
struct answer {
  outcome how = outcome::waiting;
  std::string bytes;  // of the value, or the text of the error
  bool cancelled = false;
};

using entry = void (*)(reader& arguments, writer& result);

template <class T>
using sent_as = std::decay_t<T>;

// Runs a call in a worker: its address is part of the message.
template <class F, class... Args>
struct call_of {
  using result = std::invoke_result_t<F&, Args&...>;

  static void run(reader& arguments, writer& out) {
    F function = make(arguments);
    std::tuple<Args...> values;
    arguments(values);
    if constexpr (std::is_void_v<result>) {
      std::apply(function, values);
    } else {
      out(static_cast<const std::decay_t<result>&>(std::apply(function, values)));
    }
  }
  static F make(reader& arguments) {
    if constexpr (std::is_pointer_v<F>) {
      return arguments.next<F>();
    } else {
      return F{};
    }
  }
};

template <class F>
constexpr void require_callable() {
  static_assert(std::is_pointer_v<F> || (std::is_empty_v<F> && std::is_default_constructible_v<F>),
                "godwit: this function cannot travel to another thread, because it captures something that stays behind: give async() what "
                "it needs as arguments, as in grid.async([](Scene scene, int row) { ... }, scene, row)");
}

inline void run_call(reader& call, writer& results) {
  const auto run = reinterpret_cast<entry>(static_cast<std::uintptr_t>(call.next<std::uint32_t>()));
  const auto arguments = call.next<std::string>();
  reader in(arguments);
  writer out;
#if defined(__cpp_exceptions)
  try {
    run(in, out);
  } catch (const std::exception& error) {
    return results(outcome::error, std::string(error.what()));
  } catch (...) {
    return results(outcome::error, std::string("an exception that is no std::exception"));
  }
#else
  run(in, out);
#endif
  results(outcome::value, out.take());
}

// The life of a worker.
[[noreturn]] inline void serve(thread_id parent) {
  watch(parent);
  send_bytes(parent, kReady, {});
  const auto is_for_worker = [=](const post::item& one) {
    return one.what.from == parent && (one.notice || one.what.tag == kCalls || one.what.tag == kStop);
  };
  for (;;) {
    const auto item = post::mine().take(is_for_worker, GODWIT_FOREVER);
    if (item->notice || item->what.tag == kStop) std::exit(0);
    reader calls(item->what.bytes);
    writer results;
    while (!calls.at_end()) {
      results(calls.next<std::uint64_t>());
      run_call(calls, results);
    }
    send_bytes(parent, kResults, results.take());
  }
}

class crew;

}  // namespace detail

// The result of a call, to be taken once. get() waits; ready() does not.
template <class T>
class future {
 public:
  future() = default;
  bool valid() const { return answer_ != nullptr; }
  // REQUIRES of the others: valid(), and the computer that made it is still there.
  bool ready() const;
  void wait() const;
  // The result; throws remote_error if the call ended with an exception, or with its worker. Once.
  T get();
  // A call that no worker has yet does not run; get() then throws.
  void cancel() const { answer_->cancelled = true; }

 private:
  friend class computer;
  future(std::shared_ptr<detail::answer> answer, std::shared_ptr<detail::crew> crew) : answer_(std::move(answer)), crew_(std::move(crew)) {}

  std::shared_ptr<detail::answer> answer_;
  std::shared_ptr<detail::crew> crew_;
};

namespace detail {

// The workers of a computer, and the calls that are not over.
class crew {
 public:
  crew(unsigned workers, on_failure policy) : owner_(this_thread::id()), policy_(policy) {
    for (unsigned i = 0; i < workers; i++) hire();
  }
  ~crew() {
    if (this_thread::id() != owner_) return;  // a copy in a child
    for (const auto& [id, worker] : workers_) send_bytes(id, kStop, {});
  }

  void add(std::uint32_t function, std::string arguments, std::shared_ptr<answer> answer) {
    if (this_thread::id() != owner_) {
      std::fprintf(stderr, "godwit: a computer belongs to the thread that has made it; a worker that needs one makes its own\n");
      std::abort();
    }
    waiting_.push_back({next_++, to_bytes(function, arguments), std::move(answer)});
    if (looks_++ % kAsyncsPerLook == 0) {
      while (look(0)) {
      }
      give_all();
    }
  }
  // Goes on until the call is over.
  void wait(const answer& answer) {
    give_all();
    while (answer.how == outcome::waiting) step(GODWIT_FOREVER);
  }
  void look_around() {
    while (look(0)) {
    }
    give_all();
  }
  std::size_t size() const { return workers_.size(); }

 private:
  struct call {
    std::uint64_t id;
    std::string bytes;  // function and arguments
    std::shared_ptr<detail::answer> answer;
    bool alone = false;  // its last worker ended while it had this call
  };
  struct worker {
    bool ready = false;
    std::deque<std::vector<call>> batches;  // that it has, in order
  };

  bool hire() {
    const auto forked = fork();
    if (!forked) return false;
    if (forked->in_child()) serve(this_thread::parent());
    workers_[forked->child];
    watch(forked->child);
    return true;
  }

  // False: nothing has come in time.
  bool look(std::uint64_t timeout) {
    const auto is_ours = [this](const post::item& one) {
      return workers_.contains(one.what.from) && (one.notice || one.what.tag == kReady || one.what.tag == kResults);
    };
    const auto item = post::mine().take(is_ours, timeout);
    if (!item) return false;
    const thread_id from = item->what.from;
    if (item->notice) {
      lose(from, *item->notice);
    } else if (item->what.tag == kResults) {
      take_results(workers_[from], item->what.bytes);
      give(from);
    } else {
      workers_[from].ready = true;
      give(from);
    }
    return true;
  }

  void step(std::uint64_t timeout) {
    if (!workers_.empty()) {
      look(timeout);
    } else {
      run_here();
    }
  }

  static void take_results(worker& worker, std::string_view bytes) {
    if (worker.batches.empty()) std::abort();
    reader results(bytes);
    for (call& one : worker.batches.front()) {
      if (results.next<std::uint64_t>() != one.id) std::abort();
      one.answer->how = results.next<outcome>();
      one.answer->bytes = results.next<std::string>();
    }
    worker.batches.pop_front();
  }

  void give_all() {
    for (auto& [id, worker] : workers_) {
      if (waiting_.empty()) return;
      give(id);
    }
  }

  // Fewer calls at a time towards the end, so that the workers end together.
  void give(thread_id id) {
    worker& to = workers_[id];
    while (to.ready && to.batches.size() < kBatchesAhead) {
      const std::size_t share = std::clamp<std::size_t>(waiting_.size() / (2 * workers_.size()), 1, kMostCalls);
      std::vector<call> batch;
      writer bytes;
      while (!waiting_.empty() && batch.size() < share && bytes.size() < kMostCallBytes) {
        if (waiting_.front().alone && !batch.empty()) break;
        call one = std::move(waiting_.front());
        waiting_.pop_front();
        if (one.answer->cancelled) {
          fail(one, "the call was cancelled");
          continue;
        }
        bytes(one.id);
        bytes.raw(one.bytes.data(), one.bytes.size());
        batch.push_back(std::move(one));
        if (batch.back().alone) break;
      }
      if (batch.empty()) return;
      to.batches.push_back(std::move(batch));
      send_bytes(id, kCalls, bytes.take());
    }
  }

  static void fail(call& one, std::string text) {
    one.answer->how = outcome::error;
    one.answer->bytes = std::move(text);
  }

  // The first batch was being carried out: each of its calls runs again, alone, and one that ends its worker again has failed.
  void lose(thread_id id, const ending& how) {
    worker lost = std::move(workers_[id]);
    workers_.erase(id);
    std::deque<call> again;
    for (std::size_t i = 0; i < lost.batches.size(); i++)
      for (call& one : lost.batches[i]) {
        if (i == 0 && (lost.batches[i].size() == 1 || policy_ == on_failure::cancel)) {
          fail(one, "the worker that ran the call ended: " +
                        (how.sentence.empty() ? "it exited with code " + std::to_string(how.exit_code) : how.sentence));
          continue;
        }
        one.alone = one.alone || i == 0;
        again.push_back(std::move(one));
      }
    waiting_.insert(waiting_.begin(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
    if (policy_ == on_failure::cancel) {
      for (call& one : waiting_) fail(one, "the calls were cancelled, because a worker has failed");
      waiting_.clear();
    }
    if (policy_ == on_failure::replace) hire();
    give_all();
  }

  // There are no workers, and can be none: the thread does the work itself.
  void run_here() {
    if (waiting_.empty()) raise("there is no worker for the call");
    call one = std::move(waiting_.front());
    waiting_.pop_front();
    if (one.answer->cancelled) return fail(one, "the call was cancelled");
    reader call(one.bytes);
    writer result;
    run_call(call, result);
    const std::string bytes = result.take();
    reader results(bytes);
    one.answer->how = results.next<outcome>();
    one.answer->bytes = results.next<std::string>();
  }

  const thread_id owner_;
  const on_failure policy_;
  std::map<thread_id, worker> workers_;
  std::deque<call> waiting_;
  std::uint64_t next_ = 1;
  unsigned looks_ = 0;
};

}  // namespace detail

template <class T>
bool future<T>::ready() const {
  if (answer_->how == detail::outcome::waiting) crew_->look_around();
  return answer_->how != detail::outcome::waiting;
}

template <class T>
void future<T>::wait() const {
  crew_->wait(*answer_);
}

template <class T>
T future<T>::get() {
  wait();
  const auto answer = std::move(answer_);
  crew_.reset();
  if (answer->how == detail::outcome::error) detail::raise(answer->bytes);
  if constexpr (!std::is_void_v<T>) return from_bytes<T>(answer->bytes);
}

// A number of workers, kept up while the computer lives, and ended with it. Belongs to the thread that makes it. Where there can be no
// threads, the calls run in that thread itself, when their results are waited for.
class computer {
 public:
  struct options {
    unsigned workers = 4;
    godwit::on_failure on_failure = godwit::on_failure::replace;
  };
  computer() : computer(options()) {}
  explicit computer(const options& wanted) : crew_(std::make_shared<detail::crew>(wanted.workers, wanted.on_failure)) {}

  // Runs the function on some worker, with copies of the arguments. The function is an ordinary one, or a lambda without captures; what a
  // call that does not come to its end has printed or reported may be repeated.
  template <class F, class... Args>
  auto async(F&& function, Args&&... args) {
    using function_type = std::decay_t<F>;
    detail::require_callable<function_type>();
    (detail::require_travels<detail::sent_as<Args>>(), ...);
    using call = detail::call_of<function_type, detail::sent_as<Args>...>;
    using result = std::decay_t<typename call::result>;
    if constexpr (!std::is_void_v<result>) detail::require_travels<result>();
    writer arguments;
    if constexpr (std::is_pointer_v<function_type>) arguments(static_cast<function_type>(function));
    arguments(static_cast<const detail::sent_as<Args>&>(args)...);
    auto answer = std::make_shared<detail::answer>();
    const auto entry = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&call::run));
    crew_->add(entry, arguments.take(), answer);
    return future<result>(std::move(answer), crew_);
  }
  // The workers that there are.
  std::size_t size() const { return crew_->size(); }

 private:
  std::shared_ptr<detail::crew> crew_;
};

}  // namespace godwit

#endif
