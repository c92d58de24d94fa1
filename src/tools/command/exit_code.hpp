// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::cli {

/// What the process says when it ends. docs/commands/README.md has the same table.
enum ExitCode : int {
  exit_ok = 0,
  exit_some_failed = 1,  ///< Some input could not be read or did not match, some experiment went otherwise, a
                         ///< point was not measured, a claim does not hold, tune found nothing within its memory; the
                         ///< rest was done.
  exit_bad_options = 2,  ///< Nothing was done.
  exit_device = 4,  ///< The device or the machine could not do it: no such GPU, too little memory, a fault; also of one
                    ///< among several devices, though the others did the rest.
  exit_interrupted = 130  ///< Ctrl-C, SIGTERM, SIGHUP: what was under way was finished or cancelled, nothing is left.
};

}  // namespace penstock::cli
