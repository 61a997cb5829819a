#pragma once
// The one error mechanism: functions that may fail return Result<T>, and nothing of ours throws.

#include <fmt/core.h>

#include <concepts>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace gw {

// The kind of an error tells the caller what to do next. Callers switch on the kind; the detail is for users.
enum class Kind {
  invalid,       // the sender or user gave something wrong: tell them
  not_found,     // does not exist
  overloaded,    // a limit is reached: back off
  disconnected,  // the other side is gone: try elsewhere
  timeout,       // the other side is silent: try elsewhere
  corrupt,       // the bytes are damaged: discard this copy, fetch another
  guest_fault,   // the guest program's own fault: do not retry
  unsupported,   // well-formed, but not something we do
  internal,      // our fault or the system's
};

std::string_view name(Kind kind);

// `detail` is one sentence: what failed, why, and what to do about it.
struct Error {
  Kind kind;
  std::string detail;
};

// Builds an Error with an fmt format string: return fail(Kind::invalid, "'{}' is not a number", text);
template <class... Args>
[[nodiscard]] Error fail(Kind kind, fmt::format_string<Args...> format, Args&&... args) {
  return Error{kind, fmt::format(format, std::forward<Args>(args)...)};
}

// A value or an Error. Reading the one that is not there is a bug and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  template <class U = T>
    requires(std::convertible_to<U &&, T> && !std::same_as<std::remove_cvref_t<U>, Error> && !std::same_as<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : state_(std::forward<U>(value)) {}
  Result(Error error) : state_(tl::unexpect, std::move(error)) {}

  bool has_value() const { return state_.has_value(); }
  explicit operator bool() const { return has_value(); }

  T& value() & { return checked(), *state_; }
  const T& value() const& { return checked(), *state_; }
  T&& value() && { return checked(), *std::move(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return failed(), state_.error(); }
  Error&& error() && { return failed(), std::move(state_).error(); }

 private:
  void checked() const { GW_ASSERT(state_.has_value()); }
  void failed() const { GW_ASSERT(!state_.has_value()); }

  tl::expected<T, Error> state_;
};

// Success without a value, or an Error. Success is written ok().
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : state_(tl::unexpect, std::move(error)) {}

  bool has_value() const { return state_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { GW_ASSERT(has_value()); }

  const Error& error() const& { return failed(), state_.error(); }
  Error&& error() && { return failed(), std::move(state_).error(); }

 private:
  void failed() const { GW_ASSERT(!state_.has_value()); }

  tl::expected<void, Error> state_;
};

using Status = Result<void>;
inline Status ok() { return Status{}; }

}  // namespace gw

#define GW_CONCAT_INNER(a, b) a##b
#define GW_CONCAT(a, b) GW_CONCAT_INNER(a, b)
#define GW_TRY_INNER(result, declaration, ...)     \
  auto result = (__VA_ARGS__);                     \
  if (!result) return ::std::move(result).error(); \
  declaration = *::std::move(result)

// GW_TRY(auto bytes, read_file(path, limit)); returns the error from the enclosing function, or goes on with the value.
#define GW_TRY(declaration, ...) GW_TRY_INNER(GW_CONCAT(gw_try_, __COUNTER__), declaration, __VA_ARGS__)

// The same for a Status, or where the value is not wanted.
#define GW_TRY_VOID(...)                                           \
  do {                                                             \
    auto gw_try_status = (__VA_ARGS__);                            \
    if (!gw_try_status) return ::std::move(gw_try_status).error(); \
  } while (false)
