// SPDX-License-Identifier: Apache-2.0
// Question: does penstock move as many tiles as the best program that one would write without it? Budget: at least as
// many at every size, and with its default options 0.9 of the tuned rate.
#include <cstdio>

#include "contest_output.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "engine/core/number_text.hpp"
#include "penstock/error.hpp"
#include "penstock/models/devices.hpp"

namespace {

constexpr int exit_skipped = 77;

/// Throws: CLI::ValidationError, if one is no size of a tile of floats.
std::vector<std::size_t> sizes_of(std::vector<std::string> const& texts) try {
  std::vector<std::size_t> sizes;
  for (std::string const& text : texts) {
    std::size_t const bytes = penstock::parse_size(text);
    if (bytes == 0 || bytes % sizeof(float) != 0) {
      throw CLI::ValidationError("--tile", "'" + text + "': give multiples of 4 bytes.");
    }
    sizes.push_back(bytes);
  }
  return sizes;
} catch (penstock::Error const& error) {
  throw CLI::ValidationError("--tile", error.what());
}

/// Draws a line on a terminal, over the one before.
void show(std::string const& now) {
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "\r\033[K%s", now.c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Programs that one would write without penstock, and penstock, on the same tiles.");
  baselines::ContestOptions options;
  std::vector<std::string> tiles;
  bool json = false;
  app.add_option("--tile", tiles, "Sizes of tiles. Default: 4KiB,64KiB,1MiB,4MiB")->delimiter(',')->type_name("SIZES");
  app.add_option("--rounds", options.rounds, "Runs of each that count; three will do once the time is up. Default: 5")
      ->check(CLI::Range(1U, 1000U));
  app.add_option("--seconds", options.seconds, "About how long all of it may take. Default: 100")
      ->check(CLI::Range(1.0, 86'400.0));
  app.add_flag("--json", json, "Print JSON, with every round");
  bool expected = false;
  app.add_flag("--expect", expected, "Exit with 1 if at some size a baseline was ahead of penstock in every round");
  try {
    app.parse(argc, argv);
    if (!tiles.empty()) options.sizes = sizes_of(tiles);
  } catch (CLI::ParseError const& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (penstock::list_gpus().empty()) {
    std::printf("Nothing was compared, since there is no GPU: %s\n", penstock::gpu_sentence().c_str());
    return exit_skipped;
  }
  auto const device = penstock::open_device("cuda");
  auto contestants = baselines::all_baselines();
  for (auto& contestant : baselines::penstock_itself(*device)) contestants.push_back(std::move(contestant));
  auto const results = baselines::hold_contest(contestants, options, show);
  show("");
  auto const text = json ? contest_json(results, device->info()) : contest_text(results);
  std::fputs(text.c_str(), stdout);
  if (!expected) return 0;
  bool ahead = true;
  for (auto const& result : results) {
    if (result.penstock_keeps_up()) continue;
    ahead = false;
    std::fprintf(stderr, "penstock_baselines: --expect does not hold with tiles of %s.\n",
                 penstock::size_text(result.bytes).c_str());
  }
  return ahead ? 0 : 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "penstock_baselines: %s\n", error.what());
  return 1;
}
