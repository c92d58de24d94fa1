# SPDX-License-Identifier: Apache-2.0
# The street plan: components, and the layers of each. Arrows lead down, from a component to those that it NEEDS. No include
# leads out of the engine, but for those that tests/house/knots.txt lists; no line may be added there.
penstock_add_component(engine
  SENTENCE "Pipeline, tiles, pool, lanes, signals, devices, and the graph around them."
  LAYERS   core device machine plan report flavour cpu cuda named_devices lane flow graph)

penstock_add_component(observe
  SENTENCE "What a run tells: verdict, trace, times of steps, ranges for profilers, attribution; options as text."
  NEEDS    engine
  LAYERS   nvtx cupti observe
  GUESTS   recording.hpp report/advice.cpp report/advice.hpp report/attribution.cpp report/device_advice.cpp report/device_advice.hpp
           report/find_bound.cpp report/find_bound.hpp report/limits.cpp report/limits.hpp report/measured_run.hpp
           report/overlap.cpp report/overlap.hpp report/passages.cpp report/passages.hpp report/run_figures.cpp
           report/run_figures.hpp report/trace.cpp report/trace_rows.cpp report/trace_rows.hpp report/trace_text.cpp
           report/trace_text.hpp report/utilisation.cpp report/utilisation.hpp report/verdict.cpp)

penstock_add_component(models
  SENTENCE "GPUs that are modelled by the CPU device, their clock, and devices of every kind by name."
  NEEDS    engine
  LAYERS   models devices)

penstock_add_component(ingest
  SENTENCE "Sources: files, compressed files, sockets, packets, shared memory; where records begin and end."
  NEEDS    engine
  LAYERS   framing decoding file net ring ring_source)

penstock_add_component(egress
  SENTENCE "Sinks: records to files, pipes and connections; columns as Arrow has them."
  NEEDS    engine
  LAYERS   sink arrow)

penstock_add_component(records
  SENTENCE "Small work in tiles, and windows over it."
  NEEDS    engine
  LAYERS   records windows)

penstock_add_component(kernels
  SENTENCE "Built-in kernels: BLAKE3, sums, transforms."
  NEEDS    engine
  LAYERS   kernels)

penstock_add_component(lines
  SENTENCE "Kernels on lines of text."
  NEEDS    kernels
  LAYERS   literals
  GUESTS   line_sums.hpp access_log.hpp digit_walk.hpp json_name.hpp json_stops.hpp json_walk.hpp line_calendar.hpp
           line_groups.cuh line_stops.hpp line_text.cpp line_time.hpp line_values.hpp line_walk.hpp lines_on_cuda.hpp
           lines_without_cuda.cpp literal_marks.cuh literal_search.hpp stop_cursor.hpp sum_lines.cpp sum_lines.cu time_cursor.hpp)

penstock_add_component(packets
  SENTENCE "Kernels on captured packets."
  NEEDS    ingest kernels
  GUESTS   packet_sums.hpp captured_packet.hpp packet_extensions.hpp packet_flows.cpp packet_headers.hpp packet_layers.hpp
           packet_links.hpp packet_octets.hpp packet_parse.hpp packets_left_out.cpp packets_on_cuda.hpp
           packets_without_cuda.cpp sum_packets.cpp sum_packets.cu)

penstock_add_component(radio
  SENTENCE "Kernels on samples of radio, and pictures of them."
  NEEDS    egress kernels
  LAYERS   picture
  GUESTS   mode_s.hpp waterfall.hpp mode_s.cpp mode_s.cu mode_s_frame.cpp mode_s_receiver.cpp mode_s_rules.hpp radio_on_cuda.hpp
           radio_without_cuda.cpp sum_spectra.cpp sum_spectra.cu waterfall.cpp)

penstock_add_component(images
  SENTENCE "Kernels on images."
  NEEDS    kernels
  GUESTS   images.hpp images_on_cuda.hpp images_without_cuda.cpp resize_images.cpp resize_images.cu resize_rules.hpp)

penstock_add_component(collective
  SENTENCE "What several devices have, made one."
  NEEDS    kernels
  LAYERS   collective)

penstock_add_component(operate
  SENTENCE "A running program: metrics, stop signals, options in files."
  NEEDS    engine observe
  LAYERS   operation profile
  GUESTS   stop_signals.hpp machine/stop_signals.cpp)

penstock_add_component(job
  SENTENCE "A user's own work as a value, under run, bench, compare and tune."
  NEEDS    engine
  LAYERS   job)

penstock_add_component(programs
  SENTENCE "The command and its parts. Their headers are not installed."
  NEEDS    observe models ingest egress records collective operate job kernels
  LAYERS   page command measure programs hash doctor lab bench compare tune injection preload watched watch jobs try program)
