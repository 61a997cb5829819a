#include "cli/jobs/graph_file.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "cli/nearest.h"
#include "job/authority/placeholders.h"
#include "job/authority/task_config.h"
#include "job/tasks/task_graph.h"
#include "os/files/file.h"
#include "wire/messages/worker_frames.h"

// Header only, and without exceptions: the library that Debian builds throws.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace gw::cli {
namespace {

constexpr std::size_t kMaxTextBytes = 64u << 10;
const std::vector<std::string> kKeys = {"name", "after", "args", "env", "stdin", "inputs", "outputs", "tasks", "each"};

using Line = toml::source_index;

// A stage as it is written, without what concerns others.
struct Stage {
  std::string name;
  Line line = 0;
  std::vector<std::string> after;
  std::vector<std::string> args, env, inputs, outputs;
  std::string standard_input;
  std::vector<std::string> values;  // of the tasks of an array; empty: it is one task
  bool is_array = false;
  std::uint32_t first = 0;  // its first task, in the order of the file
  std::uint32_t count() const { return is_array ? static_cast<std::uint32_t>(values.size()) : 1; }
};

// A task that leaves a file or folder.
struct Producer {
  std::uint32_t stage, task;  // in the order of the file
  std::string guest;
};

std::string normal(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

class GraphReader {
 public:
  explicit GraphReader(std::string_view file) : file_(file) {}
  Result<GraphFile> read(std::string_view text);

 private:
  template <class... Args>
  Error wrong(Line line, fmt::format_string<Args...> text, Args&&... args) const {
    return fail(Kind::invalid, "{}, line {}: {}", file_, line, fmt::format(text, std::forward<Args>(args)...));
  }
  Result<std::string> text_in(const toml::node& node, std::string_view key) const;
  Result<std::vector<std::string>> texts_in(const toml::node& node, std::string_view key) const;
  Status read_stage(const toml::table& table);
  Status read_array(const toml::table& table, Stage& stage) const;
  Status make_tasks(const Stage& stage);
  Result<GraphTask> make_task(const Stage& stage, std::uint32_t index) const;
  Result<std::string> expand(const Stage& stage, std::uint32_t index, const std::string& text) const;
  Status add_outputs();
  Status add_inputs(std::uint32_t stage, std::uint32_t task);
  // The files of other tasks that the path stands for; none: it is one of this machine.
  Result<std::vector<wire::pb::FromTask>> find_producers(std::uint32_t stage, const InputPath& path);
  Status add_before(std::uint32_t stage, std::uint32_t earlier, std::string_view path);
  Status add_named();
  Status put_in_order();
  Error circle(const std::vector<std::uint32_t>& left) const;
  Result<GraphFile> result();

  const std::string file_;
  std::vector<Stage> stages_;
  std::map<std::string, std::uint32_t> names_;
  std::vector<GraphTask> tasks_;               // in the order of the file
  std::map<std::string, Producer> producers_;  // by path on this machine
  std::vector<std::set<std::uint32_t>> before_;
  std::vector<std::uint8_t> is_read_;  // for each stage: others read its outputs
  std::size_t edges_ = 0;
  std::vector<std::uint32_t> order_;  // stages by their numbers
};

// --- reading

Result<std::string> GraphReader::text_in(const toml::node& node, std::string_view key) const {
  if (const auto text = node.value_exact<std::string>()) {
    if (text->size() <= kMaxTextBytes && text->find('\0') == std::string::npos) return *text;
    return wrong(node.source().begin.line, "a text of '{}' is too long: at most {} bytes", key, kMaxTextBytes);
  }
  if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
  return wrong(node.source().begin.line, "'{}' has texts in quotes, or whole numbers", key);
}

Result<std::vector<std::string>> GraphReader::texts_in(const toml::node& node, std::string_view key) const {
  const toml::array* list = node.as_array();
  if (list == nullptr) return wrong(node.source().begin.line, "'{}' is a list, as in {} = [\"...\"]", key, key);
  std::vector<std::string> texts;
  for (const toml::node& one : *list) {
    GW_TRY(texts.emplace_back(), text_in(one, key));
  }
  return texts;
}

Status GraphReader::read_array(const toml::table& table, Stage& stage) const {
  const toml::node* tasks = table.get("tasks");
  const toml::node* each = table.get("each");
  if (tasks == nullptr && each == nullptr) return ok();
  stage.is_array = true;
  if (tasks != nullptr && each != nullptr)
    return wrong(stage.line, "'tasks' and 'each' both say how many tasks '{}' has: give one of them", stage.name);
  if (each != nullptr) {
    GW_TRY(stage.values, texts_in(*each, "each"));
  } else {
    const std::int64_t count = tasks->value_exact<std::int64_t>().value_or(0);
    if (count < 1 || count > wire::kMaxTasks) return wrong(tasks->source().begin.line, "'tasks' is a number from 1 to {}", wire::kMaxTasks);
    for (std::int64_t i = 0; i < count; ++i) stage.values.push_back(std::to_string(i));
  }
  if (stage.values.empty()) return wrong(each->source().begin.line, "'each' has no values");
  return ok();
}

Status GraphReader::read_stage(const toml::table& table) {
  Stage stage{.line = table.source().begin.line};
  for (const auto& [key, node] : table) {
    if (std::ranges::find(kKeys, key.str()) != kKeys.end()) continue;
    const auto meant = nearest(key.str(), kKeys);
    return wrong(key.source().begin.line, "there is no '{}' for a task{}", key.str(),
                 meant ? fmt::format(": did you mean '{}'?", *meant) : "");
  }
  const toml::node* name = table.get("name");
  if (name == nullptr) return wrong(stage.line, "a task has no name: write name = \"...\"");
  GW_TRY(stage.name, text_in(*name, "name"));
  if (!job::is_stage_name(stage.name))
    return wrong(name->source().begin.line, "'{}' is not a name for a task: use 1 to 64 letters, digits, '.', '-' and '_'", stage.name);
  const auto [known, is_new] = names_.emplace(stage.name, static_cast<std::uint32_t>(stages_.size()));
  if (!is_new) return wrong(stage.line, "two tasks are called '{}': the first is in line {}", stage.name, stages_[known->second].line);
  for (const auto& [key, list] :
       std::initializer_list<std::pair<std::string_view, std::vector<std::string> Stage::*>>{{"after", &Stage::after},
                                                                                             {"args", &Stage::args},
                                                                                             {"env", &Stage::env},
                                                                                             {"inputs", &Stage::inputs},
                                                                                             {"outputs", &Stage::outputs}})
    if (const toml::node* node = table.get(key)) {
      GW_TRY(stage.*list, texts_in(*node, key));
    }
  if (const toml::node* node = table.get("stdin")) {
    GW_TRY(stage.standard_input, text_in(*node, "stdin"));
  }
  GW_TRY_VOID(read_array(table, stage));
  stage.first = stages_.empty() ? 0 : stages_.back().first + stages_.back().count();
  if (std::uint64_t{stage.first} + stage.count() > wire::kMaxTasks)
    return wrong(stage.line, "there are more than {} tasks: make several jobs of them, with --after", wire::kMaxTasks);
  if (stages_.size() >= wire::kMaxStages)
    return wrong(stage.line, "there are more than {} names: give tasks that differ in a value one name, with 'each'", wire::kMaxStages);
  stages_.push_back(std::move(stage));
  return ok();
}

// --- tasks

Result<std::string> GraphReader::expand(const Stage& stage, std::uint32_t index, const std::string& text) const {
  if (!stage.is_array) return text;
  const std::vector<std::string> columns = {""};
  const auto parsed = job::Template::parse(text, columns);
  if (!parsed) return wrong(stage.line, "task '{}': {}", stage.name, parsed.error().detail);
  std::string expanded;
  const std::string number = std::to_string(index);
  if (!parsed->expand({number, std::span(&stage.values[index], 1)}, kMaxTextBytes, expanded))
    return wrong(stage.line, "task {} of '{}' has a text of more than {} bytes", index, stage.name, kMaxTextBytes);
  return expanded;
}

Result<GraphTask> GraphReader::make_task(const Stage& stage, std::uint32_t index) const {
  GraphTask task;
  for (const auto& [from, to] : {std::pair(&stage.args, &task.args), std::pair(&stage.env, &task.env)})
    for (const std::string& text : *from) {
      GW_TRY(to->emplace_back(), expand(stage, index, text));
    }
  for (const std::string& variable : task.env)
    if (variable.find('=') == std::string::npos || variable.starts_with('='))
      return wrong(stage.line, "'{}' of task '{}' is no variable: write NAME=VALUE", variable, stage.name);
  for (const std::string& text : stage.inputs) {
    GW_TRY(const std::string words, expand(stage, index, text));
    task.inputs.push_back(split_paths(words));
  }
  GW_TRY(task.standard_input, expand(stage, index, stage.standard_input));
  for (const std::string& text : stage.outputs) {
    GW_TRY(const std::string words, expand(stage, index, text));
    const InputPath paths = split_paths(words);
    auto guest = job::tree_path_of(paths.guest);
    if (!guest || paths.host.empty())
      return wrong(stage.line, "the output '{}' of task '{}': {}; give the program's path with HOST:GUEST", words, stage.name,
                   guest ? "it names no file" : guest.error().detail);
    task.outputs.push_back({paths.host, *std::move(guest)});
  }
  return task;
}

Status GraphReader::make_tasks(const Stage& stage) {
  for (std::uint32_t index = 0; index < stage.count(); ++index) {
    GW_TRY(GraphTask task, make_task(stage, index));
    tasks_.push_back(std::move(task));
  }
  return ok();
}

// Two tasks must not write the same place, nor one of them below a place of another.
Status GraphReader::add_outputs() {
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage)
    for (std::uint32_t i = 0; i < stages_[stage].count(); ++i) {
      const std::uint32_t number = stages_[stage].first + i;
      for (node::Mount& output : tasks_[number].outputs) {
        if (output.guest.ends_with('/')) output.guest.pop_back();
        const std::string host = normal(output.host.string());
        const auto [known, is_new] = producers_.emplace(host, Producer{stage, number, output.guest});
        output.host = host;
        if (is_new) continue;
        const Stage& other = stages_[known->second.stage];
        if (known->second.stage == stage)
          return wrong(other.line, "two tasks of '{}' write '{}': put {{#}} or {{}} into its name", other.name, host);
        return wrong(stages_[stage].line, "'{}' and '{}' (line {}) both write '{}'", stages_[stage].name, other.name, other.line, host);
      }
    }
  std::map<std::string, const Producer*> open;  // with a slash at the end, which sorts a folder just before what is in it
  for (const auto& [path, producer] : producers_) open.emplace(path + "/", &producer);
  for (auto one = open.begin(); one != open.end(); ++one) {
    const auto next = std::next(one);
    if (next == open.end() || !next->first.starts_with(one->first)) continue;
    const Stage &outer = stages_[one->second->stage], &inner = stages_[next->second->stage];
    return wrong(inner.line, "'{}' writes '{}', which is in '{}', an output of '{}' (line {})", inner.name,
                 next->first.substr(0, next->first.size() - 1), one->first, outer.name, outer.line);
  }
  return ok();
}

// --- what comes before what

Status GraphReader::add_before(std::uint32_t stage, std::uint32_t earlier, std::string_view path) {
  if (stage == earlier) return wrong(stages_[stage].line, "task '{}' reads '{}', which it writes itself", stages_[stage].name, path);
  if (before_[stage].insert(earlier).second) ++edges_;
  if (edges_ <= wire::kMaxGraphEdges) return ok();
  return wrong(stages_[stage].line, "there are more than {} pairs of tasks that follow each other: give tasks alike one name, with 'each'",
               wire::kMaxGraphEdges);
}

Result<std::vector<wire::pb::FromTask>> GraphReader::find_producers(std::uint32_t stage, const InputPath& path) {
  std::vector<wire::pb::FromTask> found;
  const auto add = [&](const Producer& producer, const std::string& rest, const std::string& guest) -> Status {
    auto tree_path = job::tree_path_of(guest);
    if (!tree_path)
      return wrong(stages_[stage].line, "the input '{}' of task '{}': {}", path.host, stages_[stage].name, tree_path.error().detail);
    if (tree_path->ends_with('/')) tree_path->pop_back();
    GW_TRY_VOID(add_before(stage, producer.stage, path.host));
    is_read_[producer.stage] = 1;
    wire::pb::FromTask& from = found.emplace_back();
    from.set_task(producer.task);
    from.set_output(producer.guest + rest);
    from.set_path(*std::move(tree_path));
    return ok();
  };
  const std::string host = normal(path.host);
  std::string above = host;
  for (;;) {
    if (const auto producer = producers_.find(above); producer != producers_.end()) {
      GW_TRY_VOID(add(producer->second, host.substr(above.size()), path.guest));
      return found;
    }
    const std::size_t slash = above.rfind('/');
    if (slash == std::string::npos || slash == 0) break;
    above.resize(slash);
  }
  if (host.find_first_of("*?[") == std::string::npos) return found;
  for (const auto& [output, producer] : producers_) {
    if (::fnmatch(host.c_str(), output.c_str(), FNM_PATHNAME) != 0) continue;
    const std::string name = std::filesystem::path(output).filename().string();
    GW_TRY_VOID(add(producer, "", path.guest == path.host ? output : path.guest + "/" + name));
  }
  return found;
}

Status GraphReader::add_inputs(std::uint32_t stage, std::uint32_t number) {
  GraphTask& task = tasks_[number];
  std::vector<InputPath> here;
  for (InputPath& input : task.inputs) {
    GW_TRY(std::vector<wire::pb::FromTask> from, find_producers(stage, input));
    if (from.empty()) here.push_back(std::move(input));
    for (wire::pb::FromTask& one : from) task.files_from.push_back(std::move(one));
  }
  task.inputs = std::move(here);
  if (task.standard_input.empty()) return ok();
  GW_TRY(std::vector<wire::pb::FromTask> from, find_producers(stage, {task.standard_input, "stdin"}));
  if (from.size() > 1) return wrong(stages_[stage].line, "'{}' stands for several files: standard input is one", task.standard_input);
  if (from.empty()) return ok();
  task.standard_input_from = std::move(from.front());
  task.standard_input.clear();
  return ok();
}

Status GraphReader::add_named() {
  std::vector<std::string> known;
  for (const Stage& stage : stages_) known.push_back(stage.name);
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage)
    for (const std::string& name : stages_[stage].after) {
      const auto found = names_.find(name);
      if (found == names_.end()) {
        const auto meant = nearest(name, known);
        return wrong(stages_[stage].line, "task '{}' comes after '{}', and there is no such task{}", stages_[stage].name, name,
                     meant ? fmt::format(": did you mean '{}'?", *meant) : "");
      }
      if (found->second == stage) return wrong(stages_[stage].line, "task '{}' comes after itself", name);
      GW_TRY_VOID(add_before(stage, found->second, name));
    }
  return ok();
}

// Each stage behind those before it, else as in the file.
Status GraphReader::put_in_order() {
  std::vector<std::uint32_t> left(stages_.size());
  std::vector<std::vector<std::uint32_t>> behind(stages_.size());
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage) {
    left[stage] = static_cast<std::uint32_t>(before_[stage].size());
    for (const std::uint32_t earlier : before_[stage]) behind[earlier].push_back(stage);
    if (left[stage] == 0) ready.push(stage);
  }
  while (!ready.empty()) {
    const std::uint32_t stage = ready.top();
    ready.pop();
    order_.push_back(stage);
    for (const std::uint32_t later : behind[stage])
      if (--left[later] == 0) ready.push(later);
  }
  if (order_.size() < stages_.size()) return circle(left);
  return ok();
}

// `left`: for each stage, how many of those before it could not be put in order.
Error GraphReader::circle(const std::vector<std::uint32_t>& left) const {
  // Every stage that is left has one before it that is left too: going from one to the other leads into a circle.
  auto at = static_cast<std::uint32_t>(std::ranges::find_if(left, [](std::uint32_t count) { return count > 0; }) - left.begin());
  std::vector<std::uint32_t> way;
  while (std::ranges::find(way, at) == way.end()) {
    way.push_back(at);
    at = *std::ranges::find_if(before_[at], [&](std::uint32_t earlier) { return left[earlier] > 0; });
  }
  way.erase(way.begin(), std::ranges::find(way, at));
  std::ranges::rotate(way, std::ranges::min_element(way));
  std::string names;
  for (const std::uint32_t stage : way) names += fmt::format("'{}' after ", stages_[stage].name);
  return wrong(stages_[way.front()].line, "the tasks follow each other in a circle: {}'{}'", names, stages_[way.front()].name);
}

Result<GraphFile> GraphReader::result() {
  GraphFile made;
  std::vector<std::uint32_t> stage_numbers(stages_.size()), task_numbers(tasks_.size());
  for (std::uint32_t number = 0; number < order_.size(); ++number) stage_numbers[order_[number]] = number;
  for (const std::uint32_t place : order_) {
    const Stage& stage = stages_[place];
    made.graph.add_names(stage.name);
    made.graph.add_counts(stage.count());
    std::set<std::uint32_t> before;
    for (const std::uint32_t earlier : before_[place]) before.insert(stage_numbers[earlier]);
    made.graph.add_files_are_read(is_read_[place] != 0);
    made.graph.add_before_counts(static_cast<std::uint32_t>(before.size()));
    for (const std::uint32_t earlier : before) made.graph.add_before(earlier);
    for (std::uint32_t i = 0; i < stage.count(); ++i) {
      task_numbers[stage.first + i] = static_cast<std::uint32_t>(made.tasks.size());
      made.tasks.push_back(std::move(tasks_[stage.first + i]));
    }
  }
  for (GraphTask& task : made.tasks) {
    for (wire::pb::FromTask& from : task.files_from) from.set_task(task_numbers[from.task()]);
    if (task.standard_input_from) task.standard_input_from->set_task(task_numbers[task.standard_input_from->task()]);
  }
  return made;
}

Result<GraphFile> GraphReader::read(std::string_view text) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return wrong(parsed.error().source().begin.line, "{}", parsed.error().description());
  const toml::table& table = parsed.table();
  for (const auto& [key, node] : table)
    if (key.str() != "task" || !node.is_array_of_tables())
      return wrong(key.source().begin.line, "'{}' is not known here: a file of tasks has tables [[task]]", key.str());
  const toml::array* list = table["task"].as_array();
  if (list == nullptr) return fail(Kind::invalid, "{} has no tasks: write a table [[task]] with a name for each", file_);
  for (const toml::node& node : *list) GW_TRY_VOID(read_stage(*node.as_table()));
  for (const Stage& stage : stages_) GW_TRY_VOID(make_tasks(stage));
  before_.resize(stages_.size());
  is_read_.resize(stages_.size());
  GW_TRY_VOID(add_outputs());
  GW_TRY_VOID(add_named());
  for (std::uint32_t stage = 0; stage < stages_.size(); ++stage)
    for (std::uint32_t i = 0; i < stages_[stage].count(); ++i) GW_TRY_VOID(add_inputs(stage, stages_[stage].first + i));
  GW_TRY_VOID(put_in_order());
  return result();
}

}  // namespace

Result<GraphFile> parse_graph(std::string_view text, std::string_view file) { return GraphReader(file).read(text); }

Result<GraphFile> read_graph_file(const std::filesystem::path& file) {
  GW_TRY(const Bytes bytes, os::read_file(file, kMaxGraphFileBytes));
  return parse_graph(as_text(bytes), file.string());
}

}  // namespace gw::cli
