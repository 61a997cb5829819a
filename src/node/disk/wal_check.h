#pragma once
// Detects that the write-ahead log of a SQLite database has lost a committed transaction.

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace gw::node {

// SQLite stops at the first frame of a log with a wrong checksum and ignores the rest. That is right after a crash, which may leave the
// last transaction half written, and wrong after damage, which then undoes transactions that were answered as durable. With
// synchronous=FULL a transaction is durable before the next one begins. Therefore a wrong frame is damage if frames of a later transaction
// follow it; damage to the last transaction cannot be told from a crash.
//
// The log file stays when the store is closed, so a store has always both files: one without the other is damage too, from format
// kFormatWithLog of the store on.
//
// Kind::corrupt: the log has lost a transaction. REQUIRES: no process has the store open.
inline constexpr std::uint32_t kFormatWithLog = 2;
Status check_wal(const std::filesystem::path& database);

}  // namespace gw::node
