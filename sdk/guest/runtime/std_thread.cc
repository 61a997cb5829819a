// std::thread itself: apart from the rest of the library, so that a program that has mutexes but no threads links no scheduler.

#include <pthread.h>

#include <thread>

_LIBCPP_BEGIN_NAMESPACE_STD

thread::~thread() {
  if (joinable()) terminate();
}
void thread::join() {
  if (const int error = joinable() ? pthread_join(__t_, nullptr) : EINVAL) __throw_system_error(error, "thread::join failed");
  __t_ = _LIBCPP_NULL_THREAD;
}
void thread::detach() {
  if (const int error = joinable() ? pthread_detach(__t_) : EINVAL) __throw_system_error(error, "thread::detach failed");
  __t_ = _LIBCPP_NULL_THREAD;
}
unsigned thread::hardware_concurrency() noexcept { return 1; }

_LIBCPP_END_NAMESPACE_STD
