// SPDX-License-Identifier: Apache-2.0
// cuFFT in a lane's stream: each tile has signals of 1,024 samples, and the stage computes their spectra.
#include <cmath>
#include <complex>
#include <cstdio>
#include <string>

#include <cufft.h>
#include <penstock/models/devices.hpp>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

using Sample = std::complex<float>;
constexpr int samples = 1024, signals = 64;

void check(cufftResult result) {
  if (result != CUFFT_SUCCESS) throw Error(ErrorKind::device_refused, "cuFFT: error " + std::to_string(result));
}

/// Each lane has a plan of its own: a plan has memory to work in, and belongs to one stream at a time.
struct Spectrum final : Stage {
  explicit Spectrum(StageContext const& context) {
    check(cufftPlan1d(&plan, samples, CUFFT_C2C, signals));
    check(cufftSetStream(plan, cuda_stream(context.stream)));  // Without it, the calls would be in stream 0.
  }
  ~Spectrum() override { cufftDestroy(plan); }
  std::size_t run(DeviceTile const& tile, StreamRef) override {
    check(cufftExecC2C(plan, tile.input.as<cufftComplex>().address(), tile.output.as<cufftComplex>().address(),
                       CUFFT_FORWARD));
    return tile.output.size();
  }

  cufftHandle plan = 0;
};

}  // namespace

int main() try {
  if (list_gpus().empty()) return 77;  // Its test is skipped.
  auto const device = open_device("cuda");
  Pipeline pipeline(*device, {.tile = tile_of<Sample>(std::size_t{samples} * signals)});
  auto const fill = [](TilePlace, std::span<Sample> input) {  // Every signal has one tone, of seven turns.
    for (std::size_t i = 0; i < input.size(); ++i)
      input[i] = std::polar(1.0F, static_cast<float>(7 * (i % samples)) * 2 * 3.14159265F / samples);
    return input.size();
  };
  bool right = true;
  auto const sink = [&](TileResult<Sample> tile) {
    for (std::size_t i = 0; tile.ok() && i < tile.output().size(); ++i)
      right = right && std::abs(std::abs(tile.output()[i]) - (i % samples == 7 ? 1024.0F : 0.0F)) < 0.1F;
  };
  Report const report = pipeline.run(generate(64, fill), stage_per_lane<Spectrum>(), sink);
  std::printf("%s\nthe spectra are %s\n", describe(report).c_str(), right ? "right" : "wrong");
  return report.ok() && right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
