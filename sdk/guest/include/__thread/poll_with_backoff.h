#ifndef GODWIT_POLL_WITH_BACKOFF_H
#define GODWIT_POLL_WITH_BACKOFF_H
// In place of libc++'s, which looks at the clock to decide how long a thread spins before it sleeps. Here a thread waits at once, so that
// the order in which threads run does not depend on the clock, and a deadlock is found.

#include <__chrono/duration.h>
#include <__chrono/steady_clock.h>
#include <__type_traits/is_same.h>
#include <__type_traits/remove_cvref.h>
#include <__config>

#if !defined(_LIBCPP_HAS_NO_PRAGMA_SYSTEM_HEADER)
#pragma GCC system_header
#endif

// Until an atomic variable is notified, or so many nanoseconds have gone by; negative: no limit.
extern "C" void godwit_wait_for_notification(long long nanoseconds) _NOEXCEPT;

_LIBCPP_BEGIN_NAMESPACE_STD

struct __libcpp_timed_backoff_policy;

// Calls `poll` until it is true. `backoff` is either the policy above, of a caller that does not know what it waits for, or knows how to
// wait once enough time has gone by, and says whether to give up.
template <class _Poll, class _Backoff>
_LIBCPP_HIDE_FROM_ABI bool __libcpp_thread_poll_with_backoff(_Poll&& __poll, _Backoff&& __backoff,
                                                             chrono::nanoseconds __limit = chrono::nanoseconds::zero()) {
  if (__poll()) return true;
  const bool __limited = __limit != chrono::nanoseconds::zero();
  const chrono::steady_clock::time_point __end = __limited ? chrono::steady_clock::now() + __limit : chrono::steady_clock::time_point();
  for (;;) {
    chrono::nanoseconds __left(-1);
    if (__limited) {
      __left = __end - chrono::steady_clock::now();
      if (__left <= chrono::nanoseconds::zero()) return false;
    }
    if (is_same<__remove_cvref_t<_Backoff>, __libcpp_timed_backoff_policy>::value) {
      godwit_wait_for_notification(__left.count());
    } else if (__backoff(chrono::hours(1))) {
      return false;
    }
    if (__poll()) return true;
  }
}

struct __spinning_backoff_policy {
  _LIBCPP_HIDE_FROM_ABI _LIBCPP_CONSTEXPR bool operator()(const chrono::nanoseconds&) const { return false; }
};

_LIBCPP_END_NAMESPACE_STD

#endif
