#include "transport_load.h"

namespace gw::bench {
namespace {

using transport::Lane;

constexpr std::chrono::milliseconds kAnswerPatience{30'000};
constexpr std::size_t kBulkBytes = 1u << 20, kBulkWindow = 8;
constexpr std::size_t kControlBytes = 64;

}  // namespace

TransportLoad::TransportLoad() = default;

TransportLoad::~TransportLoad() {
  if (!transport_) return;
  transport::TaskGroup stopping(io_.get_executor());
  stopping.spawn("stop", transport_->stop());
  io_.restart();
  io_.run();
}

Result<std::unique_ptr<TransportLoad>> TransportLoad::connect(const transport::Endpoint& to) {
  auto load = std::make_unique<TransportLoad>();
  GW_TRY_VOID(load->dial(to));
  return load;
}

Status TransportLoad::dial(const transport::Endpoint& to) {
  GW_TRY(identity_, transport::Identity::make());
  GW_TRY(transport_, transport::Transport::make(io_, *identity_, *this, {}));
  std::optional<Result<transport::PeerId>> found;
  transport_->connect(to, std::nullopt, [&](Result<transport::PeerId> peer) { found = std::move(peer); });
  while (!found) io_.run_one();
  GW_TRY(peer_, *found);
  return ok();
}

void TransportLoad::ask(Series& series) {
  if (series.window == 1) series.asked = Clock::now();
  ++series.open;
  const auto done = [this, &series](const Result<Bytes>& answer) { on_answer(series, answer); };
  if (Status sent = transport_->request(peer_, series.lane, series.message, kAnswerPatience, done); !sent) {
    --series.open;
    broken_ = sent.error().detail;
  }
}

void TransportLoad::on_answer(Series& series, const Result<Bytes>& answer) {
  --series.open;
  ++series.answered;
  if (!answer) broken_ = answer.error().detail;
  if (series.microseconds != nullptr)
    series.microseconds->push_back(std::chrono::duration<double, std::micro>(Clock::now() - series.asked).count());
  if (!broken_ && series.going(series)) ask(series);
}

Status TransportLoad::finish(std::initializer_list<Series*> all) {
  for (Series* series : all)
    while (series->open < series->window && !broken_) ask(*series);
  for (const Series* series : all)
    while (series->open > 0) io_.run_one();
  if (broken_) return fail(Kind::disconnected, "the measured connection failed: {}", *broken_);
  return ok();
}

Result<std::vector<double>> TransportLoad::round_trips(std::size_t bytes, std::size_t count) {
  std::vector<double> microseconds;
  Series series{.lane = Lane::control,
                .message = Bytes(bytes, 7),
                .window = 1,
                .going = [count](const Series& it) { return it.answered < count; },
                .microseconds = &microseconds};
  GW_TRY_VOID(finish({&series}));
  return microseconds;
}

Result<double> TransportLoad::requests_per_second(std::size_t bytes, std::size_t window, std::size_t count) {
  Series series{.lane = Lane::control, .message = Bytes(bytes, 7), .window = window, .going = [count](const Series& it) {
                  return it.answered + it.open < count;
                }};
  const auto began = Clock::now();
  GW_TRY_VOID(finish({&series}));
  return static_cast<double>(series.answered) / std::chrono::duration<double>(Clock::now() - began).count();
}

Result<TransportLoad::UnderBulk> TransportLoad::bulk(std::chrono::milliseconds duration) {
  UnderBulk result;
  const auto began = Clock::now();
  const auto going = [end = began + duration](const Series&) { return Clock::now() < end; };
  Series bulk{.lane = Lane::bulk, .message = Bytes(kBulkBytes, 7), .window = kBulkWindow, .going = going};
  Series control{
      .lane = Lane::control, .message = Bytes(kControlBytes, 7), .window = 1, .going = going, .microseconds = &result.control_microseconds};
  GW_TRY_VOID(finish({&bulk, &control}));
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  result.megabytes_per_second = static_cast<double>(bulk.answered * kBulkBytes) / 1e6 / seconds;
  return result;
}

}  // namespace gw::bench
