#pragma once
// The asking side of a measured connection to an EchoPeer.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "transport/transport.h"

namespace gw::bench {

// A transport with one connection, and loads on it. Each call runs until its load is over. One thread.
class TransportLoad final : transport::Receiver {
 public:
  static Result<std::unique_ptr<TransportLoad>> connect(const transport::Endpoint& to);
  TransportLoad();
  ~TransportLoad();

  // Microseconds of each of `count` requests, one after the other.
  Result<std::vector<double>> round_trips(std::size_t bytes, std::size_t count);
  // Requests per second when `window` are always open.
  Result<double> requests_per_second(std::size_t bytes, std::size_t window, std::size_t count);

  struct UnderBulk {
    double megabytes_per_second = 0;
    std::vector<double> control_microseconds;  // of requests one after the other meanwhile
  };
  Result<UnderBulk> bulk(std::chrono::milliseconds duration);

 private:
  using Clock = std::chrono::steady_clock;

  // An endless series of requests of which `window` are open at once, until `going` says no.
  struct Series {
    transport::Lane lane;
    Bytes message;
    std::size_t window;
    std::function<bool(const Series&)> going;
    std::size_t open = 0, answered = 0;
    std::vector<double>* microseconds = nullptr;  // noted if there is somewhere to: for a window of one
    Clock::time_point asked;
  };

  void on_connected(const transport::PeerId&, const transport::ConnectionOrigin&) override {}
  void on_message(const transport::PeerId&, transport::Lane, Bytes) override {}
  void on_request(const transport::RequestId&, Bytes) override {}
  void on_disconnected(const transport::PeerId&, const transport::Ended& ended) override { broken_ = ended.sentence; }

  Status dial(const transport::Endpoint& to);
  void ask(Series& series);
  void on_answer(Series& series, const Result<Bytes>& answer);
  // Runs the loop until none of a series is open.
  Status finish(std::initializer_list<Series*> all);

  transport::asio::io_context io_{1};
  std::optional<transport::Identity> identity_;
  std::unique_ptr<transport::Transport> transport_;
  transport::PeerId peer_{};
  std::optional<std::string> broken_;  // why nothing more can be measured
};

}  // namespace gw::bench
