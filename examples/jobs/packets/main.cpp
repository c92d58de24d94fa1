// SPDX-License-Identifier: Apache-2.0
// A job: the packets of a capture, counted, with their checksums looked at, and added up by flow. `packets run --input
// capture.pcap` prints what there is of each kind, and the flows with the most bytes.
#include <algorithm>
#include <string>
#include <vector>

#include "../input_parts.hpp"
#include "packet_partial.hpp"
#include <penstock/ingest/files.hpp>
#include <penstock/ingest/framing.hpp>
#include <penstock/ingest/sockets.hpp>
#include <penstock/job.hpp>
#include <penstock/packets/packet_sums.hpp>

using namespace penstock;

namespace {

using Flows = std::vector<PacketFlow>;

class SumPackets final : public Stage {  // Each lane adds up on its device.
 public:
  SumPackets(StageContext const& context, std::size_t places)
      : flows(places),
        multiprocessors_(context.spare == 0 ? 0 : context.multiprocessors()),
        totals_(context.device.allocate(sizeof totals)),
        flows_(context.device.allocate(places * sizeof(PacketFlow))) {}
  Promises promises() const noexcept override { return {.reads_once = true, .capturable = true}; }
  void prepare(StreamRef stream) override {
    stream.upload(totals_.bytes(), std::as_bytes(std::span(&totals, 1)));
    stream.upload(flows_.bytes(), std::as_bytes(std::span(flows)));
    sum_packets_prepare(stream);
  }
  std::size_t run(DeviceTile const& tile, StreamRef stream) override {
    std::size_t produced = 0;  // Nothing to bring back for a tile.
    run_batch(std::span(&tile, 1), std::span(&produced, 1), stream);
    return produced;
  }
  bool run_batch(std::span<DeviceTile const> tiles, std::span<std::size_t> produced, StreamRef stream) override {
    inputs_.clear();
    for (DeviceTile const& tile : tiles) inputs_.push_back({tile.input, tile.more_inputs[0]});
    sum_packets(inputs_, DeviceSpan<std::byte>(totals_.bytes()).as<PacketTotals>(),
                DeviceSpan<std::byte>(flows_.bytes()).as<PacketFlow>(), stream, multiprocessors_);
    std::ranges::fill(produced, 0);
    return true;
  }
  void finish(StreamRef stream) override {
    stream.download(std::as_writable_bytes(std::span(&totals, 1)), totals_.bytes());
    stream.download(std::as_writable_bytes(std::span(flows)), flows_.bytes());
  }
  PacketTotals totals;
  Flows flows;

 private:
  unsigned const multiprocessors_;
  DeviceMemory totals_, flows_;
  std::vector<PacketInput> inputs_;
};

/// Sums of all lanes.
struct Sums {
  PacketTotals totals;
  Flows flows;  ///< Flows by their keys.

  void add(SumPackets const& lane) {
    totals += lane.totals;
    add_flows(lane.flows, flows);
  }
};

std::string text_of(Sums const& sums, std::size_t top) {
  PacketTotals const& totals = sums.totals;
  Flows flows = sums.flows;
  std::erase_if(flows, [](PacketFlow const& flow) { return flow.key.version == 0; });  // left_out_of reports those.
  std::string text;
  for (auto const& [name, number] : {std::pair{"packets", totals.packets},
                                     {"bytes", totals.bytes},
                                     {"captured bytes", totals.captured_bytes},
                                     {"ipv4", totals.ipv4},
                                     {"ipv6", totals.ipv6},
                                     {"other", totals.other},
                                     {"fragments", totals.fragments},
                                     {"bad ipv4 headers", totals.bad_headers},
                                     {"checksums", totals.checked},
                                     {"bad checksums", totals.bad},
                                     {"flows", flows.size()},
                                     {"packets without flow", totals.without_flow}}) {
    text += std::string(name) + " " + std::to_string(number) + "\n";
  }
  std::ranges::stable_sort(flows, std::ranges::greater(), &PacketFlow::bytes);
  if (top != 0 && flows.size() > top) flows.resize(top);
  text += "protocol source target packets bytes first last flags\n";
  for (PacketFlow const& flow : flows) text += describe(flow) + "\n";
  return text;
}

std::uint64_t digest_of(Sums const& sums) {
  std::vector<PacketFlow> flows = sums.flows;
  for (PacketFlow& flow : flows) flow.state = 0;
  return digest_of_bytes(std::as_bytes(std::span(&sums.totals, 1))) ^ digest_of_bytes(std::as_bytes(std::span(flows)));
}

/// The interface; empty if the input is a file.
std::string interface_of(JobPoint const& point) {
  std::string const& name = point.values.text("interface");
  if (name.empty() == point.values.texts("input").empty()) {
    throw Error(ErrorKind::bad_argument, "Name captures by --input or an interface by --interface, and not both.");
  }
  if (name.empty() || !point.measured) return name;
  throw Error(ErrorKind::bad_argument, "An interface has no end to be measured: only run can capture.");
}

JobWork sum_capture(JobPoint const& point) {
  std::size_t const places = std::size_t{1} << point.values.number("table");
  auto const all = std::make_shared<Sums>();  // Each run has its own sums.
  return {.source = [inputs = inputs_of(point), live = interface_of(point),
                     stop = point.stop](Pool const& pool) -> std::unique_ptr<Source> {
            if (!live.empty()) return std::make_unique<PacketSource>(live, pool, PacketSourceOptions{.stop = stop});
            FileSourceOptions const options{.stop = stop, .framing = captured_packets(), .decompress = true};
            return std::make_unique<FileSource>(inputs, pool, options);
          },
          .stages = Stages{.make = [=](StageContext const& c) { return std::make_unique<SumPackets>(c, places); },
                           .merge = [all](Stage& lane) { all->add(static_cast<SumPackets&>(lane)); }},
          .digest = [all] { return digest_of(*all); },
          .results = [all, top = point.values.number("top")] { return text_of(*all, top); },
          .left_out = [all] { return left_out_of(all->totals, all->flows); },
          .partial = [all] { return packet_partial(all->totals, all->flows); },
          .add_partial = [all](std::string_view text) { add_packet_partial(text, all->totals, all->flows); }};
}

/// Each capture is a part: packets are found one by one, from its beginning.
std::vector<JobPart> parts_of(JobPoint const& point, std::uint64_t) {
  if (!interface_of(point).empty())
    throw Error(ErrorKind::bad_argument,
                "An interface cannot be captured twice, as a ledger needs: leave out --ledger, "
                "or write its packets to files by `tcpdump -w`.");
  std::vector<JobPart> parts;
  for (std::string const& path : point.values.texts("input")) parts.push_back({.path = path});
  return parts;
}

TileShape shape_of(JobPoint const& point) {
  if (point.tile_bytes < 4096)  // The source recognises the beginning of a packet by several packets in a row.
    throw Error(ErrorKind::bad_argument, "a tile has whole packets: give it 4 KiB or more, and best room for 16");
  return {.input_bytes = point.tile_bytes, .more_input_bytes = {capture_places_bytes(point.tile_bytes)}};
}

}  // namespace

int main(int count, char** arguments) {
  JobOption input = files_option("input", "The captures, pcap or pcapng, one after the other; - is standard input");
  input.required = false;
  return run_job(
      count, arguments,
      {.sentence = "Counts and checks captured packets, and adds them up by flow",
       .options = {input,
                   JobOption{.name = "interface",
                             .sentence = "The network interface to capture from until ctrl-C, as lo",
                             .type = "NAME",
                             .listed = false},
                   number_option("top", "How many flows are printed, most bytes first; 0: all", 20, 0, 1U << 30U),
                   number_option("table", "Each lane has room for two to the power of this flows", 18, 6, 28)},
       .shape = shape_of,
       .make = sum_capture,
       .parts = parts_of,
       .parallel_sink = true});  // It has no sink.
}
