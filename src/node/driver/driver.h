#pragma once
// Drives a peer: feeds it what happens, carries out what it wants.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/control.h"
#include "node/discovery/dialer.h"
#include "node/discovery/lan_discovery.h"
#include "node/discovery/name_resolver.h"
#include "node/discovery/tracker_rounds.h"
#include "node/disk/disk.h"
#include "node/disk/serial_thread.h"
#include "node/jobs/job_views.h"
#include "node/jobs/output_reader.h"
#include "node/signer.h"
#include "node/worker/hosted_worker.h"
#include "node/worker/native_code.h"
#include "node/worker/worker_pool.h"
#include "peer/peer.h"
#include "transport/transport.h"
#include "wire/grid_name.h"
#include "wire/invitation.h"

namespace gw::node {

namespace asio = boost::asio;

// A peer in the world (docs/design/004-node.md). Owns the peer, its connections, its disk and its workers, and decides nothing about jobs.
// One turn: one input for the peer (message, worker frame, disk answer, request, deadline), then its actions in their order. Nothing an
// action does comes back before the turn is over.
//
// Belongs to the node thread, which runs the io_context and must live as long as the workers. Made, start()ed, run, then shut_down() before
// it goes.
// Limits: those of the peer and of the transport; kMaxPending requests of people at once.
class Driver final : public Control, transport::Receiver, Dialer::Owner, Disk::Owner, TrackerRounds::Owner, LanDiscovery::Owner {
 public:
  static constexpr std::size_t kMaxPending = 1024;

  struct Config {
    std::vector<Endpoint> listen;    // port 0: any
    std::uint16_t ports = 1;         // tried from that one on, if somebody else has it
    std::string advertise;           // where others reach it; empty: where it listens
    std::vector<std::string> join;   // host:port
    std::vector<std::string> grids;  // open ones, by name, none twice; jobs that name none run in the first
    std::vector<wire::Invitation> invitations = {};
    std::vector<std::string> trackers = {};  // host:port
    enum class Discovery : std::uint8_t { off, on };
    Discovery discovery = Discovery::off;  // in the local network
    Share share;
    std::filesystem::path share_file;  // where changes of it are stored; empty: nowhere
    WorkerProcess::Config worker;
    std::size_t spare_workers = 1;
    std::string version;
    std::string state;  // its folder, for people
    std::uint64_t boot = 0;
    std::function<void()> on_stop;  // somebody asked for the end, or the disk is at its own
    peer::Peer::Config peer;        // grids and slots are filled in here
  };
  // What it is made of. References outlive it.
  struct Parts {
    asio::io_context& io;
    const transport::Identity& identity;
    const NativeCode& code;
    Disk::Stores stores;
  };

  Driver(Parts parts, Config config);
  ~Driver() override;

  // Listens, and tells the peer what its lives before have left. Kind::invalid: cannot listen there; Kind::corrupt: the disk is damaged.
  // After a failure, too, it must be shut down before it goes.
  Status start();

  // Ends the workers, says goodbye to the peers; nothing new begins. What the peer wanted written is on disk when the object has gone.
  asio::awaitable<void> shut_down();

  // Why it asked for the end, if it did by itself.
  const std::optional<Error>& failure() const { return failure_; }

  // Control
  void store_blob(const Hash256& hash, std::string bytes, std::function<void(Status)> done) override;
  void submit(Bytes signed_charter, Bytes manifest, std::function<void(Result<job::JobId>)> done) override;
  void cancel(const job::JobId& id, std::function<void(Status)> done) override;
  void supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes, std::function<void(Status)> done) override;
  NodeView node() const override;
  std::vector<PeerView> peers() const override;
  std::vector<JobSummary> jobs() const override { return job_views_->summaries(); }
  std::vector<HostedJobView> hosted() const override;
  Result<JobView> job(const job::JobId& id) const override;
  std::vector<GridView> grids() const override;
  void change_grids(GridOrder order, std::function<void(Result<std::string>)> done) override;
  void read_output(const job::JobId& id, Stream stream, std::uint64_t offset, std::size_t limit,
                   std::function<void(Result<OutputPiece>)> done) override;
  Result<std::vector<JobEvent>> events(const job::JobId& id, std::uint64_t from, std::size_t limit) const override;
  Result<std::unique_ptr<Subscription>> watch(const job::JobId& id, std::function<void()> changed) override;
  void ping(const job::PeerId& peer, std::function<void(Result<PingView>)> done) override;
  void share(const ShareChange& change, std::function<void(Result<Share>)> done) override;
  std::string metrics() override;
  void stop() override;

 private:
  static constexpr std::string_view kArea = "node";  // of its log

  struct Worker {
    std::unique_ptr<HostedWorker> process;
    job::JobId job;
    std::shared_ptr<const os::SealedMemory> module;  // shared with what is being done about its code on another thread
  };
  using Actions = std::vector<job::Action>;

  static std::uint64_t random_seed();
  Status listen();
  Result<Endpoint> listen_at(Endpoint where);
  Status start_peer(const peer::Stored& stored);

  // driver.cc: turns
  void turn(const std::function<void(job::Time, Actions&)>& input);
  void carry_out(Actions actions);
  void arm();
  void on_deadline();
  void on_connected(const transport::PeerId& peer, const transport::ConnectionOrigin& met) override;
  void on_message(const transport::PeerId& from, transport::Lane lane, Bytes message) override;
  void on_request(const transport::RequestId& request, Bytes message) override;
  void on_disconnected(const transport::PeerId& peer, const transport::Ended& ended) override;
  void on_reached(const transport::PeerId& peer, const std::string& address) override;
  void on_unreachable(const transport::PeerId& peer, Dialer::Failure failure) override;
  void on_disk(peer::DiskDone done) override;
  void on_disk_failed(const Error& error) override;

  // driver_actions.cc
  void act(job::Send& send);
  void act(job::Connect& connect) { dialer_->dial(connect.address); }
  void act(job::DialBack& dial);
  void act(job::Publish& publish);
  void act(job::Disconnect& disconnect);
  void act(job::StartWorker& start);
  void act(job::KillWorker& kill);
  void act(job::FrameToWorker& frame);
  void act(job::Persist& persist);
  void act(job::DropRecords& drop) { disk_.drop_records(std::move(drop)); }
  void act(job::DropOutput& drop);
  void act(job::StoreBlob& store);
  void act(job::LoadBlob& load);
  void act(job::DropBlob& drop);
  void act(job::RetainBlobs& retain) { disk_.retain(retain.hashes); }
  void act(job::Notify& notify);
  void on_worker_ready(job::WorkerId id);
  void on_worker_lost(job::WorkerId id, std::string why);
  void on_attachments_ready(job::WorkerId id, HostedWorker::Position position, Result<std::vector<os::SealedMemory>> memories);
  void after_loaded(Worker& worker, const wire::pb::FromWorker::Loaded& loaded);

  // driver_share.cc
  WorkerShare share_of(const job::JobId& job) const;
  void apply_share(const Share& share);

  // driver_grids.cc
  std::vector<std::string> own_addresses() const;
  void accept_invitations();
  void on_grid_answer(const job::GridAnswered& answered);

  // driver_discovery.cc
  void start_discovery();
  std::vector<TrackerRounds::Grid> to_announce() override;
  void on_listed(const overlay::GridId& grid, const std::vector<wire::pb::Descriptor>& peers) override;
  std::vector<const peer::GridCredentials*> to_call_out() override;
  void on_called(const overlay::GridId& grid, const std::string& address) override;

  // driver_control.cc
  void post(std::function<void()> callback);
  void ask_probe(const job::PeerId& peer, std::function<void(Result<PingView>)> done);
  void set_transport_metrics() const;
  void answer_requests(const job::Event& event);
  void fail_requests(const Error& why);

  asio::io_context& io_;
  const transport::Identity& identity_;
  const NativeCode& code_;
  const PeerSigner signer_;
  Config config_;
  const WallTime started_at_;
  NameResolver names_;
  std::vector<std::string> addresses_;  // where others reach it
  std::uint16_t listen_port_ = 0;       // of the first of them
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<peer::Peer> peer_;
  std::unique_ptr<JobViews> job_views_;
  std::unique_ptr<TrackerRounds> trackers_;
  std::unique_ptr<LanDiscovery> lan_;
  WorkerPool pool_;
  std::map<job::WorkerId, Worker> workers_;
  std::multimap<Hash256, std::function<void(Status)>> uploads_;
  std::multimap<job::JobId, std::function<void(Result<job::JobId>)>> submits_;
  std::multimap<job::JobId, std::function<void(Status)>> cancels_;
  std::multimap<std::pair<job::JobId, std::uint64_t>, std::function<void(Status)>> inputs_;
  std::map<std::uint64_t, std::function<void(Result<std::string>)>> grid_requests_;
  std::uint64_t next_grid_request_ = 0;
  std::size_t reads_ = 0;  // of people, on their way to the disk
  asio::steady_timer deadline_;
  job::Time armed_ = job::kNever;
  bool started_ = false;
  bool in_turn_ = false;
  bool wake_posted_ = false;
  bool stopping_ = false;
  std::optional<Error> failure_;
  std::shared_ptr<bool> alive_;  // shared with callbacks that were posted
  Disk disk_;                    // its threads end with all that was to be written
  OutputReader output_;          // of the thread below
  SerialThread output_thread_;   // last: it answers through the disk
};

}  // namespace gw::node
