#pragma once
// The ticket of a job: a line of text with which any machine reads the state and the output of the job.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/signature.h"
#include "wire/job_ticket.pb.h"
#include "wire/names.h"
#include "wire/signer.h"

namespace gw::wire {

// Home signs that a job is its own; who shows it that signature has the ticket. It is not stored anywhere, and shown to home only, over a
// connection that has proved to be home's. A ticket does not expire: home answers as long as it has the job.
//
// As text: "godwit-job:", then base 32 of version (1), job (32), home (32), signature (64), addresses (each with a byte for its length, all
// with one for their number), and four bytes of SHA-256 over all that.
struct JobTicket {
  JobId job;
  PeerId home;
  Signature signature{};
  std::vector<std::string> addresses;  // host:port of home; may be none, if home can only be reached through others

  bool operator==(const JobTicket&) const = default;
};

inline constexpr std::string_view kTicketScheme = "godwit-job:";
inline constexpr std::size_t kMaxTicketText = 1024;
inline constexpr std::size_t kMaxTicketAddresses = 4;
inline constexpr std::size_t kMaxTicketAddressBytes = 64;

inline bool looks_like_ticket(std::string_view text) { return text.starts_with(kTicketScheme); }

// `addresses`: those that are malformed or too many are left out.
JobTicket make_ticket(const JobId& job, const PeerId& home, const Signer& signer, const std::vector<std::string>& addresses);
// Whether the ticket of the job was made with this key.
bool is_ticket(const JobId& job, const Signature& signature, const PublicKey& home, const Signer& signer);

std::string text_of(const JobTicket& ticket);
// Only home knows whether the result is genuine. Kind::invalid: not a ticket; Kind::unsupported: of a later version; Kind::corrupt: not
// whole.
Result<JobTicket> parse_ticket(std::string_view text);

// --- as messages

inline constexpr std::size_t kMaxTicketTarget = 4096;
inline constexpr std::size_t kMaxTicketBody = 1u << 20;

Bytes encode_question(const pb::TicketQuestion& question);
bool looks_like_question(ByteView request);
// Kind::invalid.
Result<pb::TicketQuestion> read_question(ByteView request);
// None: it has another size, and is none.
std::optional<Signature> signature_of(const pb::TicketQuestion& question);
// Kind::corrupt.
Result<pb::TicketAnswer> read_ticket_answer(ByteView answer);

}  // namespace gw::wire
