#pragma once
// Builds the messages that the home of a job sends to its hosts and keepers.

#include "job/actions.h"
#include "job/home/thread_table.h"

namespace gw::job {

// `want_full`: to be answered by a full status. `slots`: how many of the offered ones are taken.
JobMessage claim_message(std::uint64_t claim, bool want_full, std::uint32_t slots, std::uint64_t children);
JobMessage release_message(std::uint64_t claim);
// REQUIRES: the thread is placed and has a keeper.
JobMessage assign_message(ThreadId id, const HomeThread& thread, wire::pb::SignedGrant grant);
JobMessage drop_message(ThreadId id, std::uint64_t epoch);
JobMessage suspend_message(ThreadId id, std::uint64_t epoch);
// `children`: threads of the job that were forked and have not ended.
JobMessage stored_message(ThreadId id, std::uint64_t epoch, const StreamMarks& streams, std::uint64_t children);
// Names the threads, of those that this keeper asks about, that it need not keep.
JobMessage forget_message(const PeerId& keeper, const JobMessage::AskKept& asked, const ThreadTable& threads);

}  // namespace gw::job
