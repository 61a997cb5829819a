#pragma once
// Handles the requests that users of this machine make of its daemon.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "node/control.h"
#include "node/discovery/dialer.h"
#include "node/disk/disk.h"
#include "node/disk/serial_thread.h"
#include "node/driver/capacity_watch.h"
#include "node/driver/machine_names.h"
#include "node/driver/owner_watch.h"
#include "node/driver/pending_requests.h"
#include "node/fetch/url_fetcher.h"
#include "node/jobs/job_views.h"
#include "node/jobs/output_reader.h"
#include "node/worker/worker_table.h"
#include "peer/peer.h"
#include "transport/transport.h"

namespace gw::node {

// Answers from the state of the daemon where possible, and otherwise passes the request to the peer and its answer back (PendingRequests).
// Holds the owner's Share and enforces it when it changes.
//
// Belongs to the node thread. Limits: those of PendingRequests; kMaxDiskTasks waiting for a disk.
class NodeControl final : public Control {
 public:
  static constexpr std::size_t kMaxDiskTasks = 1024;

  struct Config {
    job::PeerId self;
    std::uint64_t boot = 0;
    std::string version;
    std::string name;                    // of this machine, for people
    std::string state;                   // path of the state folder, for display
    std::vector<std::string> addresses;  // where others reach it
    Share share;
    std::filesystem::path share_file;  // where changes of the share are stored; empty: nowhere
    UrlFetcher::Config fetch = {};
    std::function<void()> on_stop;  // a user asked for a stop
  };
  // References outlive this object.
  struct Parts {
    const peer::Peer& peer;
    JobViews& jobs;
    const MachineNames& names;
    PendingRequests& requests;
    WorkerTable& workers;
    transport::Transport& transport;
    Dialer& dialer;
    Disk& disk;
    SerialThread& output_thread;
    OutputReader& output;  // of that thread, like the next one
    TaskReader& tasks;
    OwnerWatch& owner;
    CapacityWatch& capacity;
    std::function<void(peer::Request)> ask;
    std::function<void(std::uint64_t bytes_per_s)> limit_bandwidth;
    PendingRequests::Post post;
  };

  NodeControl(Parts parts, Config config);
  ~NodeControl() override { closing_ = true; }

  // The part of the share that a job's worker gets.
  WorkerShare share_of(const job::JobId& job) const;
  // Enforces the present share: once at a start, when the peer runs.
  void begin();

  void store_blob(const Hash256& hash, std::string bytes, std::function<void(Status)> done) override;
  void submit(const wire::pb::JobSubmission& submission, std::function<void(Result<job::JobId>)> done) override;
  void cancel(const job::JobId& id, std::function<void(Status)> done) override;
  void suspend(const job::JobId& id, std::function<void(Status)> done) override;
  void resume(const job::JobId& id, std::function<void(Status)> done) override;
  Result<wire::pb::JobImage> image(const job::JobId& id) const override;
  void fetch(UrlRequest request, std::function<void(Result<UrlPieces>)> done) override;
  void load_blob(const Hash256& hash, std::function<void(Result<std::string>)> done) override;
  void forget(const job::JobId& id, std::function<void(Status)> done) override;
  void supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes, std::function<void(Status)> done) override;
  NodeView node() const override;
  std::vector<PeerView> peers() const override;
  std::vector<JobSummary> jobs() const override { return job_views_.summaries(); }
  std::vector<HostedJobView> hosted() const override;
  std::vector<BalanceView> balance() const override;
  Result<JobSummary> job_summary(const job::JobId& id) const override { return job_views_.summary(id); }
  bool is_over(const job::JobId& id) const override { return job_views_.over(id); }
  void job(const job::JobId& id, std::function<void(Result<JobView>)> done) override;
  std::vector<GridView> grids() const override;
  void change_grids(GridOrder order, std::function<void(Result<std::string>)> done) override;
  void read_output(const job::JobId& id, Stream stream, std::uint64_t offset, std::size_t limit,
                   std::function<void(Result<OutputPiece>)> done) override;
  void read_frames(const job::JobId& id, const FrameQuery& query, std::function<void(Result<OutputFrames>)> done) override;
  void tasks(const job::JobId& id, const job::TaskQuery& query, std::function<void(Result<job::TaskPage>)> done) override;
  void manifest(const job::JobId& id, std::function<void(Result<std::string>)> done) override;
  Result<std::vector<JobEvent>> events(const job::JobId& id, std::uint64_t from, std::size_t limit) const override;
  Result<std::unique_ptr<Subscription>> watch(const job::JobId& id, std::function<void()> changed) override;
  void ping(const job::PeerId& peer, std::function<void(Result<PingView>)> done) override;
  void share(const ShareChange& change, std::function<void(Result<Share>)> done) override;
  std::string metrics() override;
  void stop() override { parts_.post(config_.on_stop); }

 private:
  // Stores the pieces of a range of a file; `done` when all are on disk.
  void store_pieces(UrlRange range, std::function<void(Result<UrlPieces>)> done);
  // Calls `read` on the thread that reads output, then `done` on the node thread.
  template <class T>
  void on_output_thread(std::function<Result<T>()> read, std::function<void(Result<T>)> done);
  template <class T>
  void refuse(std::function<void(T)> done, Error why);
  // The error for a change of a job that is over.
  std::optional<Error> not_running(const job::JobId& id) const;
  StorageView storage() const;
  CapacityWatch::Lent lent() const;
  std::string name_of(const job::PeerId& peer) const;
  JobView with_peer_states(JobView view) const;
  std::vector<std::string> own_addresses() const;
  void apply_share(const Share& share);
  std::string hosted_program(const job::JobId& job) const;
  void ask_probe(const job::PeerId& peer, std::function<void(Result<PingView>)> done);
  void set_transport_metrics() const;

  const Parts parts_;
  Config config_;
  JobViews& job_views_;
  const WallTime started_at_;
  std::size_t disk_tasks_ = 0;  // under way
  std::atomic<bool> closing_ = false;
  SerialThread fetch_thread_{{.name = "fetch", .waiting = 64}};
};

}  // namespace gw::node
