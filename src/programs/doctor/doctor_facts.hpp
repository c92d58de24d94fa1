// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/machine/host_limits.hpp"
#include "engine/machine/topology.hpp"
#include "penstock/device.hpp"
#include "programs/doctor/gpu_sharing.hpp"
#include "programs/doctor/probes.hpp"

namespace penstock::cli {

/// All that `penstock doctor` knows of a machine.
struct DoctorFacts {
  std::string version;
  Flavour flavour = Flavour::per_thread;
  bool with_cuda = false;  ///< The CUDA device is in the build.
  bool with_nvtx = false;  ///< Ranges for profilers are in the build.
  HostLimits host;
  Topology topology;
  std::string gpu_sentence;  ///< Says if there is a GPU, or what is in the way.
  std::string gpu_problem;   ///< Reason why the GPUs could not be queried; empty if they could.
  std::vector<DeviceInfo> gpus;
  std::string probed;  ///< The name of the device that was probed; empty if none was.
  bool probed_gpu = false;
  std::string probe_problem;  ///< Reason why it could not be probed; empty if it could or should not.
  std::optional<ProbeRates> rates;
  std::vector<std::string> remarks = {};  ///< Remarks on the device that was probed.
  std::vector<GpuSharing> sharing = {};   ///< Of each of `gpus`; empty if the driver was not asked.
};

/// Text for people, remarks last.
std::string as_text(DoctorFacts const& facts);
/// An object that always has the same keys; what is unknown is null. `command` is there only if it is not empty.
std::string as_json(DoctorFacts const& facts, std::string const& command = "");
/// The figures of as_json in a row, as csv_of takes it; those of the first GPU, if there are several.
nlohmann::ordered_json row_of(DoctorFacts const& facts);

/// A plain sentence on each thing that would hold a pipeline back, with what to do about it. Empty if all is well.
std::vector<std::string> remarks_on(DoctorFacts const& facts);

}  // namespace penstock::cli
