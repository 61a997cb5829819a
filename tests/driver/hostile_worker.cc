// A worker as a guest that had broken out of everything inside it could be: keeps to the format, and speaks for a thread that it was never
// given.

#include <poll.h>

#include <cstdio>

#include "os/sockets/message_socket.h"
#include "wire/messages/streams.h"
#include "wire/messages/worker_frames.h"

namespace {

using namespace gw;

constexpr int kSocket = 3;  // as in worker/main.cc

void say(os::MessageSocket& socket, const wire::pb::FromWorker& frame) {
  auto bytes = wire::encode(frame);
  if (!bytes || !socket.queue({*std::move(bytes), {}})) return;
  while (socket.wants_write() && socket.on_writable()) {
  }
}

void answer(os::MessageSocket& socket, const wire::pb::ToWorker& frame) {
  wire::pb::FromWorker said;
  if (frame.has_load()) said.mutable_loaded();
  if (frame.has_start()) {
    wire::pb::Effect& effect = *said.mutable_effects()->add_effects();
    effect.set_thread(frame.start().thread() + 1);
    effect.set_epoch(1);
    effect.set_sequence(1);
    effect.mutable_output()->set_descriptor(1);
    effect.mutable_output()->set_bytes("forged");
    wire::set_stream(effect);
  }
  if (said.kind_case() != wire::pb::FromWorker::KIND_NOT_SET) say(socket, said);
}

}  // namespace

int main(int argc, char**) {
  // Called with --measure: a machine whose worker does not say its speed lends nothing.
  if (argc > 1) return std::puts("1000") < 0 ? 1 : 0;
  os::MessageSocket socket{os::UniqueFd(kSocket)};
  wire::pb::FromWorker hello;
  hello.mutable_hello()->set_version(wire::kWorkerProtocol);
  say(socket, hello);
  for (;;) {
    pollfd wait{kSocket, POLLIN, 0};
    if (::poll(&wait, 1, -1) < 0) return 1;
    auto received = socket.on_readable();
    if (!received || received->closed) return 0;
    for (const os::Message& message : received->messages)
      if (auto frame = wire::decode_to_worker(message.payload, message.descriptors.size())) answer(socket, *frame);
  }
}
