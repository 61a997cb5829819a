#pragma once
// The frames of worker.proto as bytes, checked where they enter.

#include <cstddef>

#include "base/bytes.h"
#include "wire/worker.pb.h"

namespace gw::wire {

inline constexpr std::size_t kMaxFrameBytes = 2u << 20;
inline constexpr std::size_t kMaxEffectBytes = 1u << 20;  // of the bytes in one effect
inline constexpr std::size_t kInputChunkBytes = 1u << 20;
inline constexpr std::size_t kMaxInputPiece = 64u << 10;  // of standard input: a guest takes a piece as a whole
inline constexpr std::size_t kMaxThreadConfigBytes = 64u << 20;
inline constexpr std::size_t kMaxPathBytes = 4096;
inline constexpr std::uint32_t kMaxTasks = 1u << 20;  // of a job
inline constexpr std::size_t kMaxRowSegmentBytes = 1u << 20;
inline constexpr std::size_t kMaxRowSegments = 4096;        // of a job
inline constexpr std::uint32_t kMaxSegmentRows = 1u << 14;  // a row in memory is 50 times as large as an empty one in its segment
inline constexpr std::size_t kMaxColumns = 256;
inline constexpr std::size_t kMaxStages = 1u << 16;         // of a graph of tasks
inline constexpr std::size_t kMaxGraphEdges = 1u << 18;     // between stages
inline constexpr std::size_t kMaxFilesFrom = 4096;          // files of other tasks that a row names
inline constexpr std::size_t kMaxFileListBytes = 1u << 20;  // of the files that a task leaves for others
inline constexpr std::size_t kMaxRowInputs = 1u << 18;      // pieces of input files that the rows of a job name: 256 GiB
inline constexpr int kMaxMails = 4096;                      // messages in one frame
inline constexpr std::uint32_t kWorkerProtocol = 4;         // in Hello

// Kind::overloaded if the frame would be longer than kMaxFrameBytes: its content must be split, or travel in sealed memory.
Result<Bytes> encode(const pb::ToWorker& frame);
Result<Bytes> encode(const pb::FromWorker& frame);

// Take a frame as it came, with the number of descriptors beside it. Kind::invalid if it breaks a rule, with the rule. What is left to the
// receiver is what only it knows: which threads there are, and what may come when.
Result<pb::ToWorker> decode_to_worker(ByteView payload, std::size_t descriptors);
Result<pb::FromWorker> decode_from_worker(ByteView payload, std::size_t descriptors);

// The configuration of a thread, which comes in sealed memory beside Start.
Result<pb::ThreadConfig> decode_thread_config(ByteView bytes);

// The rules for an effect and for what a thread starts with, wherever they come from. Kind::invalid with the rule that is broken.
Status check_effect(const pb::Effect& effect);
// Messages on their way to their receiver.
Status check_mails(std::uint64_t first, const google::protobuf::RepeatedPtrField<pb::Mail>& mails);
// The effects of a result are those of the task's thread in its first epoch, without gaps, without forks, and end with its end.
Status check_task_result(const pb::TaskResult& result);
Status check_range(const pb::TaskRange& range);
Status check_config(const pb::ThreadConfig& config);
Status check_row(const pb::TaskRow& row);
// A segment of rows. Kind::invalid, also if it has another number of rows.
Result<pb::TaskRows> decode_task_rows(ByteView bytes, std::uint32_t rows);

// The list of the files that a task has left. Kind::invalid.
Result<pb::TaskFileList> decode_task_files(ByteView bytes);

// A path inside a guest's tree: relative, no empty, "." or ".." component, no NUL, at most kMaxPathBytes.
bool is_tree_path(std::string_view path);

}  // namespace gw::wire
