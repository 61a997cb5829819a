#include "job/records.h"

namespace gw::job {
namespace {

constexpr std::size_t kHashBytes = sizeof(Hash256);
constexpr std::size_t kNumberBytes = 8;

void append(std::string& key, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kNumberBytes; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return number;
}

// How many numbers follow the job in a key of this kind; -1: there is no such kind.
int numbers_of(char kind) {
  switch (static_cast<RecordKind>(kind)) {
    case RecordKind::job:
    case RecordKind::counters:
    case RecordKind::output:
    case RecordKind::suspension:
    case RecordKind::peers:
    case RecordKind::grid:
    case RecordKind::balance:
      return 0;
    case RecordKind::thread:
    case RecordKind::kept:
    case RecordKind::mail_mark:
    case RecordKind::consumer_balance:
      return 1;
    case RecordKind::determinants:
    case RecordKind::input:
    case RecordKind::mail:
    case RecordKind::watch:
    case RecordKind::task_file:
      return 2;
  }
  return -1;
}

}  // namespace

std::string RecordKey::prefix() const { return static_cast<char>(kind) + job.bytes(); }

std::string RecordKey::encode() const {
  const int numbers = numbers_of(static_cast<char>(kind));
  std::string key = prefix();
  if (numbers > 0) append(key, thread.value());
  if (numbers > 1) append(key, number);
  return key;
}

Result<RecordKey> RecordKey::decode(std::string_view bytes) {
  const int numbers = bytes.empty() ? -1 : numbers_of(bytes.front());
  if (numbers < 0 || bytes.size() != 1 + kHashBytes + static_cast<std::size_t>(numbers) * kNumberBytes)
    return fail(Kind::corrupt, "a record has a key of {} bytes that is none of ours: the store is damaged or of a newer godwit",
                bytes.size());
  RecordKey key{.kind = static_cast<RecordKind>(bytes.front()), .job = JobId::from(std::string(bytes.substr(1, kHashBytes)))};
  if (numbers > 0) key.thread = ThreadId{number_at(bytes, 1 + kHashBytes)};
  if (numbers > 1) key.number = number_at(bytes, 1 + kHashBytes + kNumberBytes);
  return key;
}

}  // namespace gw::job
