// SPDX-License-Identifier: Apache-2.0
// Experiment: the time of a matrix product in half precision as a data sheet predicts it, and as measured.
#include "kernels/basic/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "course/data_sheets.hpp"
#include "course/experiment.hpp"
#include "course/judgements.hpp"
#include "course/workbench.hpp"
#include "kernels/basic/half.hpp"
#include "kernels/basic/multiply_add.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {
namespace {

constexpr std::size_t repetitions = 3;
constexpr std::uint32_t side_of_the_text = 4096;

/// Halves from -1 to 1, repeated. Their number is prime, so no two rows of a matrix are alike.
class Numbers {
 public:
  explicit Numbers(std::uint32_t factor) : once_(65'521) {
    for (std::size_t i = 0; i < once_.size(); ++i) {
      float const one = static_cast<float>(static_cast<std::uint32_t>(i) * factor) * 0x1p-31F - 1;
      once_[i] = half_of(std::abs(one) < 0x1p-14F ? 0 : one);
    }
  }
  std::uint16_t operator[](std::size_t i) const { return once_[i % once_.size()]; }
  void fill(std::span<std::uint16_t> to) const {
    for (std::size_t begin = 0; begin < to.size(); begin += once_.size()) {
      std::copy_n(once_.begin(), std::min(once_.size(), to.size() - begin),
                  to.begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }

 private:
  std::vector<std::uint16_t> once_;
};

/// Square matrices of one size on the device, and the host's data to check them.
class Product {
 public:
  Product(Device& device, StreamRef stream, std::uint32_t side)
      : side_(side),
        sampled_columns_(device.info().modelled ? matrix_sample_columns : side),
        memory_(device.allocate(count() * 8)),
        host_(device, count() * sizeof(std::uint16_t)),
        stream_(stream) {
    auto const upload = [&](Numbers const& numbers, std::span<std::uint16_t> to) {
      auto const here = host_.bytes().first(to.size_bytes());
      numbers.fill(as_halves(here));
      stream_.upload(std::as_writable_bytes(to), here);
      stream_.synchronize();
    };
    upload(of_a_, a());
    upload(of_b_, b());
  }

  MatrixSize size() const { return {side_, side_, side_}; }
  void multiply() const { matrix_product(a(), b(), c(), size(), stream_); }

  /// The greatest difference between some results and those of the host, which adds in double precision.
  double greatest_error() const {
    std::vector<std::byte> row(side_ * sizeof(float));
    auto const here = host_.bytes().first(row.size());
    double greatest = 0;
    for (std::uint32_t i = 0; i < matrix_sample_rows; ++i) {
      stream_.download(here, std::as_bytes(c().subspan(std::size_t{i} * side_, side_)));
      stream_.synchronize();
      std::uint32_t const step = std::max(1U, sampled_columns_ / matrix_sample_columns);
      for (std::uint32_t j = i % step; j < sampled_columns_; j += step) {
        double expected = 0;
        for (std::uint32_t k = 0; k < side_; ++k) {
          expected += static_cast<double>(float_of(of_a_[std::size_t{i} * side_ + k])) *
                      static_cast<double>(float_of(of_b_[std::size_t{k} * side_ + j]));
        }
        greatest = std::max(greatest, std::abs(expected - static_cast<double>(as_floats(here)[j])));
      }
    }
    return greatest;
  }

 private:
  static std::span<std::uint16_t> as_halves(std::span<std::byte> bytes) {
    return {reinterpret_cast<std::uint16_t*>(bytes.data()), bytes.size() / sizeof(std::uint16_t)};
  }
  std::size_t count() const { return std::size_t{side_} * side_; }
  std::span<std::uint16_t> a() const { return as_halves(memory_.bytes().first(2 * count())); }
  std::span<std::uint16_t> b() const { return as_halves(memory_.bytes().subspan(2 * count(), 2 * count())); }
  std::span<float> c() const { return as_floats(memory_.bytes().subspan(4 * count())); }

  std::uint32_t const side_;
  std::uint32_t const sampled_columns_;  ///< A model computes only this many.
  DeviceMemory const memory_;
  PinnedMemory const host_;
  StreamRef const stream_;
  Numbers const of_a_{2'654'435'761U}, of_b_{2'246'822'519U};
};

/// The two bounds.
struct Roof {
  double bytes_a_second = 0;
  double flops_a_second = 0;
  std::chrono::nanoseconds memory(MatrixSize size) const { return time(matrix_product_bytes(size) / bytes_a_second); }
  std::chrono::nanoseconds arithmetic(MatrixSize size) const {
    return time(matrix_product_flops(size) / flops_a_second);
  }
  std::chrono::nanoseconds longer(MatrixSize size) const { return std::max(memory(size), arithmetic(size)); }
  double meet() const { return flops_a_second / bytes_a_second; }
  static std::chrono::nanoseconds time(double seconds) { return std::chrono::nanoseconds(std::llround(seconds * 1e9)); }
};

/// What is known of the device before anything is measured.
struct Known {
  std::optional<Roof> sheet;  ///< By its data sheet,
  std::optional<Roof> text;   ///< and by the text of the course, if it is the device there.

  explicit Known(std::string_view device) {
    auto const of = [](DataSheet const& known) { return Roof{known.memory, known.tensor}; };
    auto const found = data_sheet_of(device);
    if (!found) return;
    sheet = of(*found);
    if (found->device.find(a100_of_the_text.device) != std::string_view::npos) text = of(a100_of_the_text);
  }
};

double microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string number_text(double value, char const* unit) {
  char text[32];
  std::snprintf(text, sizeof text, value < 999.5 ? "%.3g%s" : "%.0f%s", value, unit);
  return text;
}

/// The bounds as measured, beside those that were known.
void add_bounds(Roof const& measured, Known const& known, std::vector<Figure>& figures) {
  auto const add = [&](std::string what, char const* unit, auto const& of) {
    Figure& figure = figures.emplace_back();
    figure.what = std::move(what);
    figure.value = of(measured);
    figure.unit = unit;
    if (known.text) figure.text = of(*known.text);
    if (known.sheet) figure.beside = {{"data sheet", number_text(of(*known.sheet), (" " + figure.unit).c_str())}};
  };
  add("memory", "GB/s", [](Roof const& roof) { return roof.bytes_a_second / 1e9; });
  add("arithmetic, halves", "TFLOP/s", [](Roof const& roof) { return roof.flops_a_second / 1e12; });
  add("the two meet at", "flop/byte", [](Roof const& roof) { return roof.meet(); });
}

/// The shortest of the last pieces counts: a disturbance makes a kernel longer.
Interval shortest(Workbench& bench) {
  auto const all = bench.intervals();
  return *std::ranges::min_element(std::span(all).last(repetitions), {}, &Interval::length);
}

double seconds(Interval const& interval) {
  return std::chrono::duration<double>(interval.length()).count();
}

/// Measures each for some milliseconds on a GPU of today, and on a CPU.
Roof measure_roof(Workbench& bench, StreamRef stream, bool gpu) {
  Roof roof;
  std::size_t const floats = std::size_t{1} << (gpu ? 24 : 20);
  auto const units = static_cast<std::size_t>(std::max(1, bench.device().info().compute_units));
  std::size_t const blocks = gpu ? 4 * units : units;
  std::uint32_t const rounds = gpu ? 1024 : 64;
  DeviceMemory const memory = bench.device().allocate(2 * floats * sizeof(float));
  auto const from = as_floats(memory.bytes()).first(floats), to = as_floats(memory.bytes()).subspan(floats);
  multiply_add(from, 1, to, stream);
  for (std::size_t i = 0; i < repetitions; ++i) {
    bench.timed("roofs", "memory", stream, [&] { multiply_add(from, 1, to, stream); });
  }
  roof.bytes_a_second = static_cast<double>(memory.bytes().size()) / seconds(shortest(bench));
  auto const results = to.first(blocks * matrix_roof_block);
  matrix_roof(rounds, results, stream);
  for (std::size_t i = 0; i < repetitions; ++i) {
    bench.timed("roofs", "arithmetic", stream, [&] { matrix_roof(rounds, results, stream); });
  }
  roof.flops_a_second = matrix_roof_flops(rounds, blocks) / seconds(shortest(bench));
  return roof;
}

Observation predict_and_measure(Workbench& bench) {
  bool const gpu = bench.device().info().acts_as_gpu();
  Stream const stream = bench.device().make_stream();
  multiply_add_prepare(stream);
  matrix_product_prepare(stream);
  Roof const roof = measure_roof(bench, stream, gpu);
  Known const known(bench.device().info().name);

  std::vector<ProductSeen> seen;
  std::vector<Figure> figures;
  std::vector<Interval> best;
  for (std::uint32_t const side : gpu ? std::array{256U, 1024U, 4096U} : std::array{128U, 256U, 384U}) {
    Product const product(bench.device(), stream, side);
    std::string const name = std::to_string(side) + " x " + std::to_string(side);
    product.multiply();  // The first run does not count.
    for (std::size_t i = 0; i < repetitions; ++i) {
      bench.timed("products", name, stream, [&] { product.multiply(); });
    }
    best.push_back(shortest(bench));
    MatrixSize const size = product.size();
    auto const predicted = known.sheet ? std::optional(known.sheet->longer(size)) : std::nullopt;
    seen.push_back({.name = name,
                    .predicted = predicted,
                    .possible = roof.longer(size),
                    .measured = best.back().length(),
                    .flops = matrix_product_flops(size),
                    .depth = side,
                    .greatest_error = product.greatest_error()});
    Figure& figure = figures.emplace_back();
    figure.what = name;
    figure.value = microseconds(seen.back().measured);
    figure.unit = "us";
    if (known.text && side == side_of_the_text) figure.text = microseconds(known.text->longer(size));
    figure.possible = microseconds(seen.back().possible);
    figure.bound = std::string("bound by ") + (roof.memory(size) > roof.arithmetic(size) ? "memory" : "arithmetic");
    if (predicted) figure.beside = {{"data sheet", number_text(microseconds(*predicted), " us")}};
  }
  add_bounds(roof, known, figures);
  start_at_zero(best);
  return {std::move(best), std::move(figures), verdict_on_products(seen, gpu)};
}

}  // namespace

Experiment matrix_product_time() {
  return {.name = "matrix-product",
          .expectation =
              "A matrix product in half precision takes no less time than its bytes need at the rate of memory, and "
              "its operations at the rate of tensor cores, whichever is longer; large products come nearer to that.",
          .why =
              "A data sheet predicts it before anything is measured; what is possible is by rates that other kernels "
              "reached here. The rest is what no bound counts: the start of a kernel, multiprocessors without a block, "
              "a kernel that waits for shared memory. On the CPU device only the results are judged.",
          .claim = Claim::may,
          .run = predict_and_measure};
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
