#include "daemon/daemon.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/log.h"
#include "daemon/own_address.h"
#include "daemon/supervisor.h"
#include "daemon/web_pages.h"
#include "node/disk/record_repair.h"
#include "os/clock.h"
#include "os/files/file.h"

namespace gw::daemon {
namespace {

constexpr std::string_view kArea = "daemon";
constexpr std::chrono::milliseconds kJobCheck{250};

node::NativeCode::Config code_config(const std::filesystem::path& cache, const std::filesystem::path& worker) {
  return {.cache_root = cache, .compiler = {worker.string(), "--compile"}, .filler = {"/proc/self/exe", "fill-code-cache"}};
}

// The share chosen last, or all of this machine for its owner; --slots counts for this start only.
Result<node::Share> chosen_share(const Options& options, const std::filesystem::path& file) {
  auto stored = node::load_share(file);
  if (!stored && stored.error().kind == Kind::corrupt) {
    // The owner's share is not known: lend nothing rather than more than the owner allowed.
    log::error(kArea, "nothing is lent until 'godwit share' says how much", kv("why", stored.error().detail));
    stored = node::Share{.cores = 0};
  }
  if (!stored) return stored.error();
  node::Share share = stored->value_or(node::Share{.cores = static_cast<std::uint32_t>(std::max(1l, ::sysconf(_SC_NPROCESSORS_ONLN)))});
  if (!options.audience.empty()) {
    GW_TRY(share, node::changed(share, {.audience = options.audience}));
    GW_TRY_VOID(node::save_share(file, share));
  }
  if (options.slots) share.cores = *options.slots;
  return share;
}

// The key is made before the records: where they are without it, it was removed. With another key nobody would believe this peer that
// the jobs in the records are its own.
Status check_key(const node::StateFolder& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder.key_file(), error) || !std::filesystem::exists(folder.records_file(), error)) return ok();
  return fail(Kind::corrupt,
              "{} is missing, and the jobs in this folder cannot go on without it: put the file back, or remove the folder {} with all its "
              "jobs to begin anew",
              folder.key_file().string(), folder.path().string());
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::make(const Options& options) {
  GW_TRY(node::StateFolder folder, node::StateFolder::open(options.state));
  GW_TRY_VOID(check_key(folder));
  GW_TRY(transport::Identity identity, transport::Identity::load_or_make(folder.key_file()));
  GW_TRY(const std::filesystem::path cache, os::cache_dir());
  GW_TRY(node::NativeCode code, node::NativeCode::open(code_config(cache, options.worker)));
  std::unique_ptr<Daemon> daemon(new Daemon(options, std::move(folder), std::move(identity), std::move(code)));
  if (const Status opened = daemon->open(); !opened) {
    daemon->abandon();
    return opened.error();
  }
  return daemon;
}

Daemon::Daemon(const Options& options, node::StateFolder folder, transport::Identity identity, node::NativeCode code)
    : options_(options), folder_(std::move(folder)), identity_(std::move(identity)), code_(std::move(code)) {}

Status Daemon::open() {
  node::SpareRoom spare(folder_.spare_file());
  GW_TRY(node::RecordStore records, open_records());
  auto boot = records.raise_boot();
  // A full disk is no reason not to start: jobs are forgotten through the daemon, which makes room.
  if (!boot && boot.error().kind == Kind::overloaded && spare.release()) boot = records.raise_boot();
  if (!boot) return boot.error();
  GW_TRY(node::BlobStore blobs, node::BlobStore::open(folder_.blobs_folder()));
  GW_TRY(node::SegmentStore segments, node::SegmentStore::open(folder_.jobs_folder()));
  GW_TRY(node::Driver::Config config, driver_config(*boot));
  GW_TRY_VOID(open_tracker(config));
  driver_ = std::make_unique<node::Driver>(
      node::Driver::Parts{io_, identity_, code_, {std::move(records), std::move(blobs), std::move(segments), std::move(spare)}},
      std::move(config));
  GW_TRY_VOID(driver_->start());
  GW_TRY_VOID(open_web());
  GW_TRY(gateway_, gateway::Gateway::open(io_, driver_->control(), driver_->tickets(),
                                          {.socket = options_.socket, .web = web_ ? &web_->access() : nullptr}));
  wait_for_signal();
  if (options_.life == Options::Life::starter) wait_for_starter();
  tell_ready();
  return ok();
}

// A damaged store costs the jobs that ran, not the daemon.
Result<node::RecordStore> Daemon::open_records() const {
  auto records = node::RecordStore::open(folder_.records_file());
  if (records || records.error().kind != Kind::corrupt) return records;
  log::error(kArea, "the records are damaged", kv("why", records.error().detail));
  GW_TRY(const std::string saved, node::repair_records(folder_.records_file(), folder_.jobs_folder(), os::wall_now()));
  log::error(kArea, "a new store of records was made", kv("saved", saved));
  return node::RecordStore::open(folder_.records_file());
}

// The daemon announces itself to its own tracker like any other peer.
Status Daemon::open_tracker(node::Driver::Config& config) {
  if (options_.tracker.empty()) return ok();
  GW_TRY(const node::Endpoint where, node::parse_endpoint(options_.tracker));
  GW_TRY(tracker_, tracker::Tracker::open(io_, {.listen = where, .file = folder_.path() / "tracker"}));
  node::Endpoint door = tracker_->listening();
  if (door.address().is_unspecified())
    door.address(door.address().is_v6() ? asio::ip::address(asio::ip::address_v6::loopback()) : asio::ip::address_v4::loopback());
  config.trackers.push_back(node::text_of(door));
  return ok();
}

Status Daemon::open_web() {
  if (!options_.web) return ok();
  GW_TRY(web_, gateway::WebGateway::open(io_, driver_->control(), driver_->tickets(),
                                         {.listen = *options_.web, .tokens = folder_.path() / "web_tokens", .pages = web_pages()}));
  return ok();
}

void Daemon::tell_ready() {
  const node::NodeView node = driver_->control().node();
  log::info(kArea, "ready", kv("peer", node.id.hash.hex()), kv("name", node.name), kv("boot", node.boot),
            kv("socket", options_.socket.string()));
  if (!node.addresses.empty()) log::info(kArea, "others join with", kv("command", "godwit up --join " + node.addresses.front()));
  const auto& addresses = node.addresses;
  report_ready(fmt::format("peer {} ({}) at {}", node.name, node.id.brief(), addresses.empty() ? "no address" : addresses.front()),
               os::UniqueFd(options_.ready_fd));
}

Result<node::Driver::Config> Daemon::driver_config(std::uint64_t boot) {
  GW_TRY(const node::Share share, chosen_share(options_, folder_.share_file()));
  node::Driver::Config config{.join = options_.join,
                              .grids = options_.grids,
                              .invitations = options_.invitations,
                              .trackers = options_.trackers,
                              .owner = options_.owner,
                              .name = options_.name,
                              .share = share,
                              .share_file = folder_.share_file(),
                              .version = GODWIT_VERSION,
                              .state = folder_.path().string(),
                              .boot = boot};
  if (options_.first_grid == Options::FirstGrid::none) config.first_grid.clear();
  config.worker.program = options_.worker;
  config.worker.nice = share.nice;
  config.peer.past.age = options_.keep_for;
  config.peer.past.bytes = options_.keep_bytes;
  config.fetch.private_addresses = options_.fetch_private;
  if (share.cores == 0) config.spare_workers = 0;  // no thread of another peer will run here
  config.on_stop = [this] { begin_stop(); };
  GW_TRY_VOID(choose_addresses(config));
  for (const std::string& text : options_.join) GW_TRY_VOID(node::parse_host_port(text));
  return config;
}

Status Daemon::choose_addresses(node::Driver::Config& config) const {
  std::vector<std::string> listen = options_.listen;
  if (listen.empty()) {
    listen.push_back(fmt::format("{}:{}", has_ipv6() ? "[::]" : "0.0.0.0", kDefaultPort));
    config.ports = kPortsTried;
  }
  for (const std::string& text : listen) {
    GW_TRY(const node::Endpoint where, node::parse_endpoint(text));
    if (where.address().is_unspecified()) config.advertise = own_address();
    config.listen.push_back(where);
    if (!where.address().is_loopback() && options_.discovery == Options::Discovery::on)
      config.discovery = node::Driver::Config::Discovery::on;
  }
  return ok();
}

Status Daemon::run() {
  io_.run();
  if (driver_->failure()) return *driver_->failure();
  return ok();
}

// --- the end

void Daemon::wait_for_signal() {
  signals_.add(SIGTERM);
  signals_.add(SIGINT);
  signals_.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) begin_stop();
  });
}

// The starter holds the other end of standard input.
void Daemon::wait_for_starter() {
  const int input = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  boost::system::error_code error;
  if (input >= 0) starter_.assign(input, error);
  if (input < 0 || error) return look_for_jobs();  // standard input is closed or a plain file
  starter_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& failure) {
    if (!failure) look_for_jobs();
  });
}

void Daemon::look_for_jobs() {
  if (stopping_) return;
  const auto jobs = driver_->control().jobs();
  if (std::ranges::none_of(jobs, [](const node::JobSummary& job) { return job.state == node::JobState::running; })) return begin_stop();
  patience_.expires_after(kJobCheck);
  patience_.async_wait([this](const boost::system::error_code& error) {
    if (!error) look_for_jobs();
  });
}

// Parts that were opened before the failure have coroutines that must end first.
void Daemon::abandon() {
  if (!driver_ && !tracker_) return;
  begin_stop();
  io_.run();
}

void Daemon::begin_stop() {
  if (std::exchange(stopping_, true)) return;
  log::info(kArea, "stopping");
  report_stopping();
  signals_.clear();  // a second signal does what signals do
  signals_.cancel();
  starter_.close();
  patience_.cancel();
  tasks_.spawn("stop", stop());
}

asio::awaitable<void> Daemon::stop() {
  if (tracker_) co_await tracker_->stop();
  if (gateway_) co_await gateway_->stop();
  if (web_) co_await web_->stop();
  if (driver_) co_await driver_->shut_down();
}

}  // namespace gw::daemon
