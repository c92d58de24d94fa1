// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/model_probe.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "kernels/basic/matrix_product.hpp"
#include "kernels/basic/multiply_add.hpp"
#include "programs/doctor/probe_bench.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {
namespace {

using Model = cpu::DeviceModel;
using Time = Model::Time;

constexpr auto large = ProbeBench::large, small = ProbeBench::small;
constexpr int large_copies = ProbeBench::large_copies, calls = ProbeBench::calls;
constexpr int threads = 4;

Time not_below_zero(Time time) {
  return std::max(time, Time(0));
}
/// Units: GB/s.
double rate_of(double bytes, Time time) {
  if (time.count() <= 0) {
    throw Error(ErrorKind::system, "A time came out as 0: measure again while the machine does nothing else.");
  }
  return bytes / std::chrono::duration<double, std::nano>(time).count();
}
/// Rounds to three digits: the measurement is no more exact.
double rounded(double value) {
  double scale = 1;
  while (value * scale < 100 && value > 0 && scale < 1e6) scale *= 10;
  return std::round(value * scale) / scale;
}
Time rounded(Time time) {
  return Time(std::round(time.count() * 100) / 100);
}

void measure_link(ProbeBench& bench, Model& model) {
  auto const large_bytes = static_cast<double>(large_copies * large);
  auto const copies = [&](bool up, int count, std::size_t bytes) {
    return bench.on_device([&, up, count, bytes](StreamRef stream) {
      for (int i = 0; i < count; ++i) bench.copy(stream, up, bytes);
    });
  };
  model.link.up = rounded(rate_of(large_bytes, copies(true, large_copies, large)));
  model.link.down = rounded(rate_of(large_bytes, copies(false, large_copies, large)));
  model.link.both = std::min({rounded(rate_of(large_bytes, bench.time_both_ways())), model.link.up, model.link.down});
  model.link.pageable = rounded(rate_of(static_cast<double>(large), bench.pageable()));
  Time const of_bytes = std::chrono::duration<double, std::nano>(static_cast<double>(small) / model.link.up);
  model.link.copy = rounded(not_below_zero(copies(true, calls, small) / calls - of_bytes));
}

/// Time of one operation on a device that does one after the other, by `times` of them.
template <class Put>
Time one_of(ProbeBench& bench, int times, Put put) {
  return bench.on_device([&](StreamRef stream) {
    for (int i = 0; i < times; ++i) put(stream);
  }) / times;
}

void measure_calls(ProbeBench& bench, Model& model) {
  Event const event = bench.device().make_event();
  model.calls.copy = rounded(bench.of_a_call([&](StreamRef stream) { bench.copy(stream, true, small); }));
  model.calls.launch = rounded(bench.of_a_call([&](StreamRef stream) { bench.kernel(stream); }));
  model.calls.record = rounded(bench.of_a_call([&](StreamRef stream) { stream.record(event); }));
  model.calls.wait = rounded(bench.of_a_call([&](StreamRef stream) { stream.wait(event); }));
  model.calls.query = rounded(bench.of_a_call([&](StreamRef) { static_cast<void>(event.passed()); }));
  model.calls.callback = rounded(bench.of_a_callback());
  model.calls.synchronize = rounded(bench.of_a_synchronize());
  StreamRef const own = bench.stream();
  own.begin_capture();
  bench.copy(own, true, small);
  bench.kernel(own);
  bench.copy(own, false, small);
  Capture const captured = own.end_capture();
  own.launch(captured);
  own.synchronize();
  model.calls.graph = rounded(bench.of_a_call([&](StreamRef stream) { stream.launch(captured); }));
  model.calls.alone = rounded(std::min(bench.of_a_call_by(threads), model.calls.launch));
}

/// Units: 1e12 operations of halves a second.
double tensor_tera_flops(ProbeBench& bench, std::size_t units) {
  constexpr std::uint32_t rounds = 1024;
  constexpr int times = 3;
  std::size_t const blocks = 4 * units;
  matrix_product_prepare(bench.stream());
  auto const results = bench.there(0, blocks * matrix_roof_block * sizeof(float)).as<float>();
  Time const time = one_of(bench, times, [&](StreamRef stream) { matrix_roof(rounds, results, stream); });
  return rounded(rate_of(matrix_roof_flops(rounds, blocks), time) / 1000);
}

void measure_kernels(ProbeBench& bench, Model& model) {
  model.kernels.start = rounded(one_of(bench, calls, [&](StreamRef stream) { bench.kernel(stream); }));
  Time const pair = one_of(bench, calls, [&](StreamRef stream) {
    bench.copy(stream, true, small);
    bench.kernel(stream);
  });
  Time const of_bytes = std::chrono::duration<double, std::nano>(static_cast<double>(small) / model.link.up);
  model.kernels.handover = rounded(not_below_zero(pair - model.kernels.start - model.link.copy - of_bytes) / 2);
  constexpr int sums = 10;
  auto const floats = [&](std::size_t part) { return bench.there(part, large).as<float>(); };
  model.kernels.memory =
      rounded(rate_of(3.0 * static_cast<double>(large),
                      one_of(bench, sums, [&](StreamRef stream) { sum(floats(0), floats(1), floats(2), stream); })));
  constexpr std::uint32_t rounds = 4096;
  multiply_add_prepare(bench.stream());
  Time const of_rounds =
      one_of(bench, sums, [&](StreamRef stream) { multiply_add(floats(0), rounds, floats(1), stream); });
  double const operations = multiply_add_flops(rounds, floats(0).size());
  model.kernels.tera_flops = rounded(rate_of(operations, of_rounds) / 1000);
  model.kernels.tensor_tera_flops = tensor_tera_flops(bench, model.kernels.units);
  // This is as large as the tiles that lanes do not copy.
  constexpr std::size_t mapped = std::size_t{1} << 20;
  auto const over_the_link = [&](bool up) {
    return DeviceSpan<std::byte>(bench.mapped(bench.host(up, mapped))).as<float>();
  };
  Time const of_mapped = one_of(bench, sums, [&](StreamRef stream) {
    sum(over_the_link(true), bench.there(0, mapped).as<float>(), over_the_link(false), stream);
  });
  model.link.mapped = rounded(rate_of(static_cast<double>(mapped), of_mapped - model.kernels.start));
}

Model measure(ProbeBench& bench) {
  Model model;
  DeviceInfo const info = bench.device().info();
  model.name = info.name;
  model.source =
      "Measured by penstock doctor --save-model. As of an H200: threads_of_each, at_once. By CUDA's documentation: "
      "event_resolution_us. Not measured, so 0: "
      "peer_gb_s, copies_in_order_of_issue, signal_together, barrier_us.";
  model.link_name = info.link;
  model.memory_bytes = info.memory_bytes;
  model.copy_engines = std::clamp(info.copy_engines, 1, 2);
  model.kernels.units = static_cast<unsigned>(std::max(info.compute_units, 1));
  model.kernels.threads_per_unit = 2048;
  measure_link(bench, model);
  measure_calls(bench, model);
  measure_kernels(bench, model);
  Time const noticed = bench.until_noticed();
  model.completions.noticed = rounded(
      not_below_zero(noticed - model.calls.launch - model.calls.record - model.calls.query - model.kernels.start));
  model.completions.called =
      rounded(not_below_zero(bench.until_called() - model.calls.callback - model.completions.noticed));
  model.completions.event_resolution = Time(0.5);
  model.host_cpus = std::thread::hardware_concurrency();
  return model;
}

}  // namespace

Model probe_model(Device& device, std::stop_token const& stop) {
  ProbeBench bench(device, stop);
  return measure(bench);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
