// SPDX-License-Identifier: Apache-2.0
// Any bytes behind the header of a log are read, and come to findings that the log bears.
#include <cstring>
#include <vector>

#include "fuzz/harness.hpp"

#include "anyprogram/watched/faults.hpp"
#include "anyprogram/watched/hazards.hpp"
#include "anyprogram/watched/log.hpp"
#include "anyprogram/watched/model.hpp"

namespace penstock::fuzz {

void try_input(std::string_view input) {
  if (input.size() > std::size_t{1} << 16) return;
  watch_log::Header header;
  header.magic = watch_log::magic;
  std::vector<std::byte> bytes(watch_log::chunk_bytes + input.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!input.empty()) std::memcpy(bytes.data() + watch_log::chunk_bytes, input.data(), input.size());
  cli::WatchLog const log = cli::read_watch_log(bytes);
  require(log.calls.size() + log.activities.size() <= input.size() / watch_log::record_bytes,
          "a log has no more than its records");
  cli::Hazards const hazards = cli::find_hazards(log);
  for (cli::Hazard const& hazard : hazards.pairs) {
    require(hazard.first.call < hazard.second.call && hazard.second.call < log.calls.size(), "a pair is of two calls");
    require(hazard.first.writes || hazard.second.writes, "one of a pair writes");
  }
  cli::WatchModel const model(log);
  auto const window = model.window();
  for (cli::Fault const& fault : cli::find_faults(model).faults)
    require(fault.cost >= 0 && fault.cost <= window.end - window.begin, "a fault costs no more than there is");
}

}  // namespace penstock::fuzz
