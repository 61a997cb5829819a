#include "mutator.h"

#include <algorithm>
#include <array>
#include <limits>

namespace gw::hostile {
namespace {

constexpr int kMaxDepth = 4;
constexpr std::size_t kLongBytes = 100'000;
constexpr int kManyElements = 3000;
constexpr std::uint64_t kOnly = 1;  // term, version, epoch: there is one
constexpr int kDimensions = 4;      // of a coordinate

constexpr std::array<std::uint64_t, 8> kNumbers{
    0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff, 0x1'0000'0000, 0x8000'0000'0000'0000, ~std::uint64_t{0}};
constexpr std::array<std::size_t, 6> kSizes{0, 1, 31, 32, 33, kLongBytes};
constexpr std::array<float, 5> kFloats{-1.0F, 0.0F, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity(),
                                       std::numeric_limits<float>::quiet_NaN()};
constexpr std::array<int, 3> kEnumerators{-1, 99, std::numeric_limits<int>::max()};
constexpr std::array<const char*, 5> kTexts{"", "\x1b[2J\x1b]0;mine\x07", "..\n../etc/passwd\r\n", "\xff\xfe not UTF-8", "10.83.0.1:99999"};

bool is_number(pb::FieldDescriptor::CppType type) {
  using Field = pb::FieldDescriptor;
  return type == Field::CPPTYPE_INT32 || type == Field::CPPTYPE_INT64 || type == Field::CPPTYPE_UINT32 || type == Field::CPPTYPE_UINT64;
}

// Sets or, in a repeated field, replaces or adds one value.
void set_number(const Site& site, std::uint64_t value) {
  const pb::Reflection& reflection = *site.message->GetReflection();
  pb::Message* const message = site.message;
  const pb::FieldDescriptor* const field = site.field;
  const auto narrow = static_cast<std::uint32_t>(value);
  const bool repeated = field->is_repeated();
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return repeated ? reflection.SetRepeatedUInt32(message, field, site.index, narrow) : reflection.SetUInt32(message, field, narrow);
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return repeated ? reflection.SetRepeatedInt32(message, field, site.index, static_cast<std::int32_t>(narrow))
                      : reflection.SetInt32(message, field, static_cast<std::int32_t>(narrow));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return repeated ? reflection.SetRepeatedInt64(message, field, site.index, static_cast<std::int64_t>(value))
                      : reflection.SetInt64(message, field, static_cast<std::int64_t>(value));
    default:
      return repeated ? reflection.SetRepeatedUInt64(message, field, site.index, value) : reflection.SetUInt64(message, field, value);
  }
}

void set_text(const Site& site, std::string value) {
  const pb::Reflection& reflection = *site.message->GetReflection();
  if (site.field->is_repeated()) return reflection.SetRepeatedString(site.message, site.field, site.index, std::move(value));
  reflection.SetString(site.message, site.field, std::move(value));
}

void set_float(const Site& site, float value) {
  const pb::Reflection& reflection = *site.message->GetReflection();
  if (site.field->cpp_type() == pb::FieldDescriptor::CPPTYPE_DOUBLE) {
    if (site.field->is_repeated()) return reflection.SetRepeatedDouble(site.message, site.field, site.index, value);
    return reflection.SetDouble(site.message, site.field, value);
  }
  if (site.field->is_repeated()) return reflection.SetRepeatedFloat(site.message, site.field, site.index, value);
  reflection.SetFloat(site.message, site.field, value);
}

void set_enumerator(const Site& site, int value) {
  const pb::Reflection& reflection = *site.message->GetReflection();
  if (site.field->is_repeated()) return reflection.SetRepeatedEnumValue(site.message, site.field, site.index, value);
  reflection.SetEnumValue(site.message, site.field, value);
}

void add_element(pb::Message& message, const pb::FieldDescriptor& field) {
  const pb::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return reflection.AddUInt32(&message, &field, 0);
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return reflection.AddInt32(&message, &field, 0);
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return reflection.AddUInt64(&message, &field, 0);
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return reflection.AddInt64(&message, &field, 0);
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.AddFloat(&message, &field, 0);
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.AddDouble(&message, &field, 0);
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return reflection.AddBool(&message, &field, false);
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return reflection.AddEnumValue(&message, &field, 0);
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return reflection.AddString(&message, &field, "");
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      reflection.AddMessage(&message, &field);
  }
}

// The element that is there, again and again.
void multiply(const Site& site) {
  pb::Message& message = *site.message;
  const pb::Reflection& reflection = *message.GetReflection();
  for (int i = 1; i < kManyElements; ++i) {
    if (site.field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      reflection.AddMessage(&message, site.field)->CopyFrom(reflection.GetRepeatedMessage(message, site.field, 0));
    } else if (site.field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING) {
      reflection.AddString(&message, site.field, reflection.GetRepeatedString(message, site.field, 0));
    } else {
      add_element(message, *site.field);
    }
  }
}

void collect(pb::Message& message, std::vector<Site>& sites) {
  std::vector<const pb::FieldDescriptor*> present;
  message.GetReflection()->ListFields(message, &present);
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.GetDescriptor()->field(i);
    const bool there = std::find(present.begin(), present.end(), &field) != present.end();
    if (field.real_containing_oneof() != nullptr && !there) continue;  // of another kind
    const int count = field.is_repeated() ? message.GetReflection()->FieldSize(message, &field) : 0;
    if (field.is_repeated() || field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) sites.push_back({&message, &field, -1});
    if (field.cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!field.is_repeated() || count > 0) sites.push_back({&message, &field, 0});
    } else if (field.is_repeated() && count > 0) {
      collect(*message.GetReflection()->MutableRepeatedMessage(&message, &field, 0), sites);
    } else if (!field.is_repeated() && there) {
      collect(*message.GetReflection()->MutableMessage(&message, &field), sites);
    }
  }
}

bool names_a_peer(const std::string& name) {
  for (const char* word : {"peer", "keeper", "home", "leader", "host", "current", "target"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

}  // namespace

Mutator::Mutator(const Protocol& protocol, Knowledge knowledge, std::uint64_t seed)
    : protocol_(protocol), knowledge_(std::move(knowledge)), rng_(seed) {}

std::unique_ptr<pb::Message> Mutator::plausible(const MessageKind& kind) {
  auto message = protocol_.make();
  thread_ = knowledge_.threads.empty() ? 1 : knowledge_.threads[rng_.below(knowledge_.threads.size())];
  descend(*message, kind);  // decides the oneofs on the way
  fill(*message, 0);
  return message;
}

void Mutator::fill(pb::Message& message, int depth) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.GetDescriptor()->field(i);
    const pb::Reflection& reflection = *message.GetReflection();
    if (const pb::OneofDescriptor* choice = field.real_containing_oneof(); choice != nullptr) {
      if (!reflection.HasOneof(message, choice))
        fill_field(message, *choice->field(static_cast<int>(rng_.below(static_cast<std::uint64_t>(choice->field_count())))), depth);
      if (!reflection.HasField(message, &field)) continue;
    }
    fill_field(message, field, depth);
  }
}

// Fills in proofs that the stranger can sign itself.
bool Mutator::fill_proof(pb::Message& message) {
  if (own_ == nullptr) return false;
  const std::string& type = message.GetDescriptor()->name();
  if (type == "SignedCharter")
    message.CopyFrom(*own_->charter());
  else if (type == "SignedRoster")
    message.CopyFrom(*own_->roster());
  else if (type == "SignedGrant")
    message.CopyFrom(*own_->grant(thread_, kOnly, kOnly));
  else
    return false;
  return true;
}

void Mutator::fill_field(pb::Message& message, const pb::FieldDescriptor& field, int depth) {
  const pb::Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
    if (depth == kMaxDepth) return;
    pb::Message& inner = field.is_repeated() ? *reflection.AddMessage(&message, &field) : *reflection.MutableMessage(&message, &field);
    return fill_proof(inner) ? void() : fill(inner, depth + 1);
  }
  const int elements = field.cpp_type() == pb::FieldDescriptor::CPPTYPE_FLOAT ? kDimensions : 1;
  for (int i = 0; field.is_repeated() && i < elements; ++i) add_element(message, field);
  const Site site{&message, &field, 0};
  if (is_number(field.cpp_type())) return set_number(site, some_number(field, depth));
  if (field.type() == pb::FieldDescriptor::TYPE_BYTES) return set_text(site, some_bytes(field));
  if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING)
    return set_text(site, field.name() == "address" ? "10.83.0.9:7400" : "something to read");
}

std::string Mutator::some_bytes(const pb::FieldDescriptor& field) {
  const auto any = [&](const std::vector<std::string>& of) { return of.empty() ? random_bytes(32) : of[rng_.below(of.size())]; };
  if (field.name() == "job") return own_ != nullptr ? own_->id() : any(knowledge_.jobs);
  if (field.name() == "grid") return any(knowledge_.grids);
  if (field.name() == "signature") return random_bytes(64);
  if (names_a_peer(field.name())) return any(knowledge_.peers);
  if (field.name() == "hash" && rng_.below(2) == 0) return any(knowledge_.jobs);
  return random_bytes(32);
}

std::uint64_t Mutator::some_number(const pb::FieldDescriptor& field, int depth) {
  if (depth == 0) return field.name() == "version" ? knowledge_.protocol : 1;  // and the boot
  if (field.name() == "thread") return thread_;
  if (field.name() == "claim") return claim_;
  if (field.name() == "term" || field.name() == "roster_version" || field.name() == "epoch" || field.name() == "keeper_generation")
    return kOnly;
  if (field.name() == "free_slots") return 1;  // no more than the slots, however many those are
  return 1 + rng_.below(3);
}

std::string Mutator::random_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng_.next());
  return bytes;
}

std::vector<Site> Mutator::sites(pb::Message& message) {
  std::vector<Site> found;
  collect(message, found);
  return found;
}

int Mutator::variants(const Site& site) {
  if (site.index == -1) return site.field->is_repeated() ? 2 : 1;
  if (is_number(site.field->cpp_type())) return kNumbers.size();
  switch (site.field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_STRING:
      return static_cast<int>(site.field->type() == pb::FieldDescriptor::TYPE_BYTES ? kSizes.size() : kTexts.size() + 1);
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return kEnumerators.size();
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return 2;
    default:
      return kFloats.size();
  }
}

void Mutator::mutate(const Site& site, int variant) {
  const pb::Reflection& reflection = *site.message->GetReflection();
  variant %= variants(site);  // the message may have chosen another of its alternatives than the one that was counted
  const auto at = static_cast<std::size_t>(variant);
  if (site.index == -1 && variant == 0) return reflection.ClearField(site.message, site.field);
  if (site.index == -1) return reflection.FieldSize(*site.message, site.field) == 0 ? void() : multiply(site);
  if (is_number(site.field->cpp_type())) return set_number(site, kNumbers[at]);
  switch (site.field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_STRING:
      if (site.field->type() == pb::FieldDescriptor::TYPE_BYTES) return set_text(site, random_bytes(kSizes[at]));
      return set_text(site, at < kTexts.size() ? std::string(kTexts[at]) : std::string(kLongBytes, 'x'));
    case pb::FieldDescriptor::CPPTYPE_ENUM:
      return set_enumerator(site, kEnumerators[at]);
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return site.field->is_repeated() ? reflection.SetRepeatedBool(site.message, site.field, site.index, variant == 1)
                                       : reflection.SetBool(site.message, site.field, variant == 1);
    default:
      return set_float(site, kFloats[at]);
  }
}

}  // namespace gw::hostile
