// The parts of libc++ that Debian's, built without threads, lacks: the members of std::thread, std::mutex and their kin that are not in the
// headers, on top of pthread.h. Their layout is that of the headers. std_thread.cc has the rest.

#include <pthread.h>
#include <stdint.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "guest_thread.h"

namespace {

constexpr unsigned kAll = ~0u;

void check(int error, const char* what) {
  if (error != 0) std::__throw_system_error(error, what);
}

}  // namespace

// --- atomic variables that are waited for

namespace {

const char any_notification = 0;  // the key of those who do not know what they wait for

void notify(const volatile void* address, unsigned count) {
  godwit_wake(const_cast<const void*>(address), count);
  godwit_wake(&any_notification, kAll);
}

void wait_for(const volatile void* address) { godwit_wait_forever(const_cast<const void*>(address), "an atomic variable"); }

}  // namespace

extern "C" void godwit_wait_for_notification(long long nanoseconds) noexcept {
  const godwit_time now = nanoseconds < 0 ? 0 : godwit_now();
  const godwit_time deadline = nanoseconds < 0 ? GODWIT_NEVER : nanoseconds > INT64_MAX - now ? INT64_MAX : now + nanoseconds;
  godwit_wait(&any_notification, deadline, "an atomic variable");
}

_LIBCPP_BEGIN_NAMESPACE_STD

// Nothing happens between the look at the variable and the wait, so there is nothing to monitor.
void __cxx_atomic_notify_one(const volatile void* address) noexcept { notify(address, 1); }
void __cxx_atomic_notify_all(const volatile void* address) noexcept { notify(address, kAll); }
__cxx_contention_t __libcpp_atomic_monitor(const volatile void*) noexcept { return 0; }
void __libcpp_atomic_wait(const volatile void* address, __cxx_contention_t) noexcept { wait_for(address); }
void __cxx_atomic_notify_one(const volatile __cxx_atomic_contention_t* address) noexcept { notify(address, 1); }
void __cxx_atomic_notify_all(const volatile __cxx_atomic_contention_t* address) noexcept { notify(address, kAll); }
__cxx_contention_t __libcpp_atomic_monitor(const volatile __cxx_atomic_contention_t*) noexcept { return 0; }
void __libcpp_atomic_wait(const volatile __cxx_atomic_contention_t* address, __cxx_contention_t) noexcept { wait_for(address); }

// The functions for atomic access to a shared_ptr wait for nothing while they hold this.
constexpr __sp_mut::__sp_mut(void* lock) noexcept : __lx_(lock) {}
void __sp_mut::lock() noexcept {}
void __sp_mut::unlock() noexcept {}
__sp_mut& __get_sp_mut(const void*) {
  static constinit __sp_mut the_only(nullptr);
  return the_only;
}

// --- mutexes

mutex::~mutex() noexcept { pthread_mutex_destroy(&__m_); }
void mutex::lock() { check(pthread_mutex_lock(&__m_), "mutex lock failed"); }
bool mutex::try_lock() noexcept { return pthread_mutex_trylock(&__m_) == 0; }
void mutex::unlock() noexcept { pthread_mutex_unlock(&__m_); }

recursive_mutex::recursive_mutex() { check(__libcpp_recursive_mutex_init(&__m_), "recursive_mutex constructor failed"); }
recursive_mutex::~recursive_mutex() { pthread_mutex_destroy(&__m_); }
void recursive_mutex::lock() { check(pthread_mutex_lock(&__m_), "recursive_mutex lock failed"); }
bool recursive_mutex::try_lock() noexcept { return pthread_mutex_trylock(&__m_) == 0; }
void recursive_mutex::unlock() noexcept { pthread_mutex_unlock(&__m_); }

timed_mutex::timed_mutex() : __locked_(false) {}
timed_mutex::~timed_mutex() = default;
void timed_mutex::lock() {
  unique_lock<mutex> guard(__m_);
  while (__locked_) __cv_.wait(guard);
  __locked_ = true;
}
bool timed_mutex::try_lock() noexcept {
  const lock_guard<mutex> guard(__m_);
  return !exchange(__locked_, true);
}
void timed_mutex::unlock() noexcept {
  const lock_guard<mutex> guard(__m_);
  __locked_ = false;
  __cv_.notify_one();
}

recursive_timed_mutex::recursive_timed_mutex() : __count_(0), __id_{} {}
recursive_timed_mutex::~recursive_timed_mutex() = default;
void recursive_timed_mutex::lock() {
  const __thread_id self = this_thread::get_id();
  unique_lock<mutex> guard(__m_);
  if (__id_ == self) {
    if (__count_ == SIZE_MAX) check(EAGAIN, "recursive_timed_mutex lock failed");
    ++__count_;
    return;
  }
  while (__count_ != 0) __cv_.wait(guard);
  __count_ = 1;
  __id_ = self;
}
bool recursive_timed_mutex::try_lock() noexcept {
  const __thread_id self = this_thread::get_id();
  const lock_guard<mutex> guard(__m_);
  if (__count_ != 0 && (__id_ != self || __count_ == SIZE_MAX)) return false;
  ++__count_;
  __id_ = self;
  return true;
}
void recursive_timed_mutex::unlock() noexcept {
  const lock_guard<mutex> guard(__m_);
  if (--__count_ != 0) return;
  __id_ = __thread_id();
  __cv_.notify_one();
}

// --- condition variables

condition_variable::~condition_variable() { pthread_cond_destroy(&__cv_); }
void condition_variable::notify_one() noexcept { pthread_cond_signal(&__cv_); }
void condition_variable::notify_all() noexcept { pthread_cond_broadcast(&__cv_); }
void condition_variable::wait(unique_lock<mutex>& lock) noexcept {
  if (!lock.owns_lock()) check(EPERM, "condition_variable::wait: the mutex is not locked");
  check(pthread_cond_wait(&__cv_, lock.mutex()->native_handle()), "condition_variable wait failed");
}
void condition_variable::__do_timed_wait(unique_lock<mutex>& lock,
                                         chrono::time_point<chrono::system_clock, chrono::nanoseconds> end) noexcept {
  if (!lock.owns_lock()) check(EPERM, "condition_variable::timed wait: the mutex is not locked");
  timespec time = std::__convert_to_timespec<timespec>(max(end.time_since_epoch(), chrono::nanoseconds::zero()));
  const int error = pthread_cond_timedwait(&__cv_, lock.mutex()->native_handle(), &time);
  if (error != ETIMEDOUT) check(error, "condition_variable timed wait failed");
}

// --- shared mutexes: readers wait at the first gate while there is a writer, a writer waits at the second until the readers have left

__shared_mutex_base::__shared_mutex_base() : __state_(0) {}
void __shared_mutex_base::lock() {
  unique_lock<mutex> guard(__mut_);
  while (__state_ & __write_entered_) __gate1_.wait(guard);
  __state_ |= __write_entered_;
  while (__state_ & __n_readers_) __gate2_.wait(guard);
}
bool __shared_mutex_base::try_lock() {
  const lock_guard<mutex> guard(__mut_);
  if (__state_ != 0) return false;
  __state_ = __write_entered_;
  return true;
}
void __shared_mutex_base::unlock() {
  const lock_guard<mutex> guard(__mut_);
  __state_ = 0;
  __gate1_.notify_all();
}
void __shared_mutex_base::lock_shared() {
  unique_lock<mutex> guard(__mut_);
  while ((__state_ & __write_entered_) || (__state_ & __n_readers_) == __n_readers_) __gate1_.wait(guard);
  ++__state_;
}
bool __shared_mutex_base::try_lock_shared() {
  const lock_guard<mutex> guard(__mut_);
  if ((__state_ & __write_entered_) || (__state_ & __n_readers_) == __n_readers_) return false;
  ++__state_;
  return true;
}
void __shared_mutex_base::unlock_shared() {
  const lock_guard<mutex> guard(__mut_);
  --__state_;
  if (!(__state_ & __write_entered_)) {
    __gate1_.notify_one();
  } else if ((__state_ & __n_readers_) == 0) {
    __gate2_.notify_one();
  }
}

shared_timed_mutex::shared_timed_mutex() = default;
void shared_timed_mutex::lock() { __base_.lock(); }
bool shared_timed_mutex::try_lock() { return __base_.try_lock(); }
void shared_timed_mutex::unlock() { __base_.unlock(); }
void shared_timed_mutex::lock_shared() { __base_.lock_shared(); }
bool shared_timed_mutex::try_lock_shared() { return __base_.try_lock_shared(); }
void shared_timed_mutex::unlock_shared() { __base_.unlock_shared(); }

// --- threads: their members are in std_thread.cc

void this_thread::sleep_for(const chrono::nanoseconds& time) {
  if (time > chrono::nanoseconds::zero()) __libcpp_thread_sleep_for(time);
}

// The work of a thread at its end.
class __thread_struct_imp {
 public:
  vector<pair<condition_variable*, mutex*>> notified;
  vector<__assoc_sub_state*> made_ready;

  ~__thread_struct_imp() {
    for (const auto& [condition, locked] : notified) {
      condition->notify_all();
      locked->unlock();
    }
    for (__assoc_sub_state* state : made_ready) {
      state->__make_ready();
      state->__release_shared();
    }
  }
};

__thread_struct::__thread_struct() : __p_(new __thread_struct_imp) {}
__thread_struct::~__thread_struct() { delete __p_; }
void __thread_struct::notify_all_at_thread_exit(condition_variable* condition, mutex* locked) {
  __p_->notified.emplace_back(condition, locked);
}
void __thread_struct::__make_ready_at_thread_exit(__assoc_sub_state* state) {
  __p_->made_ready.push_back(state);
  state->__add_shared();
}

__thread_specific_ptr<__thread_struct>& __thread_local_data() {
  alignas(__thread_specific_ptr<__thread_struct>) static char memory[sizeof(__thread_specific_ptr<__thread_struct>)];
  static auto* const data = new (memory) __thread_specific_ptr<__thread_struct>();  // never destroyed: threads may end later
  return *data;
}

void notify_all_at_thread_exit(condition_variable& condition, unique_lock<mutex> lock) {
  auto& data = __thread_local_data();
  if (data.get() == nullptr) data.set_pointer(new __thread_struct);  // std::thread has not made this thread
  data->notify_all_at_thread_exit(&condition, lock.release());
}

// --- futures

namespace {

class FutureCategory : public __do_message {
 public:
  const char* name() const noexcept override { return "future"; }
  string message(int code) const override {
    switch (static_cast<future_errc>(code)) {
      case future_errc::broken_promise:
        return "broken promise";
      case future_errc::future_already_retrieved:
        return "future already retrieved";
      case future_errc::promise_already_satisfied:
        return "promise already satisfied";
      case future_errc::no_state:
        return "no associated state";
    }
    return "unknown error of a future";
  }
};

}  // namespace

const error_category& future_category() noexcept {
  static const FutureCategory category;
  return category;
}

future_error::future_error(error_code code) : logic_error(code.message()), __ec_(code) {}
future_error::~future_error() noexcept = default;

void __assoc_sub_state::__on_zero_shared() noexcept { delete this; }

void __assoc_sub_state::set_value() {
  const lock_guard<mutex> guard(__mut_);
  if (__has_value()) __throw_future_error(future_errc::promise_already_satisfied);
  __state_ |= __constructed | ready;
  __cv_.notify_all();
}
void __assoc_sub_state::set_value_at_thread_exit() {
  const lock_guard<mutex> guard(__mut_);
  if (__has_value()) __throw_future_error(future_errc::promise_already_satisfied);
  __state_ |= __constructed;
  __thread_local_data()->__make_ready_at_thread_exit(this);
}
void __assoc_sub_state::set_exception(exception_ptr error) {
  const lock_guard<mutex> guard(__mut_);
  if (__has_value()) __throw_future_error(future_errc::promise_already_satisfied);
  __exception_ = std::move(error);
  __state_ |= ready;
  __cv_.notify_all();
}
void __assoc_sub_state::set_exception_at_thread_exit(exception_ptr error) {
  const lock_guard<mutex> guard(__mut_);
  if (__has_value()) __throw_future_error(future_errc::promise_already_satisfied);
  __exception_ = std::move(error);
  __thread_local_data()->__make_ready_at_thread_exit(this);
}
void __assoc_sub_state::__make_ready() {
  const lock_guard<mutex> guard(__mut_);
  __state_ |= ready;
  __cv_.notify_all();
}
void __assoc_sub_state::copy() {
  unique_lock<mutex> guard(__mut_);
  __sub_wait(guard);
  if (__exception_ != nullptr) rethrow_exception(__exception_);
}
void __assoc_sub_state::wait() {
  unique_lock<mutex> guard(__mut_);
  __sub_wait(guard);
}
void __assoc_sub_state::__sub_wait(unique_lock<mutex>& guard) {
  if (__is_ready()) return;
  if (__state_ & deferred) {
    __state_ &= ~static_cast<unsigned>(deferred);
    guard.unlock();
    __execute();
    return;
  }
  while (!__is_ready()) __cv_.wait(guard);
}
void __assoc_sub_state::__execute() { __throw_future_error(future_errc::no_state); }

future<void>::future(__assoc_sub_state* state) : __state_(state) { __state_->__attach_future(); }
future<void>::~future() {
  if (__state_) __state_->__release_shared();
}
void future<void>::get() {
  const unique_ptr<__shared_count, __release_shared_count> release(__state_);
  exchange(__state_, nullptr)->copy();
}

promise<void>::promise() : __state_(new __assoc_sub_state) {}
promise<void>::~promise() {
  if (!__state_) return;
  if (!__state_->__has_value() && __state_->use_count() > 1)
    __state_->set_exception(make_exception_ptr(future_error(make_error_code(future_errc::broken_promise))));
  __state_->__release_shared();
}
future<void> promise<void>::get_future() {
  if (!__state_) __throw_future_error(future_errc::no_state);
  return future<void>(__state_);
}
void promise<void>::set_value() {
  if (!__state_) __throw_future_error(future_errc::no_state);
  __state_->set_value();
}
void promise<void>::set_exception(exception_ptr error) {
  if (!__state_) __throw_future_error(future_errc::no_state);
  __state_->set_exception(std::move(error));
}
void promise<void>::set_value_at_thread_exit() {
  if (!__state_) __throw_future_error(future_errc::no_state);
  __state_->set_value_at_thread_exit();
}
void promise<void>::set_exception_at_thread_exit(exception_ptr error) {
  if (!__state_) __throw_future_error(future_errc::no_state);
  __state_->set_exception_at_thread_exit(std::move(error));
}

shared_future<void>::~shared_future() {
  if (__state_) __state_->__release_shared();
}
shared_future<void>& shared_future<void>::operator=(const shared_future& other) {
  if (other.__state_) other.__state_->__add_shared();
  if (__state_) __state_->__release_shared();
  __state_ = other.__state_;
  return *this;
}

_LIBCPP_END_NAMESPACE_STD
