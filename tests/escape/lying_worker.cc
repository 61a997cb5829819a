// Stands in for a worker that was taken over: says to its parent what the name it was started under asks for.

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "os/sealed_memory.h"
#include "os/sockets/message_socket.h"
#include "wire/messages/streams.h"
#include "wire/messages/worker_frames.h"

namespace {

using gw::Bytes;
using gw::os::MessageSocket;
using gw::wire::pb::FromWorker;

constexpr int kSocket = 3;

void send(const FromWorker& frame, gw::os::UniqueFd descriptor = {}) {
  static MessageSocket socket{gw::os::UniqueFd(kSocket)};
  gw::os::Message message;
  const std::string bytes = frame.SerializeAsString();
  message.payload.assign(bytes.begin(), bytes.end());
  if (descriptor) message.descriptors.push_back(std::move(descriptor));
  if (!socket.queue(std::move(message)) || !socket.on_writable()) ::_exit(1);
}

void send_raw(const gw::Bytes& bytes) {
  if (::send(kSocket, bytes.data(), bytes.size(), 0) < 0) ::_exit(1);
}

void say_hello(std::uint32_t version = gw::wire::kWorkerProtocol) {
  FromWorker frame;
  frame.mutable_hello()->set_version(version);
  send(frame);
}

void send_file(const std::string& path) {
  FromWorker frame;
  auto& effect = *frame.mutable_effects()->add_effects();
  effect.set_thread(1);
  effect.set_epoch(1);
  effect.set_sequence(1);
  effect.mutable_file()->set_path(path);
  gw::wire::set_stream(effect);
  send(frame);
}

void send_image(gw::os::UniqueFd memory) {
  FromWorker frame;
  frame.mutable_image()->set_thread(1);
  frame.mutable_image()->set_id(std::string(32, 'i'));
  send(frame, std::move(memory));
}

const std::map<std::string, void (*)()> kLies = {
    {"honest", [] { say_hello(), send_file("out"), send_image(gw::os::SealedMemory::make("x", {})->share().value()); }},
    {"silent", [] {}},
    {"oversized", [] { say_hello(), send_raw({0xff, 0xff, 0xff, 0}); }},
    {"garbage", [] { say_hello(), send_raw({3, 0, 0, 0, 0xff, 0xff, 0xff}); }},
    {"cut_off", [] { say_hello(), send_raw({100, 0, 0, 0, 1}), ::_exit(0); }},
    {"unknown_kind", [] { say_hello(), send({}); }},
    {"no_hello", [] { send_file("out"); }},
    {"hello_twice", [] { say_hello(), say_hello(); }},
    {"other_version", [] { say_hello(999); }},
    {"path_out", [] { say_hello(), send_file("../../etc/passwd"); }},
    {"unsealed", [] { say_hello(), send_image(gw::os::UniqueFd(::memfd_create("x", MFD_ALLOW_SEALING))); }},
    {"flood",
     [] {
       const std::string line(4096, 'x');
       for (int i = 0; i < 4096; i++) (void)!::write(2, line.data(), line.size());
       say_hello();
     }},
};

}  // namespace

int main(int, char** argv) {
  const auto lie = kLies.find(std::filesystem::path(argv[0]).filename().string());
  if (lie == kLies.end()) return 2;
  lie->second();
  for (;;) ::pause();
}
