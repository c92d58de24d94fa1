/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline from C: a program's own thread fills tiles, the CPU device squares their numbers, and a sink adds them up.
 * On a GPU a stage launches its own kernel in `penstock_stream_cuda(stream)`. */
#include <stdio.h>
#include <stdlib.h>

#include "penstock/penstock.h"

enum { tiles = 64, numbers = 1024 };

static void check(penstock_status status) {
  if (status == PENSTOCK_OK) return;
  fprintf(stderr, "%s\n", penstock_last_error());
  exit(1);
}

static void square(void* argument, uint32_t block) {
  penstock_device_tile const* const tile = argument;
  float const* const in = tile->input;
  float* const out = tile->output;
  size_t const each = numbers / 4;
  for (size_t i = block * each; i < (block + 1) * each; ++i) out[i] = in[i] * in[i];
}

static int64_t run(void* state, penstock_device_tile const* tile, penstock_stream* stream) {
  (void)state;
  if (penstock_stream_launch(stream, 4, square, tile, sizeof *tile, NULL) != PENSTOCK_OK) return -1;
  return (int64_t)tile->output_bytes;
}

static int32_t take(void* user, penstock_completion* completion) {
  if (completion->outcome != PENSTOCK_DONE) return 0; /* The report has it. */
  float const* const squares = penstock_tile_output(completion->tile).data;
  double* const sum = user;
  for (int i = 0; i < numbers; ++i) *sum += squares[i];
  return 0;
}

int main(void) {
  double sum = 0;
  penstock_devices* devices = NULL;
  penstock_pipeline* pipeline = NULL;
  penstock_report* report = NULL;
  penstock_option const options[] = {{"lanes", "1"}, {"ordered", "yes"}};
  check(penstock_devices_open("cpu", &devices));
  check(penstock_pipeline_create(devices,
                                 &(penstock_pipeline_options){.size = sizeof(penstock_pipeline_options),
                                                              .input_bytes = numbers * sizeof(float),
                                                              .output_bytes = numbers * sizeof(float),
                                                              .options = options,
                                                              .option_count = 2},
                                 &pipeline));
  check(penstock_start(pipeline, &(penstock_stage){.size = sizeof(penstock_stage), .run = run},
                       &(penstock_sink){.size = sizeof(penstock_sink), .user = &sum, .take = take}));
  for (int i = 0; i < tiles; ++i) {
    penstock_tile* tile = NULL;
    check(penstock_borrow(pipeline, &tile));
    float* const input = penstock_tile_input(tile, 0).data;
    for (int j = 0; j < numbers; ++j) input[j] = (float)(i % 8);
    penstock_tile_set_filled(tile, 0, numbers * sizeof(float));
    check(penstock_submit(pipeline, tile));
  }
  check(penstock_drain(pipeline, &report));
  char* text = NULL;
  check(penstock_report_text(report, &text));
  puts(text);
  int const right = penstock_report_ok(report) && sum == 1024.0 * 8 * (0 + 1 + 4 + 9 + 16 + 25 + 36 + 49);
  penstock_free_text(text);
  penstock_report_destroy(report);
  penstock_pipeline_destroy(pipeline);
  penstock_devices_close(devices);
  return right ? 0 : 1;
}
