#include "isolate/engine/pool_thread.h"

#include <cstring>

#include "isolate/engine/wasm_engine.h"

namespace gw::isolate {
namespace {

// Left to host functions and the engine itself when a guest has used up its part.
constexpr std::size_t kHostStackBytes = 1u << 20;
constexpr std::size_t kMoreThanAnyStack = std::size_t{1} << 40;

struct ThreadAttributes {
  ThreadAttributes() { GW_ASSERT(pthread_attr_init(&attributes) == 0); }
  ~ThreadAttributes() { pthread_attr_destroy(&attributes); }
  pthread_attr_t attributes;
};

}  // namespace

Result<std::unique_ptr<PoolThread>> PoolThread::make(Config config) {
  if (config.stack_bytes < 2 * kHostStackBytes)
    return fail(Kind::invalid, "a pool thread needs a stack of at least {} bytes", 2 * kHostStackBytes);
  GW_TRY_VOID(start_wasm_engine());
  auto thread = std::unique_ptr<PoolThread>(new PoolThread(std::move(config)));
  ThreadAttributes attributes;
  if (pthread_attr_setstacksize(&attributes.attributes, thread->config_.stack_bytes) != 0)
    return fail(Kind::invalid, "a stack of {} bytes is not possible", thread->config_.stack_bytes);
  std::latch started(1);
  thread->started_ = &started;
  if (int error = pthread_create(&thread->thread_, &attributes.attributes, entry, thread.get()); error != 0)
    return fail(Kind::internal, "a thread cannot be started: {}", std::strerror(error));
  thread->joinable_ = true;
  started.wait();
  if (const auto& error = thread->start_error_) return *error;
  GW_ASSERT(pthread_getcpuclockid(thread->thread_, &thread->cpu_clock_) == 0);
  return thread;
}

PoolThread::PoolThread(Config config) : config_(std::move(config)) {}

PoolThread::~PoolThread() {
  if (!joinable_) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  pthread_join(thread_, nullptr);
}

Status PoolThread::post(Task task) {
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() >= config_.queue_max)
      return fail(Kind::overloaded, "pool thread '{}' has {} tasks waiting already", config_.name, queue_.size());
    queue_.push_back(std::move(task));
  }
  changed_.notify_all();
  return ok();
}

void PoolThread::enqueue_when_room(Task task) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.size() < config_.queue_max; });
    queue_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void* PoolThread::entry(void* self) {
  static_cast<PoolThread*>(self)->run();
  return nullptr;
}

void PoolThread::run() {
  pthread_setname_np(pthread_self(), config_.name.substr(0, 15).c_str());
  auto heap = WasmHeap::make(config_.stack_limit == StackLimit::held ? config_.stack_bytes - kHostStackBytes : kMoreThanAnyStack);
  if (heap) {
    heap_ = *std::move(heap);
  } else {
    start_error_ = heap.error();
  }
  started_->count_down();
  if (!heap_) return;
  run_tasks();
  heap_.reset();
}

void PoolThread::run_tasks() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    changed_.notify_all();  // there is room
    task();
    task = nullptr;  // what it holds goes before the next begins
    lock.lock();
  }
}

}  // namespace gw::isolate
