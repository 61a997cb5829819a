#include "worker/task_thread.h"

#include "os/clock.h"
#include "worker/frame_values.h"

namespace gw::worker {

TaskThread::TaskThread(ThreadEnvironment& environment, Lane& lane, job::EffectGate gate, isolate::IsolateConfig config)
    : environment_(environment),
      lane_(lane),
      id_(gate.thread().value()),
      gate_(std::move(gate), environment.outgoing),
      input_(gate_, environment.outgoing),
      host_(fail(Kind::internal, "the thread is not made yet")) {
  const Status posted = lane_.pool_thread().post([this, config = std::move(config)]() mutable { make(std::move(config)); });
  GW_ASSERT(posted.has_value());  // there are far fewer threads than places in the queue
}

void TaskThread::make(isolate::IsolateConfig config) {
  host_ = isolate::TaskHost::make(environment_.engine, lane_.pool_thread(), environment_.module, std::move(config),
                                  {input_, output_, errors_, clock_, gate_, environment_.chunks, *this});
  if (!host_) environment_.outgoing.put(failed_frame(id_, gate_.epoch(), ThreadFate::gone, host_.error()));
}

Status TaskThread::call(const wire::pb::ToWorker::CallTask& request) {
  if (waiting_ >= kMaxWaiting)
    return fail(Kind::overloaded, "{} calls of thread {} wait already: wait for their results", waiting_.load(), id_);
  waiting_++;
  Status posted = lane_.pool_thread().post([this, request] { carry_out(request); });
  if (!posted) waiting_--;
  return posted;
}

void TaskThread::carry_out(const wire::pb::ToWorker::CallTask& request) {
  waiting_--;
  const auto begin = os::thread_cpu_now();
  environment_.guests_running.add(1);
  Result<Bytes> result = host_ ? (*host_)->call(request.function(), as_bytes(request.argument())) : Result<Bytes>(host_.error());
  environment_.guests_running.add(-1);
  environment_.outgoing.put(task_frame(request.call(), result, os::thread_cpu_now() - begin));
}

Status TaskThread::report(ByteView bytes) {
  job::Effect effect;
  effect.set_report(bytes.data(), bytes.size());
  gate_.emit(std::move(effect));
  return ok();
}

}  // namespace gw::worker
