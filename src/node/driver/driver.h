#pragma once
// Drives a peer: gives it inputs and carries out its actions.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/discovery/dialer.h"
#include "node/discovery/discovery.h"
#include "node/discovery/name_resolver.h"
#include "node/disk/disk.h"
#include "node/disk/serial_thread.h"
#include "node/driver/asio_loop.h"
#include "node/driver/bulk_pacer.h"
#include "node/driver/capacity_watch.h"
#include "node/driver/node_control.h"
#include "node/driver/owner_watch.h"
#include "node/driver/pending_requests.h"
#include "node/driver/ticket_questions.h"
#include "node/fetch/url_fetcher.h"
#include "node/jobs/job_views.h"
#include "node/jobs/output_reader.h"
#include "node/signer.h"
#include "node/worker/native_code.h"
#include "node/worker/worker_table.h"
#include "peer/peer.h"
#include "transport/transport.h"
#include "wire/grid_name.h"
#include "wire/invitation.h"

namespace gw::node {

namespace asio = boost::asio;

// Connects a peer to the operating system (docs/design/004-node.md). Owns the peer, its connections, its disk and its workers, and makes no
// decisions about jobs. A turn is one input for the peer (message, worker frame, disk answer, request, deadline), then its actions in
// order. No result of an action becomes an input before the turn is over.
//
// The turns of one wake-up of the loop share their follow-up work: one batch of records for the disk, one notification of watchers, one
// setting of the timer.
//
// Belongs to the node thread, which runs the io_context and must live as long as the workers. Life cycle: made, start(), run, shut_down(),
// destroyed. Limits: those of its parts.
class Driver final : transport::Receiver, Dialer::Owner, Disk::Owner, WorkerTable::Owner {
 public:
  struct Config {
    std::vector<Endpoint> listen;    // port 0: any
    std::uint16_t ports = 1;         // how many ports to try, if the first are in use
    std::string advertise;           // the address announced to others; empty: where it listens
    std::vector<std::string> join;   // host:port
    std::vector<std::string> grids;  // open ones, by name, none twice; jobs that name none run in the first
    std::vector<wire::Invitation> invitations = {};
    std::vector<std::string> trackers = {};  // host:port
    enum class Discovery : std::uint8_t { off, on };
    Discovery discovery = Discovery::off;         // in the local network
    std::optional<job::ConsumerName> owner = {};  // the key that signs the jobs of the user of this machine
    std::string name = {};                        // of this machine, for people
    std::string first_grid{wire::kDefaultGrid};   // joined if the peer was in no grid before; empty: none
    Share share;
    std::filesystem::path share_file;  // where changes of the share are stored; empty: nowhere
    UrlFetcher::Config fetch;
    WorkerProcess::Config worker;
    std::size_t spare_workers = 1;
    std::string version;
    std::string state;  // path of the state folder, for display
    std::uint64_t boot = 0;
    std::function<void()> on_stop;  // a user asked for a stop, or the disk failed
    peer::Peer::Config peer;        // grids and slots are filled in here
  };
  // The parts of the driver. References outlive it.
  struct Parts {
    asio::io_context& io;
    const transport::Identity& identity;
    const NativeCode& code;
    Disk::Stores stores;
  };

  Driver(Parts parts, Config config);
  ~Driver();

  // Listens, and gives the peer the state that earlier boots have left. Kind::invalid: cannot listen there; Kind::corrupt: the disk is
  // damaged. shut_down() is needed before destruction also after a failure.
  Status start();

  // Lets threads leave for some seconds, ends the workers, closes the connections; begins nothing new. All records of the peer are durable
  // when the destructor has returned.
  asio::awaitable<void> shut_down();

  // The reason, if the driver itself asked for a stop.
  const std::optional<Error>& failure() const { return failure_; }

  // REQUIRES: start() was successful.
  NodeControl& control() { return *control_; }
  JobTickets& tickets() { return *tickets_; }

 private:
  static constexpr std::string_view kArea = "node";  // of its log
  static constexpr std::chrono::seconds kDrainTime{5};

  using Actions = std::vector<job::Action>;

  static std::uint64_t random_seed();
  Status listen();
  Result<Endpoint> listen_at(Endpoint where);
  Status start_peer(const peer::Stored& stored);

  asio::awaitable<void> drain();
  void make_control();
  void refill_workers();
  void start_discovery();
  void limit_bandwidth(std::uint64_t bytes_per_s);
  bool is_for_others(const job::PeerMessage& message) const;
  void send(job::Send send);
  void send_paced();

  // Turns.
  void turn(const std::function<void(job::Time, Actions&)>& input);
  void carry_out(Actions actions);
  void finish_wakeup_later();
  void finish_wakeup();
  void flush_records();
  void arm();
  void on_deadline();

  // Inputs.
  void ask(peer::Request request);
  void on_connected(const transport::PeerId& peer, const transport::ConnectionOrigin& met) override;
  void on_message(const transport::PeerId& from, transport::Lane lane, Bytes message) override;
  void on_request(const transport::RequestId& request, Bytes message) override;
  void on_disconnected(const transport::PeerId& peer, const transport::Ended& ended) override;
  void on_reached(const transport::PeerId& peer, const std::string& address) override;
  void on_unreachable(const transport::PeerId& peer, Dialer::Failure failure) override;
  void on_disk(peer::DiskDone done) override;
  void on_disk_failed(const Error& error) override;
  void on_worker(job::WorkerId worker, peer::WorkerFrame frame) override;
  void on_restore_failed(job::WorkerId worker, const peer::RestoreFailed& failed) override;
  void on_worker_progress(job::WorkerId worker) override;
  void on_worker_lost(job::WorkerId worker, const Death& death) override;
  void on_worker_wakeup() override { finish_wakeup_later(); }

  // Actions.
  void act(job::Send& send);
  void act(job::Connect& connect) { dialer_->dial(connect.address); }
  void act(job::DialBack& dial);
  void act(job::Publish& publish);
  void act(job::Disconnect& disconnect);
  void act(job::StartWorker& start);
  void act(job::PauseWorker& pause) { workers_.pause(pause); }
  void act(job::KillWorker& kill);
  void act(job::FrameToWorker& frame) { workers_.send(std::move(frame)); }
  void act(job::Persist& persist);
  void act(job::DropRecords& drop);
  void act(job::DropOutput& drop);
  void act(job::StoreBlob& store);
  void act(job::LoadBlob& load);
  void act(job::DropBlob& drop);
  void act(job::RetainBlobs& retain) { disk_.retain(retain.hashes); }
  void act(job::Notify& notify);

  asio::io_context& io_;
  const transport::Identity& identity_;
  const PeerSigner signer_;
  const Config config_;
  NameResolver names_;
  std::vector<std::string> addresses_;  // where others reach it
  std::uint16_t listen_port_ = 0;       // of the first of them
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<peer::Peer> peer_;
  std::unique_ptr<JobViews> job_views_;
  MachineNames machine_names_;
  std::unique_ptr<Discovery> discovery_;
  AsioLoop loop_;
  WorkerTable workers_;
  PendingRequests requests_;
  OwnerWatch owner_;
  BulkPacer pacer_;
  CapacityWatch capacity_;
  std::unique_ptr<NodeControl> control_;
  std::unique_ptr<TicketQuestions> tickets_;
  asio::steady_timer deadline_;
  job::Time armed_ = job::kNever;
  std::optional<job::Persist> unwritten_;  // records of the turns of this wake-up
  bool started_ = false;
  bool in_turn_ = false;
  bool wakeup_ends_ = false;  // finish_wakeup() is on its way
  bool stopping_ = false;
  std::optional<Error> failure_;
  std::shared_ptr<bool> alive_;  // shared with the timer
  Disk disk_;                    // its threads end with all that was to be written
  OutputReader output_;          // of the thread below, like the next one
  TaskReader tasks_;
  SerialThread output_thread_;  // last: it answers through the disk
};

}  // namespace gw::node
