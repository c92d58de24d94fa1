// SPDX-License-Identifier: Apache-2.0
#include "penstock/cli/doctor_command.hpp"

#include <algorithm>
#include <cstdio>

#include "penstock/cli/doctor_facts.hpp"
#include "penstock/devices/open_device.hpp"

namespace penstock::cli {

void DoctorCommand::add_to(CLI::App& command) {
  command.add_option("--device", device, "What to probe: auto, cpu, cuda or cuda:N")->type_name("NAME");
  command.add_option("--read", read, "Also read this file once, to see how fast that goes")->type_name("FILE");
  command
      .add_option("--producers", producers, "Threads that fill and read. Default: as many as can be busy, 12 at most")
      ->type_name("N");
  command.add_flag("--no-probe", no_probe, "Measure nothing");
  command.add_flag("--json", json, "Print JSON");
}

ExitCode DoctorCommand::run() const {
  DoctorFacts facts{.version = PENSTOCK_VERSION,
                    .flavour = std::string(build_flavour()),
                    .host = HostLimits::read(),
                    .topology = Topology::detect(),
                    .gpu_sentence = gpu_sentence(),
                    .gpus = list_gpus(),
                    .probed = {},
                    .probed_gpu = false,
                    .rates = std::nullopt};
  if (!no_probe) {
    if (producers > 1024) throw Error(ErrorKind::bad_argument, "--producers is more than 1024: ask for fewer.");
    auto const opened = open_device(device);
    auto const info = opened->info();
    facts.probed = info.name;
    facts.probed_gpu = info.kind == DeviceKind::cuda;
    auto const threads =
        producers != 0 ? producers : static_cast<unsigned>(std::min<std::size_t>(facts.topology.busy_threads(), 12));
    facts.rates = probe_rates(*opened, threads, read.empty() ? std::nullopt : std::optional(read));
  }
  std::fputs((json ? as_json(facts) : as_text(facts)).c_str(), stdout);
  return exit_ok;
}

}  // namespace penstock::cli
