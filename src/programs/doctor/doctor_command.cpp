// SPDX-License-Identifier: Apache-2.0
#include "programs/doctor/doctor_command.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/models.hpp"
#include "observe/nvtx/nvtx_ranges.hpp"
#include "penstock/models/devices.hpp"
#include "programs/command/arguments.hpp"
#include "programs/command/completion.hpp"
#include "programs/command/ending.hpp"
#include "programs/command/files_to_write.hpp"
#include "programs/command/program.hpp"
#include "programs/command/results.hpp"
#include "programs/doctor/links_text.hpp"
#include "programs/doctor/model_probe.hpp"
#include "programs/page/results_page.hpp"

namespace penstock::cli {
inline namespace PENSTOCK_FLAVOUR {

void DoctorCommand::add_to(CLI::App& command) {
  auto& probed = *command.add_option("--device", device, "What to probe: auto, cpu, cuda, cuda:N or model:NAME")
                      ->type_name("NAME")
                      ->check(offers(one_device_words));
  slower.add_to(command);
  auto& reading =
      *command.add_option("--read", read, "Also read this file once, for 10 s at most, to see how fast that goes")
           ->type_name("FILE")
           ->check(names_a_file());
  command
      .add_option("--producers", producers,
                  "Threads that fill tiles, and read. Default: as many as can be busy, 12 at most")
      ->type_name("N")
      ->check(whole_number(0, PipelineOptions::most_threads));
  auto& saving = *command
                      .add_option("--save-model", save_model,
                                  "Also measure what a model of the GPU says of it, and write one to this file,\n"
                                  "for --device model:FILE")
                      ->type_name("FILE")
                      ->check(names_an_output());
  auto& not_probing = *command.add_flag("--no-probe", no_probe, "Measure nothing")
                           ->excludes(&reading)
                           ->excludes(&probed)
                           ->excludes(&saving);
  command
      .add_flag(
          "--list-models", list_models,
          "Only say which models of GPUs there are for --device model:NAME, and where their numbers are from; with\n"
          "--json also the numbers, as in a file of --save-model")
      ->excludes(&reading)
      ->excludes(&probed)
      ->excludes(&saving)
      ->excludes(&not_probing);
  figures.add_to(command, "Print JSON", "the machine, or each model");
}

ExitCode DoctorCommand::run(StandardOutput& output, Interrupt const& interrupt) const {
  auto const file = file_to_read();
  FilesToWrite files(std::vector<NamedFile>{{"--read", read}},
                     std::vector<NamedFile>{{"--save-model", save_model}, figures.page()}, interrupt.token());
  if (list_models) return run_models(output, files);
  DoctorFacts facts{.version = PENSTOCK_VERSION,
                    .flavour = flavour(),
                    .with_cuda = built_with_cuda(),
                    .with_nvtx = built_with_nvtx(),
                    .host = HostLimits::read(),
                    .topology = Topology::detect(),
                    .gpu_sentence = gpu_sentence(),
                    .gpu_problem = {},
                    .gpus = {},
                    .probed = {},
                    .probed_gpu = false,
                    .probe_problem = {},
                    .rates = std::nullopt,
                    .remarks = {}};
  try {
    facts.gpus = list_gpus();
    for (DeviceInfo const& gpu : facts.gpus) facts.sharing.push_back(gpu_sharing(gpu.pci_bus_id));
  } catch (Error const& error) {
    facts.gpu_problem = error.what();
  }
  if (!no_probe) probe(facts, file.get(), files.of("--save-model"), interrupt.token());
  if (interrupt.requested()) {
    tell("Interrupted: nothing is said of what was not measured to its end.");
    return exit_interrupted;
  }
  auto const row = [&] { return std::vector{row_of(facts)}; };
  if (!output.write(figures.json ? as_json(facts) : figures.csv ? csv_of(row()) : as_text(facts)))
    return exit_some_failed;
  if (OutputFile* const page = files.of("--html"); page != nullptr)
    write_page(*page, with_lines(as_json(facts, command_line), row()), title_of("doctor"));
  return facts.probe_problem.empty() && facts.gpu_problem.empty() ? exit_ok : exit_device;
}

ExitCode DoctorCommand::run_models(StandardOutput& output, FilesToWrite& files) const {
  constexpr std::size_t columns = 100, indent = 8;
  std::string text, all;
  std::vector<nlohmann::ordered_json> rows;
  std::vector<NamedModel> models;
  for (std::string const& name : built_in_models()) {
    cpu::DeviceModel const model = built_in_model(name).value();
    cpu::DeviceModel::Link const& link = model.link;
    models.emplace_back(name, model);
    text += name + std::string(indent - std::min(indent, name.size()), ' ') + model.name + ", " + model.link_name +
            "\n" + wrapped(model.source, indent, columns - indent);
    std::string const one = model_text(model);
    all += (all.empty() ? "[\n" : ",\n") + one.substr(0, one.size() - 1);
    rows.push_back({{"model", name},
                    {"name", model.name},
                    {"link", model.link_name},
                    {"up_gb_per_s", link.up},
                    {"down_gb_per_s", link.down},
                    {"both_gb_per_s", link.both},
                    {"link_gb_per_s", or_null(rate_of_link(model.link_name))},
                    {"copy_us", link.copy.count()},
                    {"peer_link", model.peer_name},
                    {"peer_gb_per_s", or_null(link.peer > 0 ? std::optional(link.peer) : std::nullopt)},
                    {"peer_link_gb_per_s", or_null(rate_of_link(model.peer_name))},
                    {"source", model.source}});
  }
  text += "\n" + links_text(std::move(models));
  if (!output.write(figures.json ? all + "\n]\n" : figures.csv ? csv_of(rows) : text)) return exit_some_failed;
  if (OutputFile* const page = files.of("--html"); page != nullptr)
    write_page(*page, with_lines(R"({"schema": 1, "kind": "models"})", rows), title_of("doctor"));
  return exit_ok;
}

/// Null without --read.
std::unique_ptr<OpenFile> DoctorCommand::file_to_read() const {
  if (read.empty()) return nullptr;
  std::string problem = "it is no regular file with something in it";
  try {
    auto file = std::make_unique<OpenFile>(read);
    if (file->pieces()) return file;
  } catch (std::runtime_error const& error) {
    problem = error.what();
  }
  throw Error(ErrorKind::bad_argument, "--read " + read + ": " + problem + ". Name a file of some GiB.");
}

void DoctorCommand::probe(DoctorFacts& facts, OpenFile const* file, OutputFile* model,
                          std::stop_token const& stop) const {
  try {
    auto const opened = open_device(slower.applied_to(device));
    auto const info = opened->info();
    facts.probed = device_text(info);
    facts.probed_gpu = info.kind == DeviceKind::cuda;
    auto const threads =
        producers != 0 ? producers : static_cast<unsigned>(std::min<std::size_t>(facts.topology.busy_threads(), 12));
    if (model != nullptr && !info.acts_as_gpu()) {
      throw Error(ErrorKind::bad_argument,
                  "--save-model measures a GPU, and " + info.name + " is none: name one by --device.");
    }
    expect_memory_to_probe(facts.host, threads);
    facts.rates = probe_rates(*opened, threads, file, stop);
    facts.remarks = opened->remarks();
    if (model == nullptr || stop.stop_requested()) return;
    std::string const text = model_text(probe_model(*opened, stop));
    model->write("the model", [&](std::ostream& to) { to << text; });
  } catch (Error const& error) {
    if (error.kind() == ErrorKind::bad_argument) throw;
    facts.probe_problem = error.what();
  } catch (std::exception const& exception) {
    facts.probe_problem = complaint_about(exception).sentence;
  }
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cli
