#include "cli/jobs/input_feeder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "os/files/io.h"
#include "wire/messages/worker_frames.h"

namespace gw::cli {
namespace {

constexpr std::chrono::milliseconds kInputPause(300);

}  // namespace

Result<std::unique_ptr<InputFeeder>> InputFeeder::start(std::filesystem::path socket, const job::JobId& id, int descriptor) {
  os::UniqueFd stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stopped) return fail(Kind::internal, "cannot make an eventfd: {}", os::reason(errno));
  std::unique_ptr<InputFeeder> feeder(new InputFeeder(std::move(socket), id, descriptor, std::move(stopped)));
  feeder->thread_ = std::thread([&feeder = *feeder] { feeder.run(); });
  return feeder;
}

InputFeeder::InputFeeder(std::filesystem::path socket, const job::JobId& id, int descriptor, os::UniqueFd stopped)
    : socket_(std::move(socket)), id_(id), descriptor_(descriptor), stopped_(std::move(stopped)), client_(socket_) {}

InputFeeder::~InputFeeder() { stop(Afterwards::over); }

void InputFeeder::on_wanted(std::uint64_t piece) {
  const std::lock_guard lock(mutex_);
  wanted_ = piece;
  changed_.notify_all();
}

void InputFeeder::stop(Afterwards afterwards) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    const std::uint64_t one = 1;
    (void)!::write(stopped_.get(), &one, sizeof one);
    changed_.notify_all();
  }
  client_.interrupt();
  thread_.join();
  // Refused if the input has ended before.
  if (afterwards == Afterwards::goes_on) (void)gateway::Client(socket_).supply_input(id_, next_piece_, "");
}

void InputFeeder::run() {
  while (const auto wanted = next_wanted()) {
    if (*wanted < next_piece_) continue;  // handed over already
    const auto bytes = read_piece();
    if (!bytes || !hand_over(*wanted, *bytes)) return;
    next_piece_ = *wanted + 1;
    if (bytes->empty()) return;
  }
}

std::optional<std::uint64_t> InputFeeder::next_wanted() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return wanted_ || stopping_; });
  return stopping_ ? std::nullopt : std::exchange(wanted_, std::nullopt);
}

std::optional<std::string> InputFeeder::read_piece() {
  for (;;) {
    pollfd entries[] = {{descriptor_, POLLIN, 0}, {stopped_.get(), POLLIN, 0}};
    if (::poll(entries, 2, -1) < 0 && errno != EINTR) return "";
    if (entries[1].revents != 0) return std::nullopt;
    if (entries[0].revents == 0) continue;
    std::string bytes(wire::kMaxInputPiece, '\0');
    const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    // A terminal that went away, or a closed descriptor, has no more input.
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
}

// False: the job takes no more input.
bool InputFeeder::hand_over(std::uint64_t piece, const std::string& bytes) {
  for (;;) {
    const Status stored = client_.supply_input(id_, piece, bytes);
    if (stored) return true;
    const Kind why = stored.error().kind;
    const bool again = why == Kind::disconnected || why == Kind::timeout || why == Kind::overloaded;
    if (!again || !pause()) return false;
  }
}

// Waits before the next attempt; false if there shall be none.
bool InputFeeder::pause() {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, kInputPause, [this] { return stopping_; });
}

}  // namespace gw::cli
