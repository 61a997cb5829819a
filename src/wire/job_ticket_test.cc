#include "wire/job_ticket.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "wire/base32.h"

namespace gw::wire {
namespace {

// A hash over key and text stands for a signature.
class FakeSigner final : public Signer {
 public:
  PeerId id_of(const PublicKey& key) const override { return {sha256(key)}; }
  Signature sign(ByteView text) const override {
    Signature signature{};
    std::ranges::copy(sha256(text).bytes, signature.begin());
    return signature;
  }
  bool is_signed(const PublicKey&, ByteView text, const Signature& signature) const override { return sign(text) == signature; }
};

const JobId kJob{sha256(as_bytes("job"))};
const PeerId kHome{sha256(as_bytes("home"))};

JobTicket ticket_of(const std::vector<std::string>& addresses) { return make_ticket(kJob, kHome, FakeSigner(), addresses); }

TEST(JobTicket, ComesBackFromItsText) {
  for (const JobTicket& ticket : {ticket_of({}), ticket_of({"192.0.2.1:7400"}), ticket_of({"192.0.2.1:7400", "[2001:db8::1]:7400"})}) {
    const std::string text = text_of(ticket);
    EXPECT_LE(text.size(), kMaxTicketText);
    EXPECT_EQ(parse_ticket(" " + text + "\n").value(), ticket);
  }
}

TEST(JobTicket, LeavesOutAddressesThatCannotBeDialled) {
  EXPECT_EQ(ticket_of({"", "no port", "192.0.2.1:7400"}).addresses, std::vector<std::string>{"192.0.2.1:7400"});
  EXPECT_EQ(ticket_of(std::vector<std::string>(9, "192.0.2.1:7400")).addresses.size(), kMaxTicketAddresses);
}

TEST(JobTicket, IsOfOneJob) {
  const JobTicket ticket = ticket_of({});
  EXPECT_TRUE(is_ticket(kJob, ticket.signature, {}, FakeSigner()));
  EXPECT_FALSE(is_ticket(JobId{sha256(as_bytes("another"))}, ticket.signature, {}, FakeSigner()));
}

TEST(JobTicket, SaysWhatIsWrongWithAText) {
  const std::string text = text_of(ticket_of({"192.0.2.1:7400"}));
  EXPECT_EQ(parse_ticket("3f9a01").error().kind, Kind::invalid);
  EXPECT_EQ(parse_ticket(std::string(kTicketScheme) + std::string(2000, 'a')).error().kind, Kind::invalid);
  for (std::size_t at = kTicketScheme.size(); at < text.size(); ++at) {
    std::string altered = text;
    altered[at] = altered[at] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(parse_ticket(altered).has_value()) << at;
    EXPECT_FALSE(parse_ticket(text.substr(0, at)).has_value()) << at;
  }
}

TEST(JobTicket, QuestionWithAFieldOfAWrongSizeIsRefused) {
  pb::TicketQuestion question;
  question.set_job(std::string(32, 'j'));
  question.set_signature(std::string(64, 's'));
  question.set_target("/v1/jobs");
  EXPECT_EQ(read_question(encode_question(question)).value().target(), "/v1/jobs");
  question.set_job("short");
  EXPECT_EQ(read_question(encode_question(question)).error().kind, Kind::invalid);
  EXPECT_EQ(read_question(as_bytes("godwit probe 1")).error().kind, Kind::invalid);
  question.set_job(std::string(32, 'j'));
  question.set_target(std::string(kMaxTicketTarget + 1, '/'));
  EXPECT_EQ(read_question(encode_question(question)).error().kind, Kind::invalid);
}

TEST(JobTicket, AnswerThatWouldBreakTheHeadOfAResponseIsRefused) {
  pb::TicketAnswer answer;
  answer.set_status(200);
  answer.set_type("application/json");
  EXPECT_TRUE(read_ticket_answer(as_bytes(answer.SerializeAsString())).has_value());
  answer.set_type("a\r\nSet-Cookie: b");
  EXPECT_EQ(read_ticket_answer(as_bytes(answer.SerializeAsString())).error().kind, Kind::corrupt);
  answer.set_type("text/plain");
  answer.set_status(7);
  EXPECT_EQ(read_ticket_answer(as_bytes(answer.SerializeAsString())).error().kind, Kind::corrupt);
}

}  // namespace
}  // namespace gw::wire
