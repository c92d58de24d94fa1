/* SPDX-License-Identifier: Apache-2.0 */
/* What tiles.py does, without Python: `tiles sum CUBIN BYTES FILE...` sums the tiles of files on a GPU, and
 * `tiles push BYTES THREADS SECONDS DEVICE` copies buffers into tiles by several threads. Prints tiles and seconds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "penstock/penstock.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void expect(penstock_status status) {
  if (status == PENSTOCK_OK) return;
  fprintf(stderr, "%s\n", penstock_last_error());
  exit(2);
}

static penstock_pipeline* open_pipeline(char const* device, size_t bytes, size_t output, uint64_t flags) {
  penstock_devices* devices = NULL;
  penstock_pipeline* pipeline = NULL;
  expect(penstock_devices_open(device, &devices));
  penstock_pipeline_options options = {
      .size = sizeof options, .input_bytes = bytes, .output_bytes = output, .flags = flags};
  char const* const tiles = getenv("TILES");
  penstock_option const named = {"tiles", tiles};
  if (tiles != NULL) {
    options.options = &named;
    options.option_count = 1;
  }
  expect(penstock_pipeline_create(devices, &options, &pipeline));
  penstock_devices_close(devices);
  return pipeline;
}

/* Takes all tiles and gives them back. */
static unsigned long take_all(penstock_pipeline* pipeline) {
  unsigned long count = 0;
  while (1) {
    penstock_completion completion = {.size = sizeof completion};
    penstock_status const status = penstock_next(pipeline, -1, &completion);
    if (status == PENSTOCK_ENDED) return count;
    expect(status);
    if (completion.outcome != PENSTOCK_DONE) fprintf(stderr, "%s\n", completion.reason);
    penstock_tile_give_back(completion.tile);
    ++count;
  }
}

static int sum(int count, char** arguments) {
  static char image[1 << 20];
  FILE* const file = fopen(arguments[0], "rb");
  size_t const image_bytes = file == NULL ? 0 : fread(image, 1, sizeof image, file);
  size_t const bytes = strtoull(arguments[1], NULL, 10);
  /* Each sum is added to the first number of the tile's place, and nobody reads it. */
  penstock_kernel_argument const gets[] = {
      {.kind = PENSTOCK_KERNEL_INPUT}, {.kind = PENSTOCK_KERNEL_COUNT32}, {.kind = PENSTOCK_KERNEL_OUTPUT}};
  penstock_kernel_of_module const kernel = {.size = sizeof kernel,
                                            .image = image,
                                            .image_bytes = image_bytes,
                                            .name = "sum",
                                            .arguments = gets,
                                            .argument_count = 3,
                                            .element_bytes = 4,
                                            .row_bytes = bytes,
                                            .output_row_bytes = 0,
                                            .grid = 64};
  penstock_stage stage = {.size = sizeof stage};
  expect(penstock_stage_of_kernel(&kernel, &stage));
  penstock_files const files = {
      .size = sizeof files, .paths = (char const* const*)(arguments + 2), .count = (size_t)(count - 2)};
  penstock_pipeline* const pipeline = open_pipeline("cuda:0", bytes, 256, PENSTOCK_ON_DEVICE);
  double const begun = now();
  expect(penstock_begin(pipeline, &files, &stage));
  unsigned long const tiles = take_all(pipeline);
  penstock_report* report = NULL;
  expect(penstock_drain(pipeline, &report));
  printf("%lu %.6f\n", tiles, now() - begun);
  return 0;
}

static size_t push_bytes;
static double push_end;

static void* push(void* given) {
  penstock_pipeline* const pipeline = given;
  char* const from = malloc(push_bytes);
  memset(from, 1, push_bytes);
  while (now() < push_end) {
    penstock_tile* tile = NULL;
    if (penstock_borrow(pipeline, &tile) != PENSTOCK_OK) break;
    memcpy(penstock_tile_input(tile, 0).data, from, push_bytes);
    expect(penstock_tile_set_filled(tile, 0, push_bytes));
    if (penstock_submit(pipeline, tile) != PENSTOCK_OK) break;
  }
  free(from);
  return NULL;
}

static int push_all(char** arguments) {
  push_bytes = strtoull(arguments[0], NULL, 10);
  int const threads = atoi(arguments[1]);
  penstock_pipeline* const pipeline =
      open_pipeline(arguments[3], push_bytes, 0, strncmp(arguments[3], "cuda", 4) == 0 ? PENSTOCK_ON_DEVICE : 0);
  expect(penstock_begin(pipeline, NULL, NULL));
  pthread_t all[256];
  double const begun = now();
  push_end = begun + atof(arguments[2]);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, push, pipeline);
  unsigned long tiles = 0;
  while (now() < push_end) {
    penstock_completion completion = {.size = sizeof completion};
    expect(penstock_next(pipeline, 1000000, &completion));
    if (completion.tile == NULL) continue;
    penstock_tile_give_back(completion.tile);
    ++tiles;
  }
  double const seconds = now() - begun;
  for (int i = 0; i < threads; ++i) {
    expect(penstock_end_input(pipeline));
    while (1) {
      penstock_completion completion = {.size = sizeof completion};
      if (penstock_next(pipeline, 10000000, &completion) != PENSTOCK_OK || completion.tile == NULL) break;
      penstock_tile_give_back(completion.tile);
    }
    pthread_join(all[i], NULL);
  }
  printf("%lu %.6f\n", tiles, seconds);
  return 0;
}

int main(int count, char** arguments) {
  if (count > 4 && strcmp(arguments[1], "sum") == 0) return sum(count - 2, arguments + 2);
  if (count == 6 && strcmp(arguments[1], "push") == 0) return push_all(arguments + 2);
  fprintf(stderr, "usage: tiles sum CUBIN BYTES FILE... | tiles push BYTES THREADS SECONDS DEVICE\n");
  return 2;
}
