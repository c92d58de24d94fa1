// SPDX-License-Identifier: Apache-2.0
// A job for the stand-in of the driver: its sink copies, from the host to a device, once for each tile that it gets.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <dlfcn.h>
#include <penstock/ingest/files.hpp>
#include <penstock/job.hpp>
#include <penstock/observe.hpp>

using namespace penstock;

namespace {

template <class Function>
Function* find(char const* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) throw std::runtime_error("There is no driver.");
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// Makes `count` copies.
void copy(std::uint64_t count) {
  static char host[65536], device[65536];
  static bool const started = find<int(unsigned)>("cuInit")(0) == 0;
  auto* const upload = find<int(void*, void const*, std::size_t, void*)>("cuMemcpyHtoDAsync_v2");
  for (std::uint64_t i = 0; started && i < count; ++i) upload(device, host, sizeof host, nullptr);
}

/// Has the device work in a stream of its own, where what the kernel for a tile throws is a fault of the device.
struct Breaking final : Stage {
  Breaking(StageContext const& context, std::uint64_t its_tile)
      : tile(its_tile), own(context.device.make_stream()), there(context.device.make_event()) {}
  std::size_t run(DeviceTile const& seen, StreamRef stream) override {
    if (seen.sequence != tile) return 0;
    own.launch(1, [](KernelBlock) { throw std::runtime_error("The kernel read beyond its tile."); });
    own.record(there);
    stream.wait(there);
    return 0;
  }
  std::uint64_t const tile;
  Stream own;
  Event there;
};

/// `broken` is the tile whose kernel fails.
Stages stages(std::uint64_t broken) {
  return {.make = [broken](StageContext const& context) { return std::make_unique<Breaking>(context, broken); },
          .merge = {}};
}

JobWork make(JobPoint const& point) {
  return {.source =
              [path = point.values.text("input"), stop = point.stop](Pool const& pool) {
                return std::make_unique<FileSource>(std::vector{path}, pool, FileSourceOptions{.stop = stop});
              },
          .stages = stages(point.values.number("broken")),
          .sink =
              [copies = point.values.number("copies"), watching = point.pipeline.watching](Completion& done) {
                Span const span(watching, "copies", done.loan->sequence);
                if (copies > 0) copy(copies);
              },
          .results = [point] { return "copies " + point.values.text("copies") + "\n"; },
          .reopen = [] { std::fputs("opened anew\n", stderr); }};
}

}  // namespace

int main(int count, char** arguments) {
  return run_job(
      count, arguments,
      {.sentence = "Copies for the stand-in of the driver",
       .options = {file_option("input", "The file"), number_option("copies", "Copies for each tile", 0, 0, 100),
                   number_option("broken", "The tile that fails", 1000, 0, 1000),
                   word_option("style", "How it is done", {"loose", "strict"})},
       .tile = "64KiB",
       .make = make});
}
