#include "wire/job_ticket.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/base32.h"
#include "wire/messages/overlay_messages.h"

namespace gw::wire {
namespace {

constexpr std::string_view kSignedTicket = "godwit ticket 1";  // no other text that a peer signs begins like this
constexpr std::string_view kQuestion = "godwit ticket 1";
constexpr std::uint8_t kTicketVersion = 1;
constexpr std::size_t kTicketSumBytes = 4;

Error damaged_ticket() {
  return fail(Kind::corrupt, "the ticket is damaged (wrong checksum): paste the whole line that 'godwit job ticket' printed");
}

Bytes signed_ticket_text(const JobId& job) {
  ByteWriter text;
  text.bytes(as_bytes(kSignedTicket));
  text.bytes(job.hash.bytes);
  return text.take();
}

bool is_good_address(const std::string& address) { return is_address(address) && address.size() <= kMaxTicketAddressBytes; }

Status read_hash(ByteReader& reader, Hash256& hash) {
  GW_TRY(const ByteView bytes, reader.bytes(hash.bytes.size()));
  std::ranges::copy(bytes, hash.bytes.begin());
  return ok();
}

Result<JobTicket> read_ticket_body(ByteReader reader) {
  JobTicket ticket;
  GW_TRY_VOID(read_hash(reader, ticket.job.hash));
  GW_TRY_VOID(read_hash(reader, ticket.home.hash));
  GW_TRY(const ByteView signature, reader.bytes(ticket.signature.size()));
  std::ranges::copy(signature, ticket.signature.begin());
  GW_TRY(const std::uint8_t addresses, reader.u8());
  if (addresses > kMaxTicketAddresses) return fail(Kind::corrupt, "it has too many addresses");
  for (std::uint8_t i = 0; i < addresses; ++i) {
    GW_TRY(const std::uint8_t size, reader.u8());
    GW_TRY(const ByteView address, reader.bytes(size));
    ticket.addresses.emplace_back(as_text(address));
    if (!is_good_address(ticket.addresses.back())) return fail(Kind::corrupt, "an address in it is malformed");
  }
  if (!reader.at_end()) return fail(Kind::corrupt, "there are bytes after its end");
  return ticket;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

JobTicket make_ticket(const JobId& job, const PeerId& home, const Signer& signer, const std::vector<std::string>& addresses) {
  JobTicket ticket{.job = job, .home = home, .signature = signer.sign(signed_ticket_text(job)), .addresses = {}};
  for (const std::string& address : addresses)
    if (is_good_address(address) && ticket.addresses.size() < kMaxTicketAddresses) ticket.addresses.push_back(address);
  return ticket;
}

bool is_ticket(const JobId& job, const Signature& signature, const PublicKey& home, const Signer& signer) {
  return signer.is_signed(home, signed_ticket_text(job), signature);
}

std::string text_of(const JobTicket& ticket) {
  ByteWriter whole;
  whole.u8(kTicketVersion);
  whole.bytes(ticket.job.hash.bytes);
  whole.bytes(ticket.home.hash.bytes);
  whole.bytes(ticket.signature);
  whole.u8(static_cast<std::uint8_t>(ticket.addresses.size()));
  for (const std::string& address : ticket.addresses) {
    whole.u8(static_cast<std::uint8_t>(address.size()));
    whole.bytes(as_bytes(address));
  }
  whole.bytes(ByteView(sha256(whole.view()).bytes).first(kTicketSumBytes));
  return std::string(kTicketScheme) + base32(whole.view());
}

Result<JobTicket> parse_ticket(std::string_view text) {
  text = without_blanks(text);
  if (!looks_like_ticket(text)) return fail(Kind::invalid, "this is not the ticket of a job: tickets begin with '{}'", kTicketScheme);
  if (text.size() > kMaxTicketText)
    return fail(Kind::invalid, "this is not the ticket of a job: it has {} characters, the limit is {}", text.size(), kMaxTicketText);
  const auto bytes = parse_base32(text.substr(kTicketScheme.size()));
  if (!bytes || bytes->size() < 1 + kTicketSumBytes) return damaged_ticket();
  const ByteView body = ByteView(*bytes).first(bytes->size() - kTicketSumBytes);
  if (!std::equal(bytes->end() - kTicketSumBytes, bytes->end(), sha256(body).bytes.begin())) return damaged_ticket();
  if (body.front() != kTicketVersion)
    return fail(Kind::unsupported, "the ticket has version {}, which this godwit does not support: install a newer version", body.front());
  auto ticket = read_ticket_body(ByteReader(body.subspan(1)));
  if (!ticket) return fail(Kind::corrupt, "the ticket is invalid ({}): ask for a new one", ticket.error().detail);
  return ticket;
}

Bytes encode_question(const pb::TicketQuestion& question) {
  const std::string content = question.SerializeAsString();
  Bytes bytes(kQuestion.begin(), kQuestion.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

bool looks_like_question(ByteView request) { return as_text(request).starts_with(kQuestion); }

Result<pb::TicketQuestion> read_question(ByteView request) {
  pb::TicketQuestion question;
  const ByteView content = looks_like_question(request) ? request.subspan(kQuestion.size()) : ByteView();
  if (!looks_like_question(request) || !question.ParseFromArray(content.data(), static_cast<int>(content.size())))
    return fail(Kind::invalid, "the question about a job cannot be read");
  if (question.job().size() != sizeof(Hash256) || question.signature().size() != sizeof(Signature) ||
      question.target().size() > kMaxTicketTarget)
    return fail(Kind::invalid, "the question about a job has a field of a wrong size");
  return question;
}

std::optional<Signature> signature_of(const pb::TicketQuestion& question) {
  Signature signature{};
  if (question.signature().size() != signature.size()) return std::nullopt;
  std::ranges::copy(as_bytes(question.signature()), signature.begin());
  return signature;
}

Result<pb::TicketAnswer> read_ticket_answer(ByteView bytes) {
  pb::TicketAnswer answer;
  const bool whole = answer.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const bool good = whole && answer.status() >= 100 && answer.status() < 600 && answer.body().size() <= kMaxTicketBody &&
                    std::ranges::all_of(answer.type(), [](char c) { return c > ' ' && c < 127; });
  if (!good) return fail(Kind::corrupt, "the answer of the home of the job cannot be understood");
  return answer;
}

}  // namespace gw::wire
