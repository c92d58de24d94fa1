// SPDX-License-Identifier: Apache-2.0
#include "penstock/operate/shard.hpp"

#include <charconv>
#include <cstdlib>
#include <system_error>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::size_t most_shards = 100'000;

std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

using Variable = std::function<std::optional<std::string>(std::string const&)>;

std::optional<std::string> of_this_process(std::string const& name) {
  char const* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// The number that a variable has; empty if it is not there.
std::optional<std::size_t> value_of(Variable const& variable, std::string const& name) {
  auto const text = variable(name);
  if (!text) return std::nullopt;
  auto const number = number_in(*text);
  if (!number)
    throw Error(ErrorKind::bad_argument,
                name + " is '" + *text + "', which is no number: name the shard, such as 3/16, or unset the variable.");
  return number;
}

/// A shard by a rank that counts from 0.
std::optional<Shard> by_rank(Variable const& variable, std::string const& rank_name, std::string const& count_name) {
  auto const rank = value_of(variable, rank_name), count = value_of(variable, count_name);
  if (!rank || !count) return std::nullopt;
  if (*count == 0 || *count > most_shards || *rank >= *count)
    throw Error(ErrorKind::bad_argument, rank_name + " is " + std::to_string(*rank) + ", and " + count_name + " is " +
                                             std::to_string(*count) + ": name the shard, such as 3/16.");
  return Shard{.number = *rank + 1, .count = *count};
}

/// The shard by the task of an array job.
std::optional<Shard> by_array(Variable const& variable) {
  auto const id = value_of(variable, "SLURM_ARRAY_TASK_ID"), count = value_of(variable, "SLURM_ARRAY_TASK_COUNT");
  if (!id || !count) return std::nullopt;
  std::size_t const first = value_of(variable, "SLURM_ARRAY_TASK_MIN").value_or(0);
  std::size_t const step = value_of(variable, "SLURM_ARRAY_TASK_STEP").value_or(1);
  // An array may have gaps, as in --array=1,5,7: then a number is beyond their count.
  if (*id < first || step == 0 || (*id - first) % step != 0 || (*id - first) / step >= *count || *count > most_shards)
    throw Error(ErrorKind::bad_argument, "SLURM_ARRAY_TASK_ID is " + std::to_string(*id) + ", in an array of " +
                                             std::to_string(*count) + " tasks from " + std::to_string(first) +
                                             " on: use an array without gaps, such as --array=1-" +
                                             std::to_string(*count) + ", or name the shard, such as 3/16.");
  return Shard{.number = (*id - first) / step + 1, .count = *count};
}

}  // namespace

Shard shard_of(std::string_view text) {
  auto const slash = text.find('/');
  auto const number = number_in(text.substr(0, slash));
  auto const count = slash == std::string_view::npos ? std::nullopt : number_in(text.substr(slash + 1));
  if (number && count && *number >= 1 && *number <= *count && *count <= most_shards) return {*number, *count};
  throw Error(ErrorKind::bad_argument,
              "'" + std::string(text) + "' is no shard: name its number and how many there are, such as 3/16.");
}

std::optional<Shard> shard_of_batch_system(Variable const& variable) {
  Variable const found = variable ? variable : Variable(of_this_process);
  auto task = by_rank(found, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (!task) task = by_rank(found, "PMI_RANK", "PMI_SIZE");
  // A batch script has SLURM_PROCID, too, but is one process however many tasks there may be.
  if (!task) task = by_rank(found, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
  auto const array = by_array(found);
  if (!task || !array) return task ? task : array;
  return Shard{.number = (array->number - 1) * task->count + task->number, .count = array->count * task->count};
}

std::string name_for(Shard const& shard, std::string const& path) {
  if (shard.is_all()) return path;
  std::string const count = std::to_string(shard.count);
  std::string number = std::to_string(shard.number);
  number.insert(0, count.size() - number.size(), '0');
  return path + "-" + number + "-of-" + count;
}

}  // namespace penstock
