#pragma once
// The client of the local API, for the commands.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "gateway/web/web_view.h"
#include "node/control.h"

namespace gw::gateway {

// Blocks: each call is one connection and one request of docs/api/openapi.yaml. An error of the daemon comes back unchanged;
// Kind::disconnected: no daemon listens, or the connection broke; Kind::timeout: no answer in time.
//
// Belongs to one thread, except interrupt().
class Client {
 public:
  struct Config {
    std::chrono::milliseconds read = std::chrono::seconds(10);  // for what the daemon answers from memory
    std::chrono::milliseconds act = std::chrono::seconds(75);   // for what waits for a disk or a peer; the gateway gives up after 60 s
  };

  explicit Client(std::filesystem::path socket);
  Client(std::filesystem::path socket, const Config& config);
  ~Client();

  // All later requests are about a job whose home is another peer, and go there: those that read.
  void use_ticket(std::string text) { ticket_ = std::move(text); }
  const std::string& ticket() const { return ticket_; }
  // The ticket of a job of this machine.
  Result<std::string> ticket_of(const job::JobId& id);

  Result<node::NodeView> node();
  Result<std::vector<node::PeerView>> peers();
  Result<node::PingView> ping(const job::PeerId& peer);
  Result<std::vector<node::BalanceView>> balance();
  Result<node::Share> share(const node::ShareChange& change);
  Result<std::string> metrics();
  Result<std::vector<node::JobSummary>> jobs();
  Result<node::JobView> job(const job::JobId& id);
  Result<std::vector<node::HostedJobView>> hosted();
  Result<job::TaskPage> tasks(const job::JobId& id, const job::TaskQuery& query);
  Result<std::string> manifest(const job::JobId& id);  // the bytes of a pb::Manifest
  Status store_blob(ByteView bytes);
  // The next pieces of a file, fetched by the daemon.
  Result<node::UrlPieces> fetch(const node::UrlRequest& request);
  Result<job::JobId> submit(const wire::pb::JobSubmission& submission);
  Status cancel(const job::JobId& id);
  Status suspend(const job::JobId& id);
  Status resume(const job::JobId& id);
  // Kind::invalid: it is not suspended; Kind::unsupported: it has several threads.
  Result<wire::pb::JobImage> image(const job::JobId& id);
  // A blob of the daemon, checked against its hash.
  Result<std::string> load_blob(const Hash256& hash);
  Status forget(const job::JobId& id);
  // A piece of its standard input; an empty one is the end.
  Status supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes);
  Result<std::vector<node::GridView>> grids();
  // The invitation that was asked for, else the id of the grid in hexadecimal.
  Result<std::string> change_grids(const node::GridOrder& order);
  Result<WebView> web();
  // The dashboard must be served: Kind::not_found.
  Result<std::vector<WebTokenView>> web_tokens();
  Result<WebLink> add_web_token(Scope scope);
  Status revoke_web_token(const Hash256& id);
  Status stop();

  // A stream goes on until its end, an error, or until `take` returns StreamControl::stop. Only its head has a deadline: a job may be quiet
  // for days.
  enum class StreamControl : std::uint8_t { proceed, stop };
  enum class ReadUntil : std::uint8_t { now, end };
  using TakeBytes = std::function<StreamControl(std::string_view)>;
  Status read_output(const job::JobId& id, node::Stream stream, std::uint64_t from, ReadUntil until, const TakeBytes& take);
  using TakeFrame = std::function<StreamControl(const wire::pb::OutputFrame&)>;
  Status read_frames(const job::JobId& id, const node::FrameQuery& query, ReadUntil until, const TakeFrame& take);
  Status watch(const job::JobId& id, std::uint64_t from, const std::function<StreamControl(const node::JobEvent&)>& take);

  // From any thread: the current call and all later ones end with Kind::disconnected.
  void interrupt();

 private:
  struct Request;
  struct Exchange;
  Result<std::string> ask(Request request);
  Status stream(const std::string& target, const TakeBytes& take);

  const std::filesystem::path socket_;
  const Config config_;
  std::string ticket_;  // empty: the jobs of the daemon
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace gw::gateway
