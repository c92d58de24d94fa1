// SPDX-License-Identifier: Apache-2.0
// Small programs with penstock in them, for sweeps that refuse them one thing each time: penstock_resource_worlds
// pull|push|records|files [FILE...]
//
// Exit codes: 0 all well; 3 refused with a sentence on standard error; 5 a law is broken: a tile is not home, or has
// not had its one completion, or holds other bytes than it should.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/pool.hpp"
#include "engine/cpu/cpu_device.hpp"
#include "penstock/ingest/files.hpp"
#include "penstock/pipeline.hpp"
#include "penstock/records.hpp"

namespace penstock {
namespace {

enum ExitCode { exit_well = 0, exit_refused = 3, exit_broken = 5 };

int broken(char const* law) {
  std::fprintf(stderr, "worlds: the law is broken that %s.\n", law);
  return exit_broken;
}
int refused(char const* sentence) {
  std::fprintf(stderr, "worlds: %s\n", sentence);
  return exit_refused;
}

/// A program has a sentence of its own where the language has none.
std::string sentence_of(std::exception const& error) {
  bool const no_memory = dynamic_cast<std::bad_alloc const*>(&error) != nullptr;
  return no_memory ? "there is no memory for more." : error.what();
}

constexpr std::size_t tile_bytes = 4096;

/// Each byte of the output is that of the input and one.
Stages add_one() {
  return on_device([](DeviceTile const& tile, StreamRef stream) {
    stream.launch(1, [tile](KernelBlock block) {
      std::span const input = tile.input.in(block);
      std::span const output = tile.output.in(block);
      for (std::size_t k = 0; k < input.size(); ++k) {
        output[k] = static_cast<std::byte>(std::to_integer<unsigned>(input[k]) + 1);
      }
    });
    return tile.input.size();
  });
}

PipelineOptions small_pipeline() {
  return {.tile = {.input_bytes = tile_bytes, .output_bytes = tile_bytes},
          .producers = 2,
          .lanes = 2,
          .consumers = 2,
          .tuning = {.tiles = 6, .slots = 2}};
}

/// Record of each tile: how often it was completed, and whether a finished one holds what it should.
struct Ledger {
  static constexpr std::uint64_t most = 64;
  std::array<std::atomic<bool>, most> submitted{};
  std::array<std::atomic<unsigned>, most> completions{};
  std::atomic<bool> wrong_bytes{false};

  /// Tiles of the sequence or tag `number` were filled with its lowest byte.
  void enter(std::uint64_t number, Completion const& completion) {
    ++completions.at(number);
    if (!completion.ok()) return;
    for (std::byte const byte : completion.loan->output().first(completion.loan->produced)) {
      if (byte != static_cast<std::byte>(number + 1)) wrong_bytes = true;
    }
  }
};

/// Holds a run to the laws: all tiles home, and each that was submitted completed once.
int judge(Ledger const& ledger, Report const& report, Pool& pool) {
  if (pool.on_loan() != 0) return broken("every tile is home after a run");
  if (ledger.wrong_bytes) return broken("a tile that is done holds what its stage made");
  std::uint64_t submitted = 0;
  for (std::size_t k = 0; k < Ledger::most; ++k) {
    unsigned const due = ledger.submitted.at(k) ? 1 : 0;
    submitted += due;
    if (ledger.completions.at(k) != due) return broken("a tile that was submitted has one completion, others none");
  }
  if (report.tiles() != submitted) return broken("a report counts each tile once");
  if (report.ok()) return exit_well;
  return refused(describe(report).c_str());
}

int pull() {
  cpu::CpuDevice device({.compute_threads = 2});
  PipelineOptions options = small_pipeline();
  options.ordered = true;
  options.host_stages = {{.name = "nothing", .body = [](Tile&) {}}};
  Pipeline pipeline(device, options);
  Ledger ledger;
  auto source = serial([&](Tile& tile) -> std::optional<std::size_t> {
    if (tile.sequence == 24) return std::nullopt;
    std::memset(tile.input().data(), static_cast<int>(tile.sequence), tile_bytes);
    ledger.submitted.at(tile.sequence) = true;
    return tile_bytes;
  });
  Report const report =
      pipeline.run(source, add_one(), [&](Completion& done) { ledger.enter(done.loan->sequence, done); });
  return judge(ledger, report, pipeline.pool());
}

int push() {
  cpu::CpuDevice device({.compute_threads = 2});
  Pipeline pipeline(device, small_pipeline());
  Ledger ledger;
  pipeline.start(add_one(), [&](Completion& done) { ledger.enter(done.loan->tag, done); });
  std::atomic<bool> was_refused{false};
  auto const feed_from = [&](std::uint64_t first) {
    try {
      Feed feed = pipeline.feed();
      for (std::uint64_t tag = first; tag < first + 8; ++tag) {
        Loan loan = feed.borrow();
        loan->tag = tag;
        std::memset(loan->input().data(), static_cast<int>(tag), tile_bytes);
        loan->filled = tile_bytes;
        feed.submit(std::move(loan));
        ledger.submitted.at(tag) = true;
      }
    } catch (std::exception const& error) {
      refused(sentence_of(error).c_str());
      was_refused = true;
    }
  };
  try {
    std::jthread const other([&] { feed_from(0); });
    feed_from(8);
  } catch (std::exception const&) {
    feed_from(16);  // The program's own thread is not penstock's to guard.
  }
  Report const report = pipeline.drain();
  int const code = judge(ledger, report, pipeline.pool());
  return code == exit_well && was_refused ? exit_refused : code;
}

int records() {
  cpu::CpuDevice device({.compute_threads = 2});
  Pipeline pipeline(device, small_pipeline());
  Records records(pipeline, {.output_bytes = sizeof(std::uint64_t)});
  std::array<std::atomic<unsigned>, 64> completions{};
  std::atomic<bool> wrong{false};
  auto const lengths = on_device([](DeviceRecords const& tile, StreamRef stream) {
    stream.launch(tile.inputs.size(), [tile](KernelBlock block) {
      std::uint64_t const length = tile.inputs.at(block, block).bytes;
      std::memcpy(&tile.output.in(block)[tile.outputs.at(block, block).offset], &length, sizeof length);
    });
  });
  records.start(lengths, [&](RecordCompletion const& record) {
    ++completions.at(record.tag);
    std::uint64_t length = 0;
    if (record.ok()) std::memcpy(&length, record.output.data(), sizeof length);
    if (record.ok() && length != record.tag * 20 + 1) wrong = true;
  });
  std::uint64_t written = 0;
  std::string sentence;
  try {
    RecordWriter writer = records.writer();
    std::array<std::byte, 64 * 20 + 1> const bytes{};
    for (; written < 64; ++written) writer.append(std::span(bytes).first(written * 20 + 1), written);
  } catch (std::exception const& error) {
    sentence = sentence_of(error);
  }
  RecordReport const report = records.drain();
  if (pipeline.pool().on_loan() != 0) return broken("every tile is home after a run");
  if (wrong) return broken("a record that is done has what its stage made");
  if (report.records() != written) return broken("a report counts each record once");
  for (std::uint64_t k = 0; k < completions.size(); ++k) {
    if (completions.at(k) != (k < written ? 1U : 0U)) return broken("a record has one completion");
  }
  if (!sentence.empty()) return refused(sentence.c_str());
  return report.ok() ? exit_well : refused(describe(report).c_str());
}

int files(std::vector<std::string> const& paths) {
  cpu::CpuDevice device({.compute_threads = 2});
  PipelineOptions options = small_pipeline();
  options.ordered = true;
  Pipeline pipeline(device, options);
  FileSource source(paths, pipeline.pool(), {.reading = {.reading = FileReading::direct}});
  std::uint64_t next = 0;
  bool in_order = true;
  Report const report = pipeline.run(source, add_one(), [&](Completion& done) {
    in_order = in_order && done.loan->sequence == next++;
    if (!done.ok()) return;
    auto const input = done.loan->input().first(done.loan->filled);
    for (std::size_t k = 0; k < input.size(); ++k) {
      in_order = in_order && std::to_integer<unsigned>(done.loan->output()[k]) ==
                                 ((std::to_integer<unsigned>(input[k]) + 1) & 0xFFU);
    }
  });
  if (pipeline.pool().on_loan() != 0) return broken("every tile is home after a run");
  if (report.sink_failures == 0 && (next != report.tiles() || !in_order)) {
    return broken("each tile has one completion, in order, with what its stage made");
  }
  return report.ok() ? exit_well : refused(describe(report).c_str());
}

int run(std::string const& world, std::vector<std::string> const& paths) {
  if (world == "pull") return pull();
  if (world == "push") return push();
  if (world == "records") return records();
  if (world == "files") return files(paths);
  std::fprintf(stderr, "worlds: there are pull, push, records and files.\n");
  return 2;
}

}  // namespace
}  // namespace penstock

int main(int count, char** words) {
  try {
    return penstock::run(count > 1 ? words[1] : "", {words + (count > 1 ? 2 : 1), words + count});
  } catch (std::exception const& error) {
    return penstock::refused(penstock::sentence_of(error).c_str());
  }
}
