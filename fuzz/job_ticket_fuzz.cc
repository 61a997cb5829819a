// Text pasted as the ticket of a job, and questions and answers between peers. An accepted ticket reads the same when it is written again.

#include "wire/base32.h"
#include "wire/job_ticket.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gw;
  const ByteView bytes(data, size);
  const auto parsed = wire::parse_ticket(as_text(bytes));
  if (parsed) GW_ASSERT(wire::parse_ticket(wire::text_of(*parsed)).value() == *parsed);
  // The same with a right check sum: a fuzzer finds none.
  Bytes whole(bytes.begin(), bytes.end());
  const Hash256 sum = sha256(bytes);
  whole.insert(whole.end(), sum.bytes.begin(), sum.bytes.begin() + 4);
  const auto summed = wire::parse_ticket(std::string(wire::kTicketScheme) + wire::base32(whole));
  if (summed) GW_ASSERT(wire::parse_ticket(wire::text_of(*summed)).value() == *summed);
  if (const auto question = wire::read_question(bytes)) GW_ASSERT(wire::signature_of(*question).has_value());
  (void)wire::read_ticket_answer(bytes);
  return 0;
}
