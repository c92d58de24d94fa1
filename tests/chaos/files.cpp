// SPDX-License-Identifier: Apache-2.0
// Files and a pipe that are cut into tiles, some of which cannot be opened, read to the end or stopped.
#include "penstock/ingest/files.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "chaos/chaos_case.hpp"
#include "chaos/delays.hpp"
#include "chaos/ledger.hpp"
#include "chaos/world.hpp"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace penstock::chaos {
namespace {

/// Files of some lengths, which every case reads; gone when the process ends.
class Folder {
 public:
  static constexpr std::array<std::size_t, 8> lengths{0, 1, 31, 32, 33, 1000, 4096, 9999};

  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "penstock-chaos-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      std::vector<std::byte> content(lengths[i]);
      write_content(i, content);
      std::ofstream(path(i), std::ios::binary)
          .write(reinterpret_cast<char const*>(content.data()), static_cast<std::streamsize>(content.size()));
    }
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  std::filesystem::path path(std::size_t file) const { return root_ / std::to_string(file); }

 private:
  std::filesystem::path root_;
};

/// A pipe that a thread writes the content of `tag` to, and then closes.
class WrittenPipe {
 public:
  WrittenPipe(std::uint64_t tag, std::size_t bytes) {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw Error(ErrorKind::system, "There is no pipe.");
    writer_ = std::thread([this, tag, bytes] {
      std::vector<std::byte> content(bytes);
      write_content(tag, content);
      for (std::size_t at = 0; at < bytes;) {
        auto const wrote = ::write(ends_[1], content.data() + at, std::min<std::size_t>(bytes - at, 1 + at % 700));
        if (wrote <= 0) break;
        at += static_cast<std::size_t>(wrote);
      }
      ::close(ends_[1]);
    });
  }
  WrittenPipe(WrittenPipe const&) = delete;
  WrittenPipe& operator=(WrittenPipe const&) = delete;
  ~WrittenPipe() {
    writer_.join();
    ::close(ends_[0]);
  }
  int descriptor() const noexcept { return ends_[0]; }

 private:
  std::array<int, 2> ends_{};
  std::thread writer_;
};

struct Told {
  std::map<std::uint64_t, std::size_t> bytes_of_file;
  std::uint64_t failed = 0, done = 0, cancelled = 0;
};

}  // namespace

void run_files(Case& the_case) {
  static Folder const folder;
  constexpr std::size_t pipe_bytes = 5000;  // Any pipe holds as much, so that its writer always ends.
  begin(the_case.draw.next(), true);
  World world(the_case);
  PipelineOptions options = world.draw_options(the_case);
  options.host_stages.clear();
  Stages const stages = draw_stages(the_case, options);
  std::uint64_t const files = the_case.pick("files", 1, 6);
  bool const stops = the_case.once_in(4, "stop");
  std::uint64_t const stop_after = the_case.pick("stop_after", 0, 40);
  std::vector<std::size_t> content, length;  // Indexed by the file's number.
  std::vector<InputFile> inputs;
  std::optional<WrittenPipe> pipe;
  std::uint64_t missing = 0;
  for (std::uint64_t i = 0; i < files; ++i) {
    if (!pipe && the_case.once_in(8, "pipe")) {
      pipe.emplace(77, pipe_bytes);
      inputs.push_back({.path = "a pipe", .descriptor = pipe->descriptor()});
      content.push_back(77);
      length.push_back(pipe_bytes);
    } else if (the_case.once_in(8, "missing")) {
      inputs.push_back({.path = folder.path(99)});
      content.push_back(0);
      length.push_back(0);
      ++missing;
    } else {
      std::size_t const file = the_case.pick("file", 0, Folder::lengths.size() - 1);
      inputs.push_back({.path = folder.path(file)});
      content.push_back(file);
      length.push_back(Folder::lengths.at(file));
    }
  }
  Pipeline pipeline(world.devices(), options);
  std::size_t next = 0;
  FileSource source(
      [&]() -> std::optional<InputFile> {
        if (next == inputs.size()) return std::nullopt;
        return inputs[next++];
      },
      pipeline.pool());
  std::stop_source stop;
  std::mutex mutex;
  Told told;
  auto const whole = [&](Tile const& tile) {
    auto const place = source.place_of(tile);
    auto const output = tile.produced_output();
    for (std::size_t i = 0; i < output.size(); ++i) {
      auto const expected = std::to_integer<unsigned>(content_byte(content.at(place.file), place.offset + i)) + 1;
      if (output[i] != static_cast<std::byte>(expected)) return false;
    }
    return true;
  };
  Report const report = pipeline.run(
      source, stages,
      [&](Completion& completion) {
        std::scoped_lock const lock(mutex);
        Tile const& tile = *completion.loan;
        if (completion.ok()) {
          ++told.done;
          told.bytes_of_file[tile.tag] += tile.produced;
          the_case.expect(whole(tile), "file " + std::to_string(tile.tag) + ": its bytes are wrong");
        } else {
          ++(completion.outcome == Outcome::failed ? told.failed : told.cancelled);
        }
        if (stops && told.done == stop_after) stop.request_stop();
      },
      stop.get_token());
  the_case.expect(
      report.tiles_done == told.done && report.tiles_failed == told.failed && report.tiles_cancelled == told.cancelled,
      "the report counts other tiles than the sink: " + describe(report));
  the_case.expect(told.failed <= missing, "a file that is there failed: " + describe(report));
  if (!report.stopped) {
    the_case.expect(told.failed == missing && told.cancelled == 0, "not all files came: " + describe(report));
    for (std::size_t file = 0; file < files; ++file) {
      the_case.expect(told.bytes_of_file[file] == length[file], "file " + std::to_string(file) + " came in part");
    }
  }
  expect_tiles_home(the_case, pipeline.pool());
}

}  // namespace penstock::chaos
