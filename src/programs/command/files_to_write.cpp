// SPDX-License-Identifier: Apache-2.0
#include "programs/command/files_to_write.hpp"

#include <array>
#include <cstdio>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

#include "observe/nvtx/nvtx_ranges.hpp"
#include "penstock/error.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/file_place.hpp"
#include "programs/command/program.hpp"

namespace penstock::cli {
namespace {

FilePlace place_of_input(NamedFile const& file) {
  // Standard input has this name, if it has one.
  return FilePlace(file.path == "-" ? "/dev/stdin" : file.path);
}

[[noreturn]] void refuse(NamedFile const& file, std::string const& why) {
  throw Error(ErrorKind::bad_argument, file.option + " " + file.path + " " + why);
}

[[noreturn]] void refuse_both(std::string const& one, NamedFile const& other, std::string const& path) {
  throw Error(ErrorKind::bad_argument, one + " and " + other.option + " both name " + path +
                                           ", which holds one of them: name another file for the other.");
}

/// True if the path names a descriptor, as /dev/stdout does: then the descriptor itself is meant.
bool names_a_descriptor(std::string const& path) {
  return path.starts_with("/dev/") || path.starts_with("/proc/");
}

}  // namespace

void expect_apart(std::span<NamedFile const> read, std::span<NamedFile const> written) {
  std::vector<std::pair<NamedFile const*, FilePlace>> before;
  for (NamedFile const& file : written) {
    if (file.path.empty()) continue;
    FilePlace const place(file.path);
    for (NamedFile const& input : read) {
      if (input.path.empty() || input.rewritten_by == file.option) continue;
      FilePlace const of_input = place_of_input(input);
      if (of_input.is(place) || (input.whole_folder && place.lies_in(of_input)))
        refuse(file, "would overwrite what is to be read: name another file.");
    }
    for (auto const& [other, other_place] : before) {
      if (other_place.is(place)) refuse_both(other->option, file, other->path);
    }
    for (int const descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
      if (!place.is(descriptor) || names_a_descriptor(file.path)) continue;
      bool const output = descriptor == STDOUT_FILENO;
      refuse(file, std::string("is where standard ") + (output ? "output" : "error") + " goes: name another file, or " +
                       (output ? "/dev/stdout." : "/dev/stderr."));
    }
    before.emplace_back(&file, place);
  }
}

FilesToWrite::FilesToWrite(std::span<NamedFile const> read, std::span<NamedFile const> written,
                           std::stop_token const& stop) {
  // This comes before any file is opened, which for a pipe may block.
  expect_apart(read, written);
  for (NamedFile const& file : written) {
    if (!file.path.empty())
      files_.emplace_back(std::piecewise_construct, std::tuple(file.option), std::tuple(file.path, stop));
  }
}

OutputFile* FilesToWrite::of(std::string_view option) {
  for (auto& [name, file] : files_) {
    if (name == option) return &file;
  }
  return nullptr;
}

namespace {

using Clock = Recorder::Clock;

/// The time to note one passage, with the two clock reads that it needs.
std::chrono::duration<double, std::milli> time_to_note() {
  constexpr int notes = 1 << 14;
  Recorder recorder({.capacity = notes, .thin_out = true});
  auto const start = Clock::now();
  for (int i = 0; i < notes; ++i) {
    auto const begin = Clock::now();
    recorder.note(0, Step::fill, 0, begin, Clock::now());
  }
  return (Clock::now() - start) / notes;
}

}  // namespace

void TraceArguments::add_to(CLI::App& command, std::string const& of) {
  add_trace_to(command, of);
  command.add_flag("--nvtx", nvtx, "Show profilers that know NVTX what each thread is at");
}

void TraceArguments::add_trace_to(CLI::App& command, std::string const& of) {
  auto& to = *command
                  .add_option("--trace", file,
                              "Also write a trace of " + of +
                                  " to this file, for Perfetto or Chrome: where\n"
                                  "each tile was when")
                  ->type_name("FILE")
                  ->check(names_an_output());
  command
      .add_option("--trace-every", every,
                  "Look at one tile in so many; of a long run at fewer, so that the trace stays below some 300 MB.\n"
                  "Default: 1")
      ->type_name("N")
      ->check(whole_number(1, std::uint64_t{1} << 32))
      ->needs(&to);
  command
      .add_option("--trace-with", with,
                  "How times of the device are taken: events; or cupti, which logs copies and kernels as well, if "
                  "CUPTI can be\n"
                  "loaded. Default: events")
      ->type_name("NAME")
      ->check(CLI::IsMember({"events", "cupti"}))
      ->needs(&to);
}

std::vector<std::string> TraceArguments::arguments(std::string const& path) const {
  std::vector<std::string> all;
  if (nvtx) all.emplace_back("--nvtx");
  if (!path.empty())
    all.insert(all.end(), {"--trace", path, "--trace-every", std::to_string(every), "--trace-with", with});
  return all;
}

void TraceArguments::check() const {
  if (nvtx && with == "cupti") {
    throw Error(ErrorKind::bad_argument, "--nvtx and --trace-with cupti do not go together: leave out one of them.");
  }
  if (nvtx && !built_with_nvtx()) {
    throw Error(ErrorKind::bad_argument,
                "This build of penstock has no NVTX in it: leave out --nvtx, or build penstock where the CUDA toolkit "
                "is, with its NVTX.");
  }
}

std::unique_ptr<Recorder> TraceArguments::recorder() const {
  if (file.empty()) return nullptr;
  return std::make_unique<Recorder>(RecorderOptions{.every = every, .thin_out = true});
}

std::unique_ptr<ActivityLog> TraceArguments::activity_log(Recorder* recorder) const {
  if (with != "cupti" || recorder == nullptr) return nullptr;
  try {
    return ActivityLog::open(*recorder);
  } catch (Error const& error) {
    tell(std::string(error.what()) +
         " The trace has the times of events only. Where there is no CUPTI, take --trace-with events.");
    return nullptr;
  }
}

std::unique_ptr<Ranges> TraceArguments::nvtx_ranges() const {
  return nvtx ? make_nvtx_ranges() : nullptr;
}

void write_trace_file(OutputFile& file, Recording const& recording, TraceFacts const& facts) {
  write_trace_file(file, [&](std::ostream& out) { write_trace(out, recording, facts); });
}

void write_trace_file(OutputFile& file, std::function<void(std::ostream&)> const& write) {
  file.write("the trace", write);
}

std::string traced_text(std::string const& path, Recording const& recording, std::chrono::nanoseconds wall) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  Milliseconds const took =
      Milliseconds(std::chrono::nanoseconds(recording.spent)) + time_to_note() * static_cast<double>(recording.noted);
  std::array<char, 128> cost{};
  std::snprintf(cost.data(), cost.size(), "%.1f ms of the threads' time, in a run of %.1f ms.", took.count(),
                Milliseconds(wall).count());
  std::string text = path + " shows ";
  text += recording.every == 1 ? "every tile" : "one tile in " + std::to_string(recording.every);
  text.append(". To record it took ").append(cost.data());
  std::string const spans = span_table(recording);
  return spans.empty() ? text : text + '\n' + spans.substr(0, spans.size() - 1);
}

}  // namespace penstock::cli
