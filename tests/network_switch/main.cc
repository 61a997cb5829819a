// A switch between network namespaces, with delay, jitter and loss for each ordered pair of them: the kernels we test on have no netem.
//
// Reads commands from standard input, one a line, and answers each with `ok` or one sentence; ends at the end of input.
//
//   port NAMESPACE                              plugs in a card eth0 made there; ports are numbered from 1
//   link FROM TO DELAY_MS JITTER_MS LOSS        ports, or * for all; LOSS from 0 to 1

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>

#include "fabric.h"
#include "tap_port.h"

namespace {

using namespace gw;
using namespace gw::network_switch;

constexpr std::size_t kMaxPorts = 1024;
constexpr int kFramesAtOnce = 64;  // of one port, before the others have their turn

class Switch {
 public:
  void run();

 private:
  Status obey(const std::string& line);
  Status add_port(const std::string& space);
  Status set_links(const std::string& from, const std::string& to, const Link& link);
  Result<std::vector<Fabric::Port>> ports_named(const std::string& name) const;
  bool read_commands();
  void read_frames(Fabric::Port from);
  void deliver();
  int patience() const;

  Fabric fabric_{Rng(1)};
  std::vector<TapPort> ports_;
  std::string unread_;  // the beginning of a command
};

Status Switch::obey(const std::string& line) {
  std::istringstream words(line);
  std::string verb, from, to;
  words >> verb >> from;
  if (verb == "port" && words) return add_port(from);
  double delay = 0, jitter = 0, loss = 0;
  words >> to >> delay >> jitter >> loss;
  const bool sound = words && delay >= 0 && delay <= 60'000 && jitter >= 0 && jitter <= 60'000 && loss >= 0 && loss <= 1;
  if (verb != "link" || !sound)
    return fail(Kind::invalid, "'{}' is no command: port NAMESPACE, link FROM TO DELAY_MS JITTER_MS LOSS", line);
  const auto microseconds = [](double ms) { return std::chrono::microseconds(static_cast<std::int64_t>(ms * 1000)); };
  return set_links(from, to, {microseconds(delay), microseconds(jitter), loss});
}

Status Switch::add_port(const std::string& space) {
  if (ports_.size() >= kMaxPorts) return fail(Kind::overloaded, "there are {} ports already", kMaxPorts);
  GW_TRY(TapPort port, TapPort::open(space));
  ports_.push_back(std::move(port));
  fabric_.add_port();
  return ok();
}

Status Switch::set_links(const std::string& from, const std::string& to, const Link& link) {
  GW_TRY(const auto sources, ports_named(from));
  GW_TRY(const auto targets, ports_named(to));
  for (const Fabric::Port source : sources)
    for (const Fabric::Port target : targets) fabric_.set(source, target, link);
  return ok();
}

Result<std::vector<Fabric::Port>> Switch::ports_named(const std::string& name) const {
  std::vector<Fabric::Port> ports;
  for (Fabric::Port port = 0; port < fabric_.ports(); ++port)
    if (name == "*" || name == std::to_string(port + 1)) ports.push_back(port);
  if (ports.empty()) return fail(Kind::not_found, "there is no port {}", name);
  return ports;
}

// False: there will be no more.
bool Switch::read_commands() {
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (size <= 0) return false;
  unread_.append(buffer.data(), static_cast<std::size_t>(size));
  for (std::size_t end; (end = unread_.find('\n')) != std::string::npos; unread_.erase(0, end + 1)) {
    const Status status = obey(unread_.substr(0, end));
    std::cout << (status ? "ok" : status.error().detail) << std::endl;
  }
  return true;
}

void Switch::read_frames(Fabric::Port from) {
  for (int i = 0; i < kFramesAtOnce; ++i) {
    auto frame = ports_[from].read();
    if (!frame) return;
    fabric_.on_frame(std::chrono::steady_clock::now(), from, *std::move(frame));
  }
}

void Switch::deliver() {
  while (auto arrival = fabric_.take(std::chrono::steady_clock::now())) ports_[arrival->to].write(*arrival->frame);
}

// Milliseconds until something arrives, for poll(2).
int Switch::patience() const {
  if (fabric_.next_arrival() == Time::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(fabric_.next_arrival() - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000));
}

void Switch::run() {
  for (;;) {
    std::vector<pollfd> watched{{.fd = STDIN_FILENO, .events = POLLIN}};
    for (const TapPort& port : ports_) watched.push_back({.fd = port.descriptor(), .events = POLLIN});
    if (::poll(watched.data(), watched.size(), patience()) < 0) continue;
    for (Fabric::Port port = 0; port + 1 < watched.size(); ++port)
      if ((watched[port + 1].revents & POLLIN) != 0) read_frames(port);
    deliver();
    if (watched[0].revents != 0 && !read_commands()) return;
  }
}

}  // namespace

int main() { Switch().run(); }
