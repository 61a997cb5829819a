#include "job/effects/stored_effect.h"

#include <gtest/gtest.h>

#include "job/test/effects.h"

namespace gw::job {
namespace {

TEST(StoredEffect, ComesBackAsItWas) {
  std::vector<Effect> effects(5);
  effects[0] = test::output(1, "printed");
  effects[1].set_report("partial");
  effects[2].mutable_file()->set_path("result");
  effects[2].mutable_file()->set_bytes("content");
  effects[2].mutable_file()->set_last(true);
  effects[3].mutable_end()->set_exit_code(3);
  effects[4] = test::spawn(ThreadId{7});
  for (Effect& effect : effects) {
    effect.set_thread(kMainThread.value());
    effect.set_epoch(2);
    wire::set_stream(effect);
    effect.set_sequence(9);
    const EffectEntry entry = entry_of(effect);
    EXPECT_EQ(entry.header.bytes, entry.bytes.size());
    EXPECT_EQ(entry_bytes(effect), entry.bytes.size());
    EXPECT_EQ(effect_of(entry).value().SerializeAsString(), effect.SerializeAsString());
  }
}

TEST(StoredEffect, HasTheStreamThatItsKindBelongsTo) {
  EXPECT_EQ(entry_of(test::output(1, "x")).header.stream, kHomeStream);
  EXPECT_EQ(entry_of(test::spawn(1)).header.stream, kLogStream);
  EXPECT_EQ(stream_of(EffectKind::spawn), kLogStream);
  for (const EffectKind kind : {EffectKind::output, EffectKind::errors, EffectKind::report, EffectKind::file, EffectKind::end})
    EXPECT_EQ(stream_of(kind), kHomeStream);
  EffectEntry entry = entry_of(test::spawn(1));
  entry.header.stream = kHomeStream;
  EXPECT_EQ(effect_of(entry).error().kind, Kind::corrupt);
}

TEST(StoredEffect, BytesOfAnotherEffectAreRefused) {
  EffectEntry entry = entry_of(test::output(1, "printed"));
  entry.bytes = "other";
  EXPECT_EQ(effect_of(entry).error().kind, Kind::corrupt);
}

}  // namespace
}  // namespace gw::job
