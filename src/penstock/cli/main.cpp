// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "penstock/cli/build_text.hpp"
#include "penstock/cli/doctor_command.hpp"
#include "penstock/cli/exit_code.hpp"
#include "penstock/cli/hash_command.hpp"
#include "penstock/cli/lab_command.hpp"
#include "penstock/core/error.hpp"
#include "penstock/devices/open_device.hpp"

namespace {

using namespace penstock::cli;

/// Takes standard descriptors that are closed, for reading where one writes and for writing where one reads: otherwise
/// the next thing to be opened would get the number, and pass for standard input or output.
void take_closed_descriptors() {
  for (int const descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is the one that is given out.
    static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

int complain(std::string const& sentence, int code) {
  std::fprintf(stderr, "penstock: %s\n", sentence.c_str());
  return code;
}

}  // namespace

int main(int count, char** arguments) try {
  take_closed_descriptors();
  std::string const name = penstock::flavour() == penstock::Flavour::legacy ? "penstock-legacy" : "penstock";
  CLI::App app("Feeds a GPU, or the CPU in its place, from many threads.", name);
  app.set_version_flag("--version", build_text(PENSTOCK_VERSION, penstock::flavour(), penstock::built_with_cuda()));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 all well; 1 some input failed or did not match, or an experiment did not go as expected, the\n"
      "rest was done; 2 bad options; 4 the device or the machine could not do it; 130 interrupted.");

  HashCommand hash;
  auto& hash_app = *app.add_subcommand("hash", "Print the BLAKE3 hash of files, as b3sum does");
  hash.add_to(hash_app);

  DoctorCommand doctor;
  auto& doctor_app = *app.add_subcommand("doctor", "Say what this machine is and what would hold a pipeline back");
  doctor.add_to(doctor_app);

  LabCommand lab;
  auto& lab_app = *app.add_subcommand("lab", "Try out how streams order and overlap what a device does");
  lab.add_to(lab_app);

  try {
    app.parse(count, arguments);
  } catch (CLI::ParseError const& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    auto const unknown = app.remaining();
    std::string const command = hash_app.parsed()     ? "hash "
                                : doctor_app.parsed() ? "doctor "
                                : lab_app.parsed()    ? "lab "
                                                      : "";
    std::string const sentence =
        command.empty() && !unknown.empty() ? "There is no command '" + unknown.front() + "'" : error.what();
    return complain(sentence + " (" + name + " " + command + "--help shows what there is)", exit_bad_options);
  }
  int const code = lab_app.parsed() ? lab.run() : doctor_app.parsed() ? doctor.run() : hash.run();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return complain("Standard output took less than all: see that it is open and that its disk has room.",
                    exit_some_failed);
  }
  return code;
} catch (penstock::Error const& error) {
  return complain(error.what(), error.kind() == penstock::ErrorKind::bad_argument ? exit_bad_options : exit_device);
} catch (std::exception const& exception) {
  return complain(exception.what(), exit_device);
}
