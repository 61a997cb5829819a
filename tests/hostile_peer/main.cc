// godwit-hostile-peer TARGET [--protocol N] [--seed N] [--messages N] [--job HEX] [--peer HEX] [--grid HEX] [--thread HEX] [--kind NAME]
//
// Sends the target every kind of message with every field out of range, or as many of them as asked for, drawn by the seed. Prints one line
// per kind that came back, and at the end one with all figures. Exit code 1: the target is gone. `--kind baseline` sends each kind once
// with nothing wrong in it, and prints those on which the target hangs up.

#include <fmt/core.h>

#include <charconv>
#include <map>

#include <google/protobuf/stubs/logging.h>

#include "mutator.h"
#include "stranger.h"

namespace gw::hostile {
namespace {

constexpr std::size_t kMessagesPerIdentity = 400;

struct Options {
  transport::Endpoint target;
  std::uint64_t seed = 1;
  std::uint64_t messages = ~std::uint64_t{0};
  std::string kind;  // empty: all
  Knowledge knowledge;
};

std::string unhex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    bytes.push_back(static_cast<char>(value));
  }
  return bytes;
}

std::uint64_t number(const std::string& text, int base = 10) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

Result<Options> parse(int count, char** words) {
  Options options;
  if (count < 2 || count % 2 != 0) return fail(Kind::invalid, "usage: godwit-hostile-peer HOST:PORT [--option VALUE]...");
  const std::string target = words[1];
  const auto colon = target.rfind(':');
  options.target = {transport::asio::ip::make_address(target.substr(0, colon)),
                    static_cast<std::uint16_t>(number(target.substr(colon + 1)))};
  for (int i = 2; i < count; i += 2) {
    const std::string option = words[i], value = words[i + 1];
    if (option == "--seed")
      options.seed = number(value);
    else if (option == "--messages")
      options.messages = number(value);
    else if (option == "--kind")
      options.kind = value;
    else if (option == "--protocol")
      options.knowledge.protocol = static_cast<std::uint32_t>(number(value));
    else if (option == "--job")
      options.knowledge.jobs.push_back(unhex(value));
    else if (option == "--peer")
      options.knowledge.peers.push_back(unhex(value));
    else if (option == "--grid")
      options.knowledge.grids.push_back(unhex(value));
    else if (option == "--thread")
      options.knowledge.threads.push_back(number(value, 16));
    else
      return fail(Kind::invalid, "{} is no option", option);
  }
  return options;
}

// One message with one field out of range.
struct Shot {
  std::size_t kind, site;
  int variant;
};

std::vector<Shot> all_shots(const Protocol& protocol, Mutator& mutator, const std::string& only) {
  std::vector<Shot> shots;
  for (std::size_t kind = 0; kind < protocol.kinds().size(); ++kind) {
    if (!only.empty() && protocol.kinds()[kind].name() != only) continue;
    const auto message = mutator.plausible(protocol.kinds()[kind]);
    const auto sites = Mutator::sites(*message);
    shots.push_back({kind, sites.size(), 0});  // the plausible one itself
    for (std::size_t site = 0; site < sites.size(); ++site)
      for (int variant = 0; variant < Mutator::variants(sites[site]); ++variant) shots.push_back({kind, site, variant});
  }
  return shots;
}

void shuffle(std::vector<Shot>& shots, Rng& rng) {
  for (std::size_t i = shots.size(); i > 1; --i) std::swap(shots[i - 1], shots[rng.below(i)]);
}

// What the target sends back, by kind; bytes of a blob and descriptions of images are what no stranger may see.
class Answers {
 public:
  explicit Answers(const Protocol& protocol) : protocol_(protocol) {}

  void add(const std::string& message) {
    const std::string kind = protocol_.kind_of(message);
    ++counts_[kind];
    if (kind.ends_with("image_is") || (kind.ends_with("blob") && message.size() > kBlobWithoutBytes)) ++secrets_[kind];
  }
  void print() const {
    for (const auto& [kind, count] : counts_) fmt::print("heard {} {}\n", kind, count);
    for (const auto& [kind, count] : secrets_) fmt::print("told a secret by {} {}\n", kind, count);
  }

 private:
  static constexpr std::size_t kBlobWithoutBytes = 160;  // envelope, two hashes and a flag

  const Protocol& protocol_;
  std::map<std::string, std::size_t> counts_, secrets_;
};

class Attack {
 public:
  Attack(const Protocol& protocol, const Options& options)
      : protocol_(protocol),
        options_(options),
        mutator_(protocol, options.knowledge, options.seed),
        answers_(protocol),
        stranger_(options.target, [this](const std::string& message) { answers_.add(message); }) {}

  int run() {
    auto shots = all_shots(protocol_, mutator_, options_.kind);
    Rng rng(options_.seed);
    shuffle(shots, rng);
    if (shots.size() > options_.messages) shots.resize(options_.messages);
    for (const Shot& shot : shots)
      if (!fire(shot)) return 1;
    stranger_.listen(std::chrono::milliseconds(1000));
    answers_.print();
    fmt::print("sent {} messages of {} kinds as {} strangers\n", sent_, protocol_.kinds().size(), stranger_.identities());
    return 0;
  }

  // Which kinds the target hangs up on although nothing was made wrong on purpose: their fields are not attacked one by one.
  int print_baseline() {
    for (std::size_t kind = 0; kind < protocol_.kinds().size(); ++kind) {
      const std::size_t before = stranger_.disconnected();
      if (!fire({kind, kNoSite, 0})) return 1;
      stranger_.listen(std::chrono::milliseconds(20));
      if (stranger_.disconnected() > before) fmt::print("hung up on {}\n", protocol_.kinds()[kind].name());
    }
    return 0;
  }

 private:
  static constexpr std::size_t kNoSite = ~std::size_t{0};

  bool fire(const Shot& shot) {
    const MessageKind& kind = protocol_.kinds()[shot.kind];
    const auto message = mutator_.plausible(kind);
    const auto sites = Mutator::sites(*message);
    if (shot.site < sites.size()) mutator_.mutate(sites[shot.site], shot.variant);
    std::string encoded;
    (void)message->SerializePartialToString(&encoded);
    if (const Status status = stranger_.send(encoded); !status && status.error().kind != Kind::invalid) {
      fmt::print("gone after {} messages, the last a {}: {}\n{}\n", sent_, kind.name(), status.error().detail,
                 message->ShortDebugString().substr(0, 2000));
      return false;
    }
    if (++sent_ % kMessagesPerIdentity == 0) stranger_.leave();
    return true;
  }

  const Protocol& protocol_;
  const Options& options_;
  Mutator mutator_;
  Answers answers_;
  Stranger stranger_;
  std::size_t sent_ = 0;
};

int run(const Options& options) {
  pb::SetLogHandler(nullptr);  // text that is no text is what we want to send
  const auto protocol = Protocol::load(GODWIT_DESCRIPTORS);
  if (!protocol) {
    fmt::print(stderr, "{}\n", protocol.error().detail);
    return 2;
  }
  Attack attack(*protocol, options);
  return options.kind == "baseline" ? attack.print_baseline() : attack.run();
}

}  // namespace
}  // namespace gw::hostile

int main(int count, char** words) {
  const auto options = gw::hostile::parse(count, words);
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().detail);
    return 2;
  }
  return gw::hostile::run(*options);
}
