// SPDX-License-Identifier: Apache-2.0
#include "models/cost_on_model.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::cpu {

using Kind = Request::Kind;

namespace {

/// GB/s are bytes in a nanosecond.
double time_of(double amount, double rate) {
  return rate > 0 ? amount / rate : 0;
}

}  // namespace

double CostOnModel::copy(Request const& copy) const noexcept {
  if (copy.kind == Kind::copy) {
    auto const bytes = static_cast<double>(copy.from.size());
    return copy.peer ? time_of(bytes, peer_rate()) : time_of(2 * bytes, model_.kernels.memory);  // Read and written.
  }
  return time_of(static_cast<double>(copy.from.size()), link_rate(copy));
}

double CostOnModel::link_rate(Request const& copy) const noexcept {
  double const rate =
      copy.pageable ? model_.link.pageable : (copy.kind == Kind::upload ? model_.link.up : model_.link.down);
  double const far = copy.kind == Kind::download && model_.link.far_down > 0 ? model_.link.far_down : model_.link.far;
  return copy.far && far > 0 ? std::min(rate, far) : rate;
}

double CostOnModel::kernel(Request const& kernel) const noexcept {
  KernelCost const& cost = kernel.cost;
  // Units: 1e12 a second are 1e3 a nanosecond.
  std::size_t const bytes = cost.reads[0].size() + cost.reads[1].size() + cost.writes.size();
  auto const linked = static_cast<double>(std::max(kernel.linked_reads, kernel.linked_writes));
  double const bound = std::max(
      {time_of(static_cast<double>(bytes), model_.kernels.memory), time_of(linked, model_.link.mapped),
       time_of(cost.peer_bytes, peer_rate()), time_of(cost.flops, model_.kernels.tera_flops * 1e3 * share(kernel)),
       time_of(cost.tensor_flops, tensor_tera_flops() * 1e3 * share(kernel)),
       static_cast<double>(cost.time.count()) * std::max(1.0, std::ceil(cost.blocks / places(cost)))});
  return bound + cost.barriers * std::chrono::duration<double, std::nano>(model_.kernels.barrier).count();
}

double CostOnModel::bytes_of_memory(Request const& kernel) noexcept {
  KernelCost const& cost = kernel.cost;
  std::size_t const linked = kernel.linked_reads + kernel.linked_writes;
  std::size_t const bytes = cost.reads[0].size() + cost.reads[1].size() + cost.writes.size();
  return static_cast<double>(bytes - std::min(bytes, linked));
}

double CostOnModel::memory_of_copy(Request const& copy) const noexcept {
  if (copy.kind != Kind::copy) return link_rate(copy);
  return copy.peer ? peer_rate() : model_.kernels.memory;
}

double CostOnModel::kept_by_copies(double taken) const noexcept {
  return 1 - (1 - model_.link.beside_kernels) * std::min(1.0, taken / model_.kernels.memory);
}

double CostOnModel::peer_rate() const noexcept {
  return model_.link.peer > 0 ? model_.link.peer : model_.link.both;
}

double CostOnModel::tensor_tera_flops() const noexcept {
  return model_.kernels.tensor_tera_flops > 0 ? model_.kernels.tensor_tera_flops : model_.kernels.tera_flops;
}

unsigned CostOnModel::waves(Request const& kernel, double length) const noexcept {
  constexpr double usual_wave = 10'000;
  double const waves =
      kernel.cost.blocks > 0 ? static_cast<double>(kernel.cost.blocks) / places(kernel.cost) : length / usual_wave;
  return static_cast<unsigned>(std::clamp(std::ceil(waves), 1.0, 1e6));
}

double CostOnModel::share(Request const& kernel) const noexcept {
  if (kernel.cost.blocks == 0) return 1;
  return std::min(1.0, static_cast<double>(kernel.cost.blocks) / places(kernel.cost));
}

/// Places on the device for blocks like the kernel's.
double CostOnModel::places(KernelCost const& cost) const noexcept {
  unsigned const of_each = std::max(1U, model_.kernels.threads_per_unit / std::max(1U, cost.block_threads));
  return static_cast<double>(model_.kernels.units) * of_each;
}

}  // namespace penstock::cpu
