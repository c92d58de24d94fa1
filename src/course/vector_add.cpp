// SPDX-License-Identifier: Apache-2.0
// Experiment: A + B -> C in parts, pipelined in three ways, and in one with a wait too many.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "course/experiment.hpp"
#include "course/part_work.hpp"
#include "engine/core/host_time.hpp"
#include "penstock/kernels.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t parts = 4;
constexpr std::size_t floats_of_part = std::size_t{1} << 18;
constexpr std::size_t part_bytes = floats_of_part * sizeof(float);
constexpr std::size_t bytes = parts * part_bytes;

/// `late_wait` is copies_and_kernels with a wait that nothing needs: each kernel follows the last upload.
enum class StreamLayout { one_stream, copies_and_kernels, three_streams, late_wait };
constexpr std::array layouts{StreamLayout::one_stream, StreamLayout::copies_and_kernels, StreamLayout::three_streams,
                             StreamLayout::late_wait};

std::string name_of(StreamLayout layout) {
  constexpr std::array names{"one stream", "two streams and events", "three streams in turn",
                             "a wait that nothing needs"};
  return names[static_cast<std::size_t>(layout)];
}
bool is_by_kind(StreamLayout layout) {
  return layout == StreamLayout::copies_and_kernels || layout == StreamLayout::late_wait;
}

/// Whole numbers of up to 24 bits, which floats hold exactly.
float input_a(std::size_t i, std::size_t layout) {
  return static_cast<float>(i + layout);
}
float input_b(std::size_t i) {
  return static_cast<float>(2 * i);
}

/// Three vectors in host memory and on the device.
class Vectors {
 public:
  explicit Vectors(Workbench& bench)
      : bench_(bench), host_(bench.device(), 3 * bytes), memory_(bench.device().allocate(3 * bytes)) {
    for (std::size_t i = 0; i < bytes / sizeof(float); ++i) as_floats(here(1))[i] = input_b(i);
  }

  /// The output is of this layout only if all of the input was.
  void renew(StreamLayout layout) {
    for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
      as_floats(here(0))[i] = input_a(i, static_cast<std::size_t>(layout));
    }
    HostTime::forget();
  }
  std::size_t wrong(StreamLayout layout) const {
    std::size_t wrong = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      bool right = true;
      for (std::size_t i = part * floats_of_part; i < (part + 1) * floats_of_part; ++i) {
        right = right && as_floats(here(2))[i] == input_a(i, static_cast<std::size_t>(layout)) + input_b(i);
      }
      if (!right) ++wrong;
    }
    HostTime::forget();
    return wrong;
  }

  Timed upload(std::string const& row, std::size_t part, StreamRef stream) {
    std::array const copies{Copy{part_of(there(0), part), part_of(here(0), part)},
                            Copy{part_of(there(1), part), part_of(here(1), part)}};
    return bench_.timed(row, "up", stream, [&] { stream.upload(copies); });
  }
  Timed add(std::string const& row, std::size_t part, StreamRef stream) {
    return bench_.timed(row, "kernel", stream, [&] {
      sum(as_floats(part_of(there(0), part)), as_floats(part_of(there(1), part)), as_floats(part_of(there(2), part)),
          stream);
    });
  }
  Timed download(std::string const& row, std::size_t part, StreamRef stream) {
    return bench_.timed(row, "down", stream, [&] { stream.download(part_of(here(2), part), part_of(there(2), part)); });
  }

 private:
  static std::span<std::byte> part_of(std::span<std::byte> vector, std::size_t part) {
    return vector.subspan(part * part_bytes, part_bytes);
  }
  std::span<std::byte> here(std::size_t vector) const { return host_.bytes().subspan(vector * bytes, bytes); }
  std::span<std::byte> there(std::size_t vector) const { return memory_.bytes().subspan(vector * bytes, bytes); }

  Workbench& bench_;
  PinnedMemory const host_;
  DeviceMemory const memory_;
};

Run add_in_parts(Workbench& bench, Vectors& vectors, StreamLayout layout) {
  std::vector<Stream> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(bench.device().make_stream());
  vectors.renew(layout);
  Run run{.first = bench.pieces()};
  bench.hold(streams);
  for (std::size_t part = 0; part < parts; ++part) {
    if (layout == StreamLayout::late_wait) {
      auto const there = vectors.upload("copies", part, streams[0]);
      if (part + 1 < parts) continue;
      streams[1].wait(there.end);
      for (std::size_t i = 0; i < parts; ++i) {
        vectors.add("kernels", i, streams[1]);
        vectors.download("kernels", i, streams[1]);
      }
      continue;
    }
    if (layout == StreamLayout::copies_and_kernels) {
      auto const there = vectors.upload("copies", part, streams[0]);
      streams[1].wait(there.end);
      vectors.add("kernels", part, streams[1]);
      vectors.download("kernels", part, streams[1]);
      continue;
    }
    std::size_t const turn = layout == StreamLayout::one_stream ? 0 : part % streams.size();
    std::string const row = layout == StreamLayout::one_stream ? "one stream" : "turn " + std::to_string(turn + 1);
    vectors.upload(row, part, streams[turn]);
    vectors.add(row, part, streams[turn]);
    vectors.download(row, part, streams[turn]);
  }
  for (Stream const& stream : streams) stream.synchronize();
  run.count = bench.pieces() - run.first;
  return run;
}

std::vector<PlannedWork> steps_of(StreamLayout layout, PartTimes const& times) {
  std::vector<PlannedWork> steps;
  for (std::size_t part = 0; part < parts; ++part) {
    std::size_t const up = steps.size();
    // Index of the step before it in its stream, for the upload, and for the kernel if that is another stream.
    std::vector<std::size_t> before_up, before_kernel{up};
    if (layout == StreamLayout::one_stream && part > 0) before_up.push_back(up - 1);
    if (layout == StreamLayout::three_streams && part >= 3) before_up.push_back(up - 7);
    if (is_by_kind(layout) && part > 0) {
      before_up.push_back(up - 3);
      before_kernel.push_back(up - 1);
    }
    if (layout == StreamLayout::late_wait) before_kernel.push_back(3 * (parts - 1));
    steps.push_back({Unit::up, times.up, before_up});
    steps.push_back({Unit::compute, times.kernel, before_kernel});
    steps.push_back({Unit::down, times.down, {up + 1}});
  }
  return steps;
}

Observation add_each_way(Workbench& bench) {
  auto const info = bench.device().info();
  auto const engines = copy_engines_of(bench);
  Vectors vectors(bench);
  {
    Stream const stream = bench.device().make_stream();
    sum_prepare(stream);
  }
  add_in_parts(bench, vectors, StreamLayout::one_stream);  // The first run does not count.
  std::vector<Run> runs;
  std::size_t wrong = 0;
  for (StreamLayout const layout : layouts) {
    runs.push_back(add_in_parts(bench, vectors, layout));
    wrong += vectors.wrong(layout);
  }

  auto const all = bench.intervals();
  auto const serial_run = runs.front().of(all);
  auto const own = shortest(serial_run);
  std::vector<Figure> figures;
  std::vector<std::vector<Interval>> drawn;
  auto verdict = both(came_back(wrong, layouts.size() * parts), certainly(one_after_another(serial_run)));
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    auto const& run = drawn.emplace_back(without_waits(runs[i].of(all), engines.count));
    Gain const gain{extent(serial_run), possible(steps_of(layouts[i], own), engines), extent(run), overlapped(run)};
    figures.push_back({name_of(layouts[i]), milliseconds(gain.measured), "ms", {}, milliseconds(gain.possible)});
    // The other way shows what is lost.
    bool const should_save = i > 0 && layouts[i] != StreamLayout::late_wait;
    if (should_save) verdict = both(verdict, saves(info, name_of(layouts[i]), gain));
  }
  return {one_run_behind_the_other(std::move(drawn)), std::move(figures), std::move(verdict)};
}

}  // namespace

Experiment vector_add() {
  return {
      .name = "vector-add",
      .expectation =
          "A + B in four parts is right in one stream, in two with an event behind each upload, and part by part in "
          "three; these two save at least half of what they can save. On the CPU device, whose copies compete "
          "for CPUs, some of the work overlaps. All times are by events.",
      .why =
          "Events keep the order where a part changes its stream; a stream for each part needs none. Either way the "
          "copies of one part go on beside the kernel of another, unless a kernel waits for more than it needs.",
      .claim = Claim::may,
      .run = add_each_way};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
