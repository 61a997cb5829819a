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
// A main file without its log is complete in two cases, and damaged otherwise:
//  - The store was closed in order, which the main file says itself (kClosedMark): all of its log was copied to the main file first.
//  - Another SQLite, such as the tool of an owner who looks into the store of a stopped or killed daemon, was the last one to close it.
//    SQLite then copies the whole log to the main file and deletes the -shm file and after it the log. The store itself never deletes
//    either (SQLITE_FCNTL_PERSIST_WAL), so a -shm file without a log shows that something else has deleted the log.
// A user who deletes both files of a killed daemon is not detected.
//
// Kind::corrupt: the log has lost a transaction. Reads the log in pieces, however long it is. REQUIRES: no process has the store open.
inline constexpr std::uint32_t kFormatWithLog = 2;      // of the store, in the user_version of the database
inline constexpr std::uint32_t kClosedMark = 1u << 16;  // added to it while the store is closed
Status check_wal(const std::filesystem::path& database);

}  // namespace gw::node
