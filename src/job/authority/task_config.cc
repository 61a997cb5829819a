#include "job/authority/task_config.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "wire/messages/worker_frames.h"
#include "wire/names.h"

namespace gw::job {
namespace {

std::string seed_of(const std::string& shared, std::uint32_t task) {
  ByteWriter seed;
  seed.bytes(as_bytes(shared));
  seed.u32(task);
  return wire::bytes_of(sha256(seed.take()));
}

std::size_t bytes_of_strings(const google::protobuf::RepeatedPtrField<std::string>& strings) {
  std::size_t bytes = 0;
  for (const std::string& one : strings) bytes += one.size() + 1;
  return bytes;
}

}  // namespace

Result<std::string> tree_path_of(std::string_view text) {
  std::string path;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view name = rest.substr(0, slash);
    rest.remove_prefix(std::min(rest.size(), slash + 1));
    if (name.empty() || name == ".") continue;
    path.append(path.empty() ? "" : "/").append(name);
  }
  if (!wire::is_tree_path(path)) return fail(Kind::invalid, "'{}' is no path that a task can write: it must lie below its folder", text);
  if (text.ends_with('/')) path += '/';
  return path;
}

Result<std::vector<Template>> TaskConfigs::parse_all(const Strings& texts, const std::vector<std::string>& columns) {
  std::vector<Template> templates;
  templates.reserve(static_cast<std::size_t>(texts.size()));
  for (const std::string& text : texts) {
    GW_TRY(templates.emplace_back(), Template::parse(text, columns));
  }
  return templates;
}

Result<TaskConfigs> TaskConfigs::make(const wire::pb::ThreadConfig& shared, std::uint32_t tasks, const wire::pb::TaskValues& values) {
  TaskConfigs configs;
  configs.shared_ = shared;
  configs.tasks_ = tasks;
  if (tasks == 0) return configs;
  // first + k * step must not overflow.
  constexpr std::int64_t kMaxFirst = std::int64_t{1} << 62, kMaxStep = std::int64_t{1} << 40;
  if (values.first() > kMaxFirst || values.first() < -kMaxFirst || values.step() > kMaxStep || values.step() < -kMaxStep)
    return fail(Kind::invalid, "the numbers of the tasks are too large: {} in steps of {}", values.first(), values.step());
  configs.first_ = values.first();
  configs.step_ = values.step() == 0 ? 1 : values.step();
  configs.has_rows_ = values.has_rows();
  std::vector<std::string> columns(values.columns().begin(), values.columns().end());
  if (!configs.has_rows_) columns = {""};
  for (const std::string& column : columns)
    if (!column.empty() && !is_column_name(column))
      return fail(Kind::invalid, "'{}' cannot be the name of a value: use letters, digits, '_' and '-'", column);
  configs.columns_ = columns.size();
  GW_TRY(configs.args_, parse_all(shared.args(), columns));
  GW_TRY(configs.env_, parse_all(shared.env(), columns));
  GW_TRY(configs.outputs_, parse_all(values.outputs(), columns));
  configs.shared_.clear_args();
  configs.shared_.clear_env();
  return configs;
}

Status TaskConfigs::expand_all(const std::vector<Template>& templates, const PlaceholderValues& values, Strings& out) {
  std::size_t bytes = bytes_of_strings(out);
  for (const Template& one : templates) {
    std::string& text = *out.Add();
    if (bytes > kMaxBytes || !one.expand(values, kMaxBytes - bytes, text))
      return fail(Kind::invalid, "the arguments, variables or outputs of task {} have more than {} bytes together", values.number,
                  kMaxBytes);
    bytes += text.size() + 1;
  }
  return ok();
}

Result<wire::pb::ThreadConfig> TaskConfigs::config_of(std::uint32_t task, const wire::pb::TaskRow* row) const {
  wire::pb::ThreadConfig config = shared_;
  config.set_random_seed(seed_of(shared_.random_seed(), task));
  if (tasks_ == 0) return config;
  if ((row != nullptr) != has_rows_ || (row != nullptr && static_cast<std::size_t>(row->values_size()) != columns_))
    return fail(Kind::invalid, "the row of task {} does not have the values that the job names", task);
  const std::string number = std::to_string(task);
  std::vector<std::string> own;
  if (row != nullptr) {
    own.assign(row->values().begin(), row->values().end());
    for (const wire::pb::InputEntry& entry : row->inputs()) *config.add_inputs() = entry;
    if (row->has_standard_input()) *config.mutable_standard_input() = row->standard_input();
  } else {
    own = {std::to_string(first_ + std::int64_t{task} * step_)};
  }
  const PlaceholderValues values{number, own};
  GW_TRY_VOID(expand_all(args_, values, *config.mutable_args()));
  GW_TRY_VOID(expand_all(env_, values, *config.mutable_env()));
  if (row != nullptr) {
    for (const std::string& argument : row->args()) config.add_args(argument);
    for (const std::string& variable : row->env()) config.add_env(variable);
    if (bytes_of_strings(config.args()) > kMaxBytes || bytes_of_strings(config.env()) > kMaxBytes)
      return fail(Kind::invalid, "the arguments or variables of task {} have more than {} bytes", task, kMaxBytes);
  }
  config.add_env("GODWIT_TASK=" + number);
  config.add_env(fmt::format("GODWIT_TASKS={}", tasks_));
  Strings outputs;
  GW_TRY_VOID(expand_all(outputs_, values, outputs));
  if (row != nullptr) outputs.MergeFrom(row->outputs());
  for (const std::string& output : outputs) {
    GW_TRY(*config.add_outputs(), tree_path_of(output));
  }
  return config;
}

}  // namespace gw::job
