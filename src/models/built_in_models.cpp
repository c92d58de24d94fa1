// SPDX-License-Identifier: Apache-2.0
// The models that come with penstock. Each says where its numbers are from; docs/models.md says more.
#include <algorithm>
#include <array>

#include "models/models.hpp"
#include "models/old_models.hpp"

namespace penstock {
namespace {

using cpu::DeviceModel;
using Time = DeviceModel::Time;

/// The resolution that CUDA's documentation of cudaEventElapsedTime states.
constexpr Time documented_resolution(0.5);

/// Operations a second on tensor cores by the instructions (mma) that penstock's kernel uses, of the 989e12 that the
/// data sheets of H100 and H200 state: 62.9 % on Hopper (Luo and others, arXiv 2402.13499).
constexpr double by_mma_on_hopper = 0.629;
/// The part that cuBLAS reaches of an A100's (NVIDIA/DCGM, issue 40).
constexpr double by_cublas_on_a100 = 0.8;

DeviceModel h200() {
  DeviceModel model;
  model.name = "NVIDIA H200";
  model.source =
      "Measured on one H200 (PCIe 5 x16, driver 580, CUDA 13.0, 16 CPUs). By the architecture: threads_of_each, "
      "at_once, tera_flops. 62.9 % of the data sheet's 989, as published (arXiv 2402.13499): tensor_tera_flops. "
      "Measured by others on an RTX 3090 (github.com/Infatoshi/MegaQwen): barrier_us. Eight "
      "ninths of its NVLink by the data sheet: peer_gb_s. So that pipelines with "
      "small tiles take as long as there: handover_us, alone_us. By CUDA's documentation: event_resolution_us.";
  model.link_name = "PCIe 5 x16";
  model.peer_name = "NVLink 4";
  model.memory_bytes = 150'109'880'320;
  model.link = {.up = 55.2, .down = 55.1, .both = 50.5, .mapped = 33, .pageable = 9.4, .peer = 400, .copy = Time(2.4)};
  model.kernels = {.units = 132,
                   .threads_per_unit = 2048,
                   .memory = 3100,
                   .tera_flops = 60,
                   .tensor_tera_flops = 989 * by_mma_on_hopper,
                   .start = Time(3.6),
                   .barrier = Time(0.73),
                   .handover = Time(2.2)};
  model.calls = {.copy = Time(1.8),
                 .launch = Time(3.3),
                 .record = Time(0.25),
                 .wait = Time(0.3),
                 .callback = Time(0.9),
                 .query = Time(1.5),
                 .synchronize = Time(0.4),
                 .graph = Time(5.5),
                 .alone = Time(1.0)};
  model.completions = {.noticed = Time(2.2), .called = Time(11), .event_resolution = documented_resolution};
  model.host_cpus = 16;
  return model;
}

/// A link of `rate` GB/s one way. Both ways and for kernels it reaches the same part of that as the H200's.
DeviceModel::Link like_h200s(double rate) {
  DeviceModel::Link link = h200().link;
  double const part = rate / link.up;
  link.both *= part;
  link.mapped *= part;
  link.up = link.down = rate;
  link.pageable = std::min(link.pageable, rate);
  return link;
}
/// The memory rate that kernels reach: the same part of the data sheet's as on the H200, whose data sheet says 4800
/// GB/s.
double reached(double data_sheet) {
  return data_sheet * h200().kernels.memory / 4800;
}

DeviceModel h100() {
  DeviceModel model = h200();
  model.name = "NVIDIA H100 80GB HBM3";
  model.source =
      "Measured on one H100 of four (PCIe 5 x16, CUDA 13.0, 64 CPUs), medians of three times; peer_gb_s is what "
      "an all-reduce by NCCL comes to on two of them. By the architecture: threads_of_each, at_once, tera_flops. "
      "As of the H200: handover_us, alone_us, tensor_tera_flops. A quarter of the machine's: cpus. By CUDA's "
      "documentation: "
      "event_resolution_us.";
  model.memory_bytes = 85'017'493'504;
  model.link = {
      .up = 54.7, .down = 54.8, .both = 49.2, .mapped = 30.9, .pageable = 8.2, .peer = 266, .copy = Time(2.5)};
  model.kernels.memory = 2541;
  model.kernels.start = Time(4.7);
  model.calls = {.copy = Time(2.1),
                 .launch = Time(4.0),
                 .record = Time(0.21),
                 .wait = Time(0.27),
                 .callback = Time(0.93),
                 .query = Time(1.5),
                 .synchronize = Time(1.5),
                 .graph = Time(5.7),
                 .alone = h200().calls.alone};
  model.completions = {.noticed = Time(2.4), .called = Time(15), .event_resolution = documented_resolution};
  return model;
}

DeviceModel a100() {
  DeviceModel model = h200();
  model.name = "NVIDIA A100 80GB";
  model.source =
      "Published for PCIe 4 x16: up, down. Data sheet of the SXM card: bytes, multiprocessors, tera_flops; "
      "memory_gb_s and peer_gb_s, of which as much is reached as on the H200. By the architecture: copy_engines, "
      "threads_of_each, at_once. By CUDA's documentation: event_resolution_us. 80 % of the data sheet's 312, as "
      "published (NVIDIA/DCGM, issue 40): tensor_tera_flops. As of the H200 and its host: the rest. None is "
      "measured on an A100.";
  model.link_name = "PCIe 4 x16";
  model.memory_bytes = 85'899'345'920;
  model.link = like_h200s(25);
  model.link.peer = 267;
  model.peer_name = "NVLink 3";
  model.kernels.units = 108;
  model.kernels.memory = reached(2039);
  model.kernels.tera_flops = 17.5;
  model.kernels.tensor_tera_flops = 312 * by_cublas_on_a100;
  return model;
}

/// The operations a second that kernels reach: the same part of the data sheet's as on the H200, whose data sheet says
/// 67e12.
double computed(double data_sheet) {
  return data_sheet * h200().kernels.tera_flops / 67;
}

DeviceModel l4() {
  DeviceModel model = h200();
  model.name = "NVIDIA L4";
  model.source =
      "Published for PCIe 4 x16: up, down. Data sheet: bytes; memory_gb_s (300) and tera_flops (30.3), of which "
      "as much is reached as on the H200; tensor_tera_flops (121), of which as much as on an A100; no NVLink, so no "
      "peer_gb_s. By the architecture: multiprocessors, "
      "threads_of_each, at_once, copy_engines. By CUDA's documentation: event_resolution_us. As of the "
      "H200 and its host: the rest. None is measured on an L4.";
  model.link_name = "PCIe 4 x16";
  model.memory_bytes = 25'769'803'776;
  model.link = like_h200s(25);
  model.link.peer = 0;
  model.peer_name.clear();
  model.kernels.units = 58;
  model.kernels.threads_per_unit = 1536;
  model.kernels.memory = reached(300);
  model.kernels.tera_flops = computed(30.3);
  model.kernels.tensor_tera_flops = 121 * by_cublas_on_a100;
  return model;
}

DeviceModel t4() {
  DeviceModel model = l4();
  model.name = "NVIDIA T4";
  model.source =
      "Published for PCIe 3 x16: up, down. Data sheet: bytes; memory_gb_s (320) and tera_flops (8.1), of which "
      "as much is reached as on the H200; tensor_tera_flops (65), of which as much as on an A100; no NVLink, so no "
      "peer_gb_s. By the architecture: multiprocessors, "
      "threads_of_each, at_once, copy_engines. By CUDA's documentation: event_resolution_us. As of the "
      "H200 and its host: the rest. None is measured on a T4.";
  model.link_name = "PCIe 3 x16";
  model.memory_bytes = 17'179'869'184;
  model.link = like_h200s(12);
  model.link.peer = 0;
  model.peer_name.clear();
  model.kernels.units = 40;
  model.kernels.threads_per_unit = 1024;
  model.kernels.memory = reached(320);
  model.kernels.tera_flops = computed(8.1);
  model.kernels.tensor_tera_flops = 65 * by_cublas_on_a100;
  return model;
}

DeviceModel gh200() {
  DeviceModel model = h200();
  model.name = "NVIDIA GH200 96GB";
  model.source =
      "Measured by others on a GH200, Schieffer and others, arXiv 2407.07850: up, down, memory_gb_s. NVIDIA's "
      "nvbandwidth, issue 41, both ways at once reach half: both. In proportion to the H200's: mapped_gb_s. Data "
      "sheet: bytes, cpus. One superchip, so no peer_gb_s. By the architecture: multiprocessors, "
      "threads_of_each, at_once, copy_engines, tera_flops. By CUDA's documentation: event_resolution_us. As "
      "of the H200 and its host, which is no Grace: the rest.";
  model.link_name = "NVLink-C2C";
  model.memory_bytes = 103'079'215'104;
  model.link.mapped *= 375 / model.link.up;
  model.link.up = 375;
  model.link.down = 297;
  model.link.both = 168;
  model.link.peer = 0;
  model.peer_name.clear();
  model.kernels.memory = 3400;
  model.host_cpus = 72;
  return model;
}

DeviceModel b200() {
  DeviceModel model = h200();
  model.name = "NVIDIA B200";
  model.source =
      "Published data sheet of the HGX board, for one of its eight: bytes; memory_gb_s (8000), tera_flops "
      "(75) and tensor_tera_flops (2250), of which as much is reached as on the H200; eight ninths of its NVLink (900 "
      "one way): peer_gb_s. "
      "Its link is PCIe 5 x16, as the H200's: up, down, both, mapped_gb_s. By the architecture: multiprocessors, "
      "threads_of_each, at_once, copy_engines. By CUDA's documentation: event_resolution_us. As of the "
      "H200 and its host: the rest. None is measured on a B200.";
  model.memory_bytes = 193'273'528'320;
  model.link.peer = 800;
  model.peer_name = "NVLink 5";
  model.kernels.units = 148;
  model.kernels.memory = reached(8000);
  model.kernels.tera_flops = computed(75);
  model.kernels.tensor_tera_flops = 2250 * by_mma_on_hopper;
  return model;
}

DeviceModel p100() {
  DeviceModel model = h200();
  model.name = "Tesla P100-PCIE-16GB";
  model.source =
      "Measured by others with bandwidthTest in a machine with two sockets (mpicbg-scicomp/gearshifft, pull request "
      "82): up, down, far_gb_s, far_down_gb_s, memory_gb_s. In proportion to the H200's: both, mapped_gb_s. Data "
      "sheet: bytes; tera_flops (9.3), of which as much is reached as on the H200; no NVLink, so no peer_gb_s. By the "
      "architecture: multiprocessors, threads_of_each, at_once, copy_engines; no tensor cores. By CUDA's "
      "documentation: event_resolution_us. As of the H200 and its host: the rest.";
  model.link_name = "PCIe 3 x16";
  model.memory_bytes = 17'179'869'184;
  model.link = like_h200s(12.2);
  model.link.down = 12.9;
  model.link.far = 3.8;
  model.link.far_down = 2.5;
  model.link.peer = 0;
  model.peer_name.clear();
  model.kernels.units = 56;
  model.kernels.memory = 444;
  model.kernels.tera_flops = computed(9.3);
  model.kernels.tensor_tera_flops = 0;
  model.host_cpus = 12;
  model.host_nodes = 2;
  return model;
}

struct Named {
  std::string_view name;
  DeviceModel (*make)();
};
constexpr std::array models{Named{"h200", h200},
                            Named{"h100", h100},
                            Named{"a100", a100},
                            Named{"t4", t4},
                            Named{"l4", l4},
                            Named{"gh200", gh200},
                            Named{"b200", b200},
                            Named{"p100", p100},
                            Named{"k20c", [] { return model_of_k20c(h200()); }},
                            Named{"c2050", [] { return model_of_c2050(h200()); }},
                            Named{"c1060", [] { return model_of_c1060(h200()); }}};

}  // namespace

std::vector<std::string> built_in_models() {
  std::vector<std::string> names;
  for (Named const& each : models) names.emplace_back(each.name);
  return names;
}

std::optional<DeviceModel> built_in_model(std::string_view name) {
  auto const found = std::ranges::find(models, name, &Named::name);
  if (found == models.end()) return std::nullopt;
  return found->make();
}

}  // namespace penstock
