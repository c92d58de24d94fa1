// SPDX-License-Identifier: Apache-2.0
#include "models/old_models.hpp"

namespace penstock {

using cpu::DeviceModel;

namespace {

/// Figures that no source of the older cards states.
DeviceModel older(DeviceModel model) {
  model.link_name = "PCIe 2 x16";
  model.link.pageable = 3;
  model.link.peer = 0;
  model.peer_name.clear();
  model.kernels.tensor_tera_flops = 0;
  model.kernels.barrier = {};  // They have no cooperative launches.
  model.host_cpus = 8;
  return model;
}

}  // namespace

DeviceModel model_of_k20c(DeviceModel const& h200) {
  DeviceModel model = older(h200);
  model.name = "Tesla K20c";
  model.source =
      "So that four streams with a copy, a kernel and a copy of 4 MiB each take as long as published in 2012: "
      "up, down, both, tera_flops. Data sheet: bytes, multiprocessors, memory_gb_s. By the architecture: "
      "copy_engines, copies_in_order_of_issue, threads_of_each, at_once, signal_together. Assumed: mapped_gb_s, "
      "pageable_gb_s, cpus; no peer_gb_s. By CUDA's documentation: event_resolution_us. As of the H200 "
      "and its host: the rest.";
  model.memory_bytes = 5'368'709'120;
  model.link.up = model.link.down = model.link.both = 5.69;
  model.link.mapped = 5;
  model.kernels.units = 13;
  model.kernels.at_once = 32;
  model.kernels.memory = 208;
  model.kernels.tera_flops = 2.9;
  return model;
}

DeviceModel model_of_c2050(DeviceModel const& h200) {
  DeviceModel model = model_of_k20c(h200);
  model.name = "Tesla C2050";
  model.memory_bytes = 3'221'225'472;
  model.link.up = model.link.down = 4.94;
  model.link.both = 3.7;
  model.link.mapped = 3.7;
  model.copies_in_order_of_issue = true;
  model.kernels.units = 14;
  model.kernels.threads_per_unit = 1536;
  model.kernels.at_once = 16;
  model.kernels.signal_together = true;
  model.kernels.memory = 144;
  model.kernels.tera_flops = 1.08;
  return model;
}

DeviceModel model_of_c1060(DeviceModel const& h200) {
  DeviceModel model = model_of_k20c(h200);
  model.name = "Tesla C1060";
  model.memory_bytes = 4'294'967'296;
  model.link.up = model.link.down = model.link.both = 6.19;
  model.copy_engines = 1;
  model.copies_in_order_of_issue = true;
  model.kernels.units = 30;
  model.kernels.threads_per_unit = 1024;
  model.kernels.at_once = 1;
  model.kernels.memory = 102;
  model.kernels.tera_flops = 0.459;
  return model;
}

}  // namespace penstock
