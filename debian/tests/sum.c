/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the bytes of sixteen tiles: the device doubles each, and the sink takes the sum. */
#include <penstock/penstock.h>
#include <string.h>

enum { bytes = 4096 };
static void twice(void* argument, uint32_t block) {
  penstock_device_tile const* const tile = argument;
  (void)block;
  for (size_t i = 0; i < bytes; ++i) ((unsigned char*)tile->output)[i] = 2 * ((unsigned char*)tile->input)[i];
}
static int64_t run(void* user, penstock_device_tile const* tile, penstock_stream* stream) {
  (void)user;
  return penstock_stream_launch(stream, 1, twice, tile, sizeof *tile, NULL) == PENSTOCK_OK ? bytes : -1;
}
static int32_t take(void* user, penstock_completion* completion) {
  unsigned char const* const output = penstock_tile_output(completion->tile).data;
  for (size_t i = 0; completion->outcome == PENSTOCK_DONE && i < bytes; ++i) *(unsigned long*)user += output[i];
  return 0;
}
int main(void) {
  unsigned long sum = 0;
  penstock_devices* devices = NULL;
  penstock_pipeline* pipeline = NULL;
  penstock_report* report = NULL;
  penstock_pipeline_options const options = {.size = sizeof options, .input_bytes = bytes, .output_bytes = bytes};
  penstock_sink const sink = {.size = sizeof sink, .user = &sum, .take = take};
  if (penstock_devices_open("cpu", &devices) || penstock_pipeline_create(devices, &options, &pipeline)) return 1;
  if (penstock_start(pipeline, &(penstock_stage){.size = sizeof(penstock_stage), .run = run}, &sink)) return 1;
  for (int i = 0; i < 16; ++i) {
    penstock_tile* tile = NULL;
    if (penstock_borrow(pipeline, &tile)) return 1;
    memset(penstock_tile_input(tile, 0).data, i, bytes);
    if (penstock_tile_set_filled(tile, 0, bytes) || penstock_submit(pipeline, tile)) return 1;
  }
  if (penstock_drain(pipeline, &report) || !penstock_report_ok(report)) return 1;
  return sum == 2UL * bytes * (15 * 16 / 2) ? 0 : 1;
}
