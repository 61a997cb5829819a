#pragma once
// The virtual thread that an isolate is, seen from inside.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace gw::isolate {

inline constexpr std::size_t kMaxReportBytes = 1u << 20;
inline constexpr std::size_t kMaxTaskBytes = 1u << 20;  // argument, and result

// A function of the module that shall be called, and its argument, which lives as long as the call (task_host.h).
struct Task {
  std::uint32_t function;  // in the module's table
  ByteView argument;
};

// The queue that a call of the guest needs room in: a stream of effects, or the log of determinants.
enum class Outlet : std::uint8_t { output, log, determinants, mail };

inline constexpr std::size_t kMaxMessageBytes = 1u << 20;

// An item of the mailbox of a thread. A notice says that the thread `from` is over: for whose end this one watches.
struct MailItem {
  std::uint64_t from = 0;
  std::uint64_t tag = 0;
  std::string bytes;  // of a notice, the sentence about an end that was no exit
  bool is_notice = false;
  std::uint32_t exit_code = 0;  // of a notice
};

// Called on the isolate's pool thread.
class ThreadHost {
 public:
  virtual ~ThreadHost() = default;
  virtual std::uint64_t id() const = 0;
  // Whether a call of the guest may go on that puts something into `outlet`: as much as one call can. Without room the guest parks before
  // the call has done anything, and its owner resumes it.
  virtual bool has_room(Outlet) const { return true; }
  // Waits until there may be room, at most `timeout`. Only for guests that cannot park (level off).
  virtual void wait_for_room(Outlet, std::chrono::milliseconds) {}
  // Whether the thread belongs to a job with others, so that the next five have a meaning.
  virtual bool has_mail() const { return false; }
  // A message of at most kMaxMessageBytes.
  virtual void send(std::uint64_t, std::uint64_t, ByteView) {}
  // A notice is to come when that thread is over.
  virtual void watch(std::uint64_t) {}
  // The next item of the mailbox, which stays there; null: it is not here yet, and is on its way.
  virtual const MailItem* mail() { return nullptr; }
  virtual void take_mail() {}
  // The guest does not wait for mail() any more, as it did.
  virtual void stop_waiting_for_mail() {}
  // Waits until there may be an item. Only for guests that cannot park (level off).
  virtual void wait_for_mail(std::chrono::milliseconds) {}
  // A partial result, at most kMaxReportBytes. The guest sees a failure as EIO.
  virtual Status report(ByteView bytes) = 0;
  // The current task of a thread that carries out tasks; else null.
  virtual const Task* task() const { return nullptr; }
  // REQUIRES: task() is one.
  virtual Status task_result(ByteView) { return ok(); }
};

// A thread without a job, as in tests and measurements: its id is 1, and its partial results are dropped.
class LoneThread final : public ThreadHost {
 public:
  std::uint64_t id() const override { return 1; }
  Status report(ByteView) override { return ok(); }
  // Without state, so one is enough.
  static LoneThread& instance();
};

inline LoneThread& LoneThread::instance() {
  static LoneThread only;
  return only;
}

}  // namespace gw::isolate
