// SPDX-License-Identifier: Apache-2.0
#include "programs/command/live_arguments.hpp"

#include "programs/command/arguments.hpp"

namespace penstock::cli {

void LiveArguments::add_to(CLI::App& command) {
  command
      .add_option("--stats-every", stats_every,
                  "Print a line on standard error each so many seconds: how fast it is, and what it waits for")
      ->type_name("SECONDS")
      ->check(number_between(0.1, 86'400, "a number of seconds"));
  command
      .add_option("--metrics", metrics,
                  "Answer Prometheus at this address by HTTP: 127.0.0.1:9464 for /metrics and /health")
      ->type_name("ADDRESS")
      ->check({[](std::string& address) -> std::string {
                 return address.empty() ? "'' is no address: give one, such as 127.0.0.1:9464" : "";
               },
               ""});
}

}  // namespace penstock::cli
