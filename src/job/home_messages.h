#pragma once
// What the home of a job says to its hosts and keepers.

#include "job/actions.h"
#include "job/charter.h"
#include "job/thread_table.h"

namespace gw::job {

JobMessage reserve_message(const Charter& charter, std::uint32_t slots);
JobMessage claim_message(std::uint64_t claim);
JobMessage release_message(std::uint64_t claim);
// REQUIRES: the thread is placed and has a keeper.
JobMessage assign_message(ThreadId id, const HomeThread& thread, wire::pb::SignedGrant grant);
JobMessage drop_message(ThreadId id, std::uint64_t epoch);
JobMessage stored_message(ThreadId id, std::uint64_t epoch, std::uint64_t sequence);
JobMessage input_message(ThreadId id, std::uint64_t epoch, std::uint64_t piece, const std::string& bytes);
// Of the threads that this keeper asks about, those that it need not keep.
JobMessage forget_message(const PeerId& keeper, const JobMessage::AskKept& asked, const ThreadTable& threads);

// What a host says about a child that is forked by one of these effects; nullptr: nothing.
const JobMessage::Effects::Child* forked_in(const JobMessage::Effects& message, ThreadId child);

}  // namespace gw::job
