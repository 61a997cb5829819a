#include "cli/jobs/job_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/console/quantity.h"
#include "cli/jobs/named_files.h"
#include "cli/jobs/worker_program.h"
#include "os/files/file.h"
#include "wire/plain_text.h"

namespace gw::cli {
namespace {

namespace fs = std::filesystem;
using wire::pb::Effect;

std::string resume_line(const std::string& file, const wire::pb::JobSpec& spec) {
  return fmt::format("continue with: godwit resume {}{}", file, names_files(spec) ? " --allow-files" : "");
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

std::string_view reason_name(Effect::End::Reason reason) {
  switch (reason) {
    case Effect::End::EXITED:
      return "exited";
    case Effect::End::TRAPPED:
      return "trapped";
    case Effect::End::LIMIT:
      return "limit";
    case Effect::End::DIVERGED:
      return "diverged";
    default:
      return "terminated";
  }
}

// The sentence itself, and the lines behind it without their indentation.
std::pair<std::string, Json> split_backtrace(const std::string& text) {
  std::size_t end = std::min(text.find('\n'), text.size());
  std::pair<std::string, Json> parts{text.substr(0, end), Json::array()};
  while (end < text.size()) {
    const std::size_t start = end + 1;
    end = std::min(text.find('\n', start), text.size());
    std::string_view line = std::string_view(text).substr(start, end - start);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    parts.second.push_back(line);
  }
  return parts;
}

}  // namespace

std::string suspended_to(const std::string& file, std::uint64_t bytes, const wire::pb::JobSpec& spec) {
  return fmt::format("suspended to {} ({}); {}", file, human_bytes(bytes), resume_line(file, spec));
}

Result<std::unique_ptr<JobRun>> JobRun::prepare(const RunOptions& options, const fs::path& program, Invocation& invocation) {
  GW_TRY(ImageDestination destination, ImageDestination::make(options.image, program));
  std::unique_ptr<JobRun> run(new JobRun(invocation, std::move(destination)));
  GW_TRY_VOID(run->open(options));
  return run;
}

Status JobRun::open(const RunOptions& options) {
  GW_TRY(fs::path cache, os::cache_dir());
  GW_TRY(fs::path worker, worker_program());
  node::NativeCode::Config code = native_code_config(cache, worker);
  if (invocation_.settings[Key::compile_ahead].text == "off") code.filler.clear();
  GW_TRY(code_, node::NativeCode::open(std::move(code)));
  fs::path input_file;
  if (!options.stdin_file.empty()) {
    GW_TRY_VOID(open_stdin_file(options.stdin_file));  // a wrong name is an answer to the option
    input_file = fs::absolute(options.stdin_file).lexically_normal();
  }
  GW_TRY(interrupts_, Interrupts::make());  // before any thread, which would take the signals
  const bool checkpoints = invocation_.settings.checkpoint_every().has_value();
  GW_TRY(screen_, JobScreen::make(invocation_.console, checkpoints ? JobScreen::Checkpoints::some : JobScreen::Checkpoints::none));
  config_.emplace(node::EmbeddedPeer::Config{.worker = worker,
                                             .code = *code_,
                                             .observer = *screen_,
                                             .input_file = std::move(input_file),
                                             .output = screen_->output(),
                                             .errors = screen_->errors(),
                                             .suspend_to = destination_.temporary(),
                                             .suspend_after_polls = options.suspend_after_polls,
                                             .image_pages = options.compress ? wire::Storage::zstd : wire::Storage::raw});
  if (!options.suspend_after.empty()) {
    GW_TRY(config_->suspend_after, parse_option("--suspend-after", options.suspend_after));
  }
  return ok();
}

Result<int> JobRun::carry_out(node::EmbeddedPeer& job, const std::optional<fs::path>& file) {
  spec_ = job.spec();
  interrupts_->watch({[&job] { job.request_suspend(); }, [&job] { job.request_stop(); }});
  const Result<node::JobOutcome> outcome = job.run();
  interrupts_->stop();
  screen_->finish();
  if (!outcome) return outcome.error();
  GW_TRY(const End end, explain(*outcome, file));
  tell(end, *outcome);
  ended_ = end.program_code.has_value();
  return end.process_code;
}

Result<JobRun::End> JobRun::explain(const node::JobOutcome& outcome, const std::optional<fs::path>& file) {
  if (const auto* suspended = std::get_if<node::JobSuspended>(&outcome.how)) return explain_suspended(*suspended, file.has_value());
  if (const auto* ended = std::get_if<node::JobEnded>(&outcome.how)) {
    End end = explain_end(*ended);
    if (outcome.output_lost && end.process_code == 0)
      end = {ExitCode::failed, 1, "output_lost", "the program's output was not read to its end", "", {}};
    return end;
  }
  End end{ExitCode::interrupted, static_cast<int>(ExitCode::interrupted), "interrupted", "ended; nothing was kept", "", {}};
  if (!file) return end;
  end.file = file->string();
  end.sentence = "ended; " + resume_line(end.file, spec_);
  return end;
}

JobRun::End JobRun::explain_end(const node::JobEnded& ended) const {
  End end{.reason = std::string(reason_name(ended.main.reason()))};
  std::string why = ended.main.sentence();
  wire::make_plain_lines(why);
  if (ended.main.reason() == Effect::End::EXITED) {
    end.program_code = static_cast<int>(ended.main.exit_code());
    end.process_code = static_cast<int>(ended.main.exit_code() & 0xff);
    if (ended.failed_children > 0) end.sentence = fmt::format("{} of its forked threads failed", ended.failed_children);
    if (!why.empty()) end.sentence = fmt::format("the program {}", why);
    return end;
  }
  end.code = ended.main.reason() == Effect::End::LIMIT ? ExitCode::limit : ExitCode::failed;
  end.process_code = static_cast<int>(end.code);
  end.sentence = fmt::format("the program {}", why);
  return end;
}

Result<JobRun::End> JobRun::explain_suspended(const node::JobSuspended& suspended, bool has_file) {
  End end{.code = interrupts_->came() ? ExitCode::interrupted : ExitCode::suspended, .reason = "suspended"};
  end.process_code = static_cast<int>(end.code);
  fs::path left = suspended.file;
  if (!has_file) {
    GW_TRY(left, destination_.rename_temporary());
  }
  end.file = left.string();
  end.sentence = suspended_to(end.file, suspended.bytes, spec_);
  return end;
}

void JobRun::tell(const End& end, const node::JobOutcome& outcome) {
  Console& console = invocation_.console;
  if (console.format() == Format::json) {
    const auto [sentence, backtrace] = split_backtrace(end.sentence);
    return screen_->print_end({{"reason", end.reason},
                               {"exit_code", end.process_code},
                               {"program_exit_code", end.program_code ? Json(*end.program_code) : Json()},
                               {"sentence", sentence},
                               {"backtrace", backtrace},
                               {"file", end.file.empty() ? Json() : Json(end.file)},
                               {"threads", outcome.threads},
                               {"checkpoints", outcome.checkpoints},
                               {"cpu_seconds", seconds(outcome.cpu_time)}});
  }
  if (end.code == ExitCode::failed || end.code == ExitCode::limit) {
    console.report(Error{Kind::guest_fault, end.sentence}, end.code, "godwit run");
  } else if (!end.sentence.empty()) {
    console.note(end.sentence);
  }
  if (console.format() == Format::quiet && !end.file.empty()) console.pass_on(end.file + "\n");
}

}  // namespace gw::cli
