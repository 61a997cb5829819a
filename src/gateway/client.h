#pragma once
// The local API from the other side: what commands ask of a running daemon.

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "node/control.h"

namespace gw::gateway {

// Blocks: each call is one connection and one request, as docs/api/openapi.yaml has them. An error of the daemon comes back as it was
// there; Kind::disconnected: nobody listens, or the connection broke; Kind::timeout: no answer.
//
// One thread, but for interrupt().
class Client {
 public:
  explicit Client(std::filesystem::path socket);
  ~Client();

  Result<node::NodeView> node();
  Result<std::vector<node::PeerView>> peers();
  Result<node::PingView> ping(const job::PeerId& peer);
  Result<node::Share> share(const node::ShareChange& change);
  Result<std::string> metrics();
  Result<std::vector<node::JobSummary>> jobs();
  Result<node::JobView> job(const job::JobId& id);
  Status store_blob(ByteView bytes);
  Result<job::JobId> submit(ByteView signed_charter, ByteView manifest);
  Status cancel(const job::JobId& id);
  Result<std::vector<node::GridView>> grids();
  // The invitation that was asked for, else the id of the grid in hexadecimal.
  Result<std::string> change_grids(const node::GridOrder& order);
  Status stop();

  // A stream goes on until its end, an error, or until `take` returns StreamControl::stop.
  enum class StreamControl : std::uint8_t { proceed, stop };
  enum class ReadUntil : std::uint8_t { now, end };
  using TakeBytes = std::function<StreamControl(std::string_view)>;
  Status read_output(const job::JobId& id, node::Stream stream, std::uint64_t from, ReadUntil until, const TakeBytes& take);
  Status watch(const job::JobId& id, std::uint64_t from, const std::function<StreamControl(const node::JobEvent&)>& take);

  // From any thread: the call that is going on, and all later ones, end with Kind::disconnected.
  void interrupt();

 private:
  struct Request;
  struct Exchange;
  Result<std::string> ask(const Request& request);
  Status stream(const std::string& target, const TakeBytes& take);

  const std::filesystem::path socket_;
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace gw::gateway
