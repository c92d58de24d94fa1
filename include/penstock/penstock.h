/* SPDX-License-Identifier: Apache-2.0 */
/* penstock for C, and for every language that calls C. Library: libpenstock.so.0, of the per-thread flavour.
 *
 * Rules of all functions:
 * - Strings are UTF-8 and end with a zero byte. A function copies what it keeps.
 * - A function that may fail returns a status. If that is not PENSTOCK_OK, `penstock_last_error` has the sentence, and
 *   nothing was written to the places for results. No exception leaves the library.
 * - A structure with a member `size` may get more members in later versions. A program sets all of it to zero, then
 *   `size` to its sizeof; a member that is 0 has its default. In a structure that the library fills, the library sets
 *   `size` to its own sizeof, which may be smaller than the program's: a member that is newer than version 0.2 is there
 *   only if it ends within `size`. Members `reserved` are 0.
 * - Functions of a program that the library calls get `user` or a state as their first argument. Those that return a
 *   number fail by a negative one; `penstock_fail` says why before that. Without it the reason is that of their last
 *   call of the library that was refused. The failure has the kind of that call; if none was refused, PENSTOCK_FAILED.
 * - A null pointer is refused by a function that returns a status. Other functions, unless they say so, need pointers
 *   that are not null.
 */
#ifndef PENSTOCK_PENSTOCK_H_
#define PENSTOCK_PENSTOCK_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PENSTOCK_API __attribute__((visibility("default")))

/* The result of a function. Numbers keep their meaning in later versions, which may have more of them. */
typedef int32_t penstock_status;
enum {
  PENSTOCK_OK = 0,
  PENSTOCK_BAD_ARGUMENT = 1, /* The caller asked for something impossible; the sentence says what to ask for instead. */
  PENSTOCK_UNSUPPORTED = 2,  /* This build or this device cannot do it. */
  PENSTOCK_NO_DRIVER = 3,
  PENSTOCK_DRIVER_TOO_OLD = 4,
  PENSTOCK_NO_DEVICE = 5,
  PENSTOCK_OUT_OF_DEVICE_MEMORY = 6,
  PENSTOCK_OUT_OF_PINNED_MEMORY = 7,
  PENSTOCK_OUT_OF_MEMORY = 8,
  PENSTOCK_DEVICE_REFUSED = 9, /* One call was refused; the next may succeed. */
  PENSTOCK_DEVICE_LOST = 10,   /* Every later call on this device fails, too. */
  PENSTOCK_SYSTEM = 11,        /* The operating system refused; the sentence has its words. */
  PENSTOCK_FAILED = 12,        /* A function of the program failed. */
  PENSTOCK_ENDED = 13          /* The pipeline lends no more tiles: it was stopped or drained, or lost its devices. */
};

/* Version of the library: 10000 times the major number, 100 times the minor one, and the patch number. */
PENSTOCK_API uint32_t penstock_version(void);
/* The sentence of the last call on this thread that did not return PENSTOCK_OK; it never is null.
 *
 * Lives: until the next call of the library on this thread. */
PENSTOCK_API char const* penstock_last_error(void);
/* Says why the program's function, which calls this and then returns a negative number, fails.
 *
 * Threads: the one on which the library called that function. */
PENSTOCK_API void penstock_fail(char const* reason);
/* Frees a text that a function of the library wrote to a `char**`. Null is allowed. */
PENSTOCK_API void penstock_free_text(char* text);

/* Gets sentences on errors that no caller gets: of destructors and of the library's threads.
 *
 * Lives:   `sentence` until it returns.
 * Threads: any, several at once. It must not call the library. */
typedef void (*penstock_message_hook)(char const* sentence);
/* Sets the hook of this process; null drops all messages. Until then they go to standard error.
 *
 * Threads: any. Another thread may still be in the hook before, or begin a call of it, when this returns. */
PENSTOCK_API void penstock_set_message_hook(penstock_message_hook hook);

/* ---- Devices ---- */

typedef struct penstock_devices penstock_devices;

/* Opens devices by a list of names with commas: "auto", "cpu", "cuda:0,cuda:1", "cuda:all", "model:h200".
 *
 * Threads: any.
 * Blocks:  tenths of a second for a GPU. */
PENSTOCK_API penstock_status penstock_devices_open(char const* names, penstock_devices** devices);
/* Null is allowed. Pipelines that use the devices keep them. */
PENSTOCK_API void penstock_devices_close(penstock_devices* devices);
PENSTOCK_API uint32_t penstock_devices_count(penstock_devices const* devices);
/* Number of GPUs among them. */
PENSTOCK_API uint32_t penstock_devices_gpus(penstock_devices const* devices);
/* Writes what they are as JSON of kind "devices"; docs/results.md has its members. */
PENSTOCK_API penstock_status penstock_devices_json(penstock_devices const* devices, char** json);

/* ---- Tiles ---- */

/* A block of pinned host memory with one to four inputs and an output.
 *
 * Threads: one at a time. */
typedef struct penstock_tile penstock_tile;

typedef struct penstock_bytes {
  void* data;
  size_t size;
} penstock_bytes;

/* All of an input, 0 to 3, whether filled or not; empty if there is none. */
PENSTOCK_API penstock_bytes penstock_tile_input(penstock_tile const* tile, uint32_t which);
/* The valid bytes of an input; 0 if there is none. */
PENSTOCK_API size_t penstock_tile_filled(penstock_tile const* tile, uint32_t which);
/* Sets how many bytes of an input, 0 to 3, are valid. If that is more than it has, the tile fails, or the call that
 * submits it. */
PENSTOCK_API penstock_status penstock_tile_set_filled(penstock_tile* tile, uint32_t which, size_t bytes);
/* The output; `penstock_tile_produced` bytes of it are valid behind the stage. */
PENSTOCK_API penstock_bytes penstock_tile_output(penstock_tile const* tile);
PENSTOCK_API size_t penstock_tile_produced(penstock_tile const* tile);
/* The tile's place in the order of the input: 0, 1, 2 ... */
PENSTOCK_API uint64_t penstock_tile_sequence(penstock_tile const* tile);
/* A number of the program's own, which stays with the tile until it is back in its pool. */
PENSTOCK_API uint64_t penstock_tile_tag(penstock_tile const* tile);
PENSTOCK_API void penstock_tile_set_tag(penstock_tile* tile, uint64_t tag);
/* Returns a tile that was borrowed, or kept by a sink, to its pool. Null is allowed. */
PENSTOCK_API void penstock_tile_give_back(penstock_tile* tile);

/* ---- Stages: the work on the device ---- */

/* A queue of device work, in order. It is valid within the call that gets it; that of a penstock_lane as long as the
 * lane's state. */
typedef struct penstock_stream penstock_stream;

/* The cudaStream_t of the stream; null on a device that is no GPU. */
PENSTOCK_API void* penstock_stream_cuda(penstock_stream* stream);
/* A kernel of the CPU device: called once for each block, by several threads at once. */
typedef void (*penstock_kernel)(void* argument, uint32_t block);
/* Cost of a kernel on a model of a GPU (docs/models.md), which takes as long as the slowest part; with all 0 it costs
 * its launch only. */
typedef struct penstock_kernel_cost {
  size_t size;
  /* Device memory that it reads and writes; memory of the host is accessed over the link. */
  void const* reads[2];
  size_t read_bytes[2];
  void const* writes;
  size_t write_bytes;
  double flops;           /* Floating-point operations. */
  double tensor_flops;    /* Those on tensor cores. */
  uint64_t nanoseconds;   /* Time of one wave of blocks. */
  uint32_t blocks;        /* Blocks of its grid on the GPU; 0: it fills the GPU. */
  uint32_t block_threads; /* Threads of such a block; 0: 128. */
} penstock_kernel_cost;
/* Runs a kernel on a device that is no GPU. `argument` is copied, so that it may die behind this call. `cost` may be
 * null, but not on a model; other devices ignore it.
 *
 * Shape:  `bytes` at `argument`, 4096 at most; the kernel gets their copy, aligned for every type of C.
 * Blocks: never. */
PENSTOCK_API penstock_status penstock_stream_launch(penstock_stream* stream, uint32_t blocks, penstock_kernel kernel,
                                                    void const* argument, size_t bytes,
                                                    penstock_kernel_cost const* cost);
/* Copies within the order of the stream. Host memory that is not pinned may keep the caller. Pointers may be null for 0
 * bytes. */
PENSTOCK_API penstock_status penstock_stream_upload(penstock_stream* stream, void* device, void const* host,
                                                    size_t bytes);
PENSTOCK_API penstock_status penstock_stream_download(penstock_stream* stream, void* host, void const* device,
                                                      size_t bytes);
/* Blocks: until the device has done all earlier work of the stream. */
PENSTOCK_API penstock_status penstock_stream_synchronize(penstock_stream* stream);

/* A tile as a stage gets it: addresses of the device. The inputs have the bytes that were filled.
 *
 * Lives: until the function that gets it returns. */
typedef struct penstock_device_tile {
  size_t size;
  void* input;
  size_t input_bytes;
  void* output;
  size_t output_bytes;
  uint64_t sequence;
  uint64_t tag;
  void* more_inputs[3];
  size_t more_input_bytes[3];
  uint32_t index; /* Number of the tile in its pool, from 0. */
  uint32_t reserved;
} penstock_device_tile;

/* The place of a stage's state.
 *
 * Lives: until `make` returns. */
typedef struct penstock_lane {
  size_t size;
  uint32_t number;
  uint32_t multiprocessors; /* Number that kernels may use; on the CPU device that of its compute threads. */
  int32_t on_gpu;           /* 1 on a GPU; 0 where `penstock_stream_launch` runs kernels. */
  uint32_t reserved;
  char const* device; /* "cuda:1". It lives as long as the lane's state. */
  penstock_stream* stream;
} penstock_lane;

/* Promises of a stage; docs/stages.md has them. With PENSTOCK_ELEMENTWISE `run` gets neighbouring tiles as one. */
enum { PENSTOCK_ELEMENTWISE = 1, PENSTOCK_READS_ONCE = 2, PENSTOCK_CAPTURABLE = 4, PENSTOCK_ANY_ALIGNMENT = 8 };

/* The work on each tile. `run` is needed, all else may be null.
 *
 * Threads: each lane calls `make`, `prepare`, `run`, `finish` on its own thread, with a state of its own. `merge` is
 *          called by the thread that waits for the run, in penstock_run or penstock_drain. `destroy` comes last, on
 *          any thread. */
typedef struct penstock_stage {
  size_t size;
  void* user;
  uint32_t promises;
  uint32_t in_order; /* 1: one lane gets all tiles in the order of the input. */
  /* Makes the state of one lane; without it the state is `user`, which all lanes share. One that fails frees what it
   * has made: `destroy` is not called for it. */
  int32_t (*make)(void* user, penstock_lane const* lane, void** state);
  /* Loads what `run` needs, before the first tile. */
  int32_t (*prepare)(void* state, penstock_stream* stream);
  /* Enqueues the work on a tile, and returns the bytes of output to bring back. Should not wait. */
  int64_t (*run)(void* state, penstock_device_tile const* tile, penstock_stream* stream);
  /* Enqueues what brings the lane's own result back, behind the last tile. */
  int32_t (*finish)(void* state, penstock_stream* stream);
  /* Takes the state of each lane that finished, one after the other. */
  void (*merge)(void* user, void* state);
  /* Frees a state that `make` made, after all else. */
  void (*destroy)(void* state);
} penstock_stage;

/* Arguments that a kernel gets, in its order. */
enum {
  PENSTOCK_KERNEL_INPUT = 1,   /* Address of the first input. */
  PENSTOCK_KERNEL_OUTPUT = 2,  /* Address of the output. */
  PENSTOCK_KERNEL_COUNT = 3,   /* Elements of the first input, 64 bits. */
  PENSTOCK_KERNEL_COUNT32 = 4, /* The same, 32 bits: for an `int`. */
  PENSTOCK_KERNEL_TAG = 5,     /* Tag of the tile, 64 bits. */
  PENSTOCK_KERNEL_VALUE = 6    /* Bytes of the program's own, the same for all tiles. */
};
typedef struct penstock_kernel_argument {
  uint32_t kind;
  uint32_t bytes;    /* Those of a value, as the kernel declares it. */
  void const* value; /* It is copied. */
} penstock_kernel_argument;
/* A kernel in a file that nvcc made, or of text in PTX, as the work on each tile. It is launched once a tile. */
typedef struct penstock_kernel_of_module {
  size_t size;
  void const* image; /* A cubin, a fatbin, or PTX; it is copied. */
  size_t image_bytes;
  char const* name; /* As `extern "C"` has it, or mangled. */
  penstock_kernel_argument const* arguments;
  size_t argument_count;
  size_t element_bytes; /* Those of an element of the count. */
  /* Bytes of a row of the input, and of the output that is made of it: a tile with half of its rows gives half of its
   * output. 0: all of the output part. */
  size_t row_bytes;
  size_t output_row_bytes;
  uint32_t block;        /* Threads of a block; 0: 256. */
  uint32_t grid;         /* Blocks; 0: as many as give each element a thread. */
  uint32_t per_thread;   /* Elements of each thread, for that number of blocks; 0: 1. */
  uint32_t shared_bytes; /* Dynamic shared memory of a block. */
} penstock_kernel_of_module;
/* Writes functions that launch the kernel to `stage`, for penstock_begin, penstock_start or penstock_run. Its code is
 * loaded when a run starts; a device that is no GPU, or that no code in the image fits, ends that run with a sentence.
 * penstock_stage_free frees it once no run has it any more. */
PENSTOCK_API penstock_status penstock_stage_of_kernel(penstock_kernel_of_module const* kernel, penstock_stage* stage);
/* Frees what penstock_stage_of_kernel made, and empties `stage`. Null is allowed. */
PENSTOCK_API void penstock_stage_free(penstock_stage* stage);

/* ---- Source and sink ---- */

/* The input of a run.
 *
 * Threads: producers; `next` one at a time, `fill` several at a time, each for another tile. */
typedef struct penstock_source {
  size_t size;
  void* user;
  /* Decides what the tile will have: 1, or 0 at the end of the input. A negative number ends it with a failure. */
  int32_t (*next)(void* user, penstock_tile* tile);
  /* Writes the input and returns its bytes; other inputs by `penstock_tile_set_filled`. A negative number fails the
   * tile. Null: `next` has filled it, and has called `penstock_tile_set_filled`. */
  int64_t (*fill)(void* user, penstock_tile* tile);
} penstock_source;

enum { PENSTOCK_DONE = 0, PENSTOCK_TILE_FAILED = 1, PENSTOCK_CANCELLED = 2 };

/* The end of a tile.
 *
 * Lives: until `take` returns, with its texts. */
typedef struct penstock_completion {
  size_t size;
  penstock_tile* tile;
  int32_t outcome;      /* PENSTOCK_DONE, PENSTOCK_TILE_FAILED or PENSTOCK_CANCELLED */
  penstock_status kind; /* Kind of the failure; PENSTOCK_OK if there is none. */
  char const* stage;    /* Where it failed: "source", "upload", "stage" ...; else null. */
  char const* reason;   /* A sentence; else null. */
  int32_t keep;         /* Set it to 1 to keep the tile; `penstock_tile_give_back` returns it. */
  uint32_t reserved;
} penstock_completion;

/* Gets the one completion of each tile. The tile returns to its pool when `take` returns, unless that keeps it.
 *
 * Threads: one at a time; several with PENSTOCK_PARALLEL_SINK. */
typedef struct penstock_sink {
  size_t size;
  void* user;
  int32_t (*take)(void* user, penstock_completion* completion);
} penstock_sink;

/* ---- Pipelines ---- */

typedef struct penstock_pipeline penstock_pipeline;

/* An option by its name: {"lanes", "2"}, {"ordered", "yes"}. docs/c.md has them. */
typedef struct penstock_option {
  char const* name;
  char const* value;
} penstock_option;

enum {
  PENSTOCK_IN_PLACE = 1,      /* First input and output are the same bytes. */
  PENSTOCK_PARALLEL_SINK = 2, /* Several consumers call the sink at once. */
  PENSTOCK_VERDICT = 4,       /* The report says what bounded the run. */
  /* The results of tiles stay in memory of their devices until the tiles are given back: penstock_tile_on_device. Each
   * device has room for twice as many as there are tiles. Not with PENSTOCK_IN_PLACE. Without output_bytes the results
   * are the first inputs, and there is no stage. */
  PENSTOCK_ON_DEVICE = 8
};

typedef struct penstock_pipeline_options {
  size_t size;
  size_t input_bytes;
  size_t output_bytes;
  size_t more_input_bytes[3];
  penstock_option const* options;
  size_t option_count;
  uint64_t flags;
} penstock_pipeline_options;

/* Places and pins the tiles.
 *
 * Threads: any.
 * Blocks:  until every page was touched and is pinned, some 0.3 s a GiB. */
PENSTOCK_API penstock_status penstock_pipeline_create(penstock_devices* devices,
                                                      penstock_pipeline_options const* options,
                                                      penstock_pipeline** pipeline);
/* Stops and drains what runs. All tiles that were kept must be back. Null is allowed.
 *
 * Threads: one that is in no function that the pipeline calls.
 * Blocks:  until the last completion. */
PENSTOCK_API void penstock_pipeline_destroy(penstock_pipeline* pipeline);

/* A summary of a run. */
typedef struct penstock_report penstock_report;

/* Processes the whole source. Failures of tiles are in the report, and the status is PENSTOCK_OK then.
 *
 * Threads: the one that uses the pipeline; functions that others may call say so.
 * Blocks:  until the last completion. */
PENSTOCK_API penstock_status penstock_run(penstock_pipeline* pipeline, penstock_source const* source,
                                          penstock_stage const* stage, penstock_sink const* sink,
                                          penstock_report** report);
/* For a program that has threads of its own: start, then `penstock_borrow` and `penstock_submit` on any of them, then
 * drain.
 *
 * Threads: as penstock_run. */
PENSTOCK_API penstock_status penstock_start(penstock_pipeline* pipeline, penstock_stage const* stage,
                                            penstock_sink const* sink);
/* Lends a tile. PENSTOCK_ENDED tells a thread that feeds to end: the pipeline was stopped or drained, or lost its
 * devices.
 *
 * Threads: any.
 * Blocks:  until a tile is free. */
PENSTOCK_API penstock_status penstock_borrow(penstock_pipeline* pipeline, penstock_tile** tile);
/* The same; writes null if no tile is free now.
 *
 * Threads: any.
 * Blocks:  never. */
PENSTOCK_API penstock_status penstock_try_borrow(penstock_pipeline* pipeline, penstock_tile** tile);
/* Submits a tile. It is the pipeline's from then on, also if this fails. After a stop it is cancelled.
 *
 * Threads: any. */
PENSTOCK_API penstock_status penstock_submit(penstock_pipeline* pipeline, penstock_tile* tile);
/* Waits for all tiles that were submitted, and reports.
 *
 * Threads: as penstock_run.
 * Blocks:  until the last completion. */
PENSTOCK_API penstock_status penstock_drain(penstock_pipeline* pipeline, penstock_report** report);
/* Cancels what no device has started; the call that runs or drains still reports. Null is allowed.
 *
 * Threads: any. */
PENSTOCK_API void penstock_stop(penstock_pipeline* pipeline);
/* ---- Runs whose tiles wait for the program ---- */

/* Files as the input of penstock_begin. */
typedef struct penstock_files {
  size_t size;
  char const* const* paths; /* `-` is standard input. */
  size_t count;
  uint64_t flags;
} penstock_files;

enum {
  PENSTOCK_LINES = 1,      /* Each tile has whole lines. One that is longer than a tile fails it. */
  PENSTOCK_DECOMPRESS = 2, /* gzip, zstd and LZ4 are decoded. */
  PENSTOCK_FOLLOW = 4      /* Files are read on as they grow, until penstock_stop. */
};

/* Starts a run whose completed tiles wait until the program takes them by `penstock_next`: for a loop over tiles, and
 * for languages whose functions no thread of the library may call. Tiles that wait, or that the program keeps, are out
 * of the pool: so a program that is slow slows the input.
 *
 * A pipeline with PENSTOCK_ON_DEVICE has the result, or without a stage the bytes of the first input, on the device.
 *
 * `files` may be null: then the program feeds the tiles by `penstock_borrow` and `penstock_submit`, and says by
 * `penstock_end_input` that there are no more. `stage` may be null: then tiles come as they are; with an output of
 * their own it has the bytes of the first input, as far as there is room.
 *
 * Threads: as penstock_run. */
PENSTOCK_API penstock_status penstock_begin(penstock_pipeline* pipeline, penstock_files const* files,
                                            penstock_stage const* stage);
/* Waits for a completed tile, which is the program's until `penstock_tile_give_back`; so long live the texts of
 * `completion`. Its member `keep` means nothing here. At the time limit `tile` is null. PENSTOCK_ENDED comes behind the
 * last tile, or where no run has begun. A program sets `completion` to zero, but for its size.
 *
 * Units:   nanoseconds; a negative number for no limit.
 * Threads: any, several at once.
 * Blocks:  as long as it says. */
PENSTOCK_API penstock_status penstock_next(penstock_pipeline* pipeline, int64_t at_most,
                                           penstock_completion* completion);
/* Says that no more tiles will be submitted to a run that penstock_begin started without files, or lent to one of
 * penstock_begin_lent. A tile that is still borrowed then cannot be submitted any more. `penstock_drain` ends the run:
 * tiles that wait then are given back.
 *
 * Threads: any.
 * Blocks:  never. */
PENSTOCK_API penstock_status penstock_end_input(penstock_pipeline* pipeline);

/* The place of a tile in the files of penstock_begin. */
typedef struct penstock_place {
  size_t size;
  uint64_t file;   /* Index in the order of the input, from 0. */
  uint64_t offset; /* Offset of the tile's first byte, in what was decoded. */
} penstock_place;
/* Writes where the bytes of a tile come from. Only while the program has the tile.
 *
 * Threads: any. */
PENSTOCK_API penstock_status penstock_tile_place(penstock_pipeline* pipeline, penstock_tile const* tile,
                                                 penstock_place* place);
/* The result of a tile, in memory of its device. */
typedef struct penstock_device_bytes {
  size_t size;
  void* data; /* The device's address, aligned to 256 bytes; the host may use it if `on_gpu` is 0. */
  size_t bytes;
  int32_t on_gpu;
  int32_t ordinal; /* The GPU's number, as CUDA has it. */
} penstock_device_bytes;
/* Writes where the result of a completed tile of a pipeline with PENSTOCK_ON_DEVICE is. The device has finished it, so
 * work of any stream that is enqueued now may use it. A tile that failed has no bytes.
 *
 * Lives:   until the tile is given back.
 * Threads: any, while the program has the tile. */
PENSTOCK_API penstock_status penstock_tile_on_device(penstock_pipeline* pipeline, penstock_tile const* tile,
                                                     penstock_device_bytes* bytes);
/* Says that work which was enqueued in this stream uses the results of these tiles. They are not written again before
 * the stream has passed this call; so call it for each stream behind the last such work, and then give the tiles back.
 * For several tiles it costs as much as for one. The calling thread's current device does not change.
 *
 * `cuda_stream` is a cudaStream_t of the tiles' GPU, 1 for the legacy default stream, or 2 for the calling thread's
 * own. Tiles that are on no GPU need nothing.
 *
 * Shape:   tiles of this pipeline; each in at most 16 streams until it is given back.
 * Threads: any, one at a time for each tile.
 * Blocks:  never. */
PENSTOCK_API penstock_status penstock_tiles_used_in(penstock_pipeline* pipeline, penstock_tile* const* tiles,
                                                    size_t count, void* cuda_stream);
/* Number of tiles in the pool of the pipeline. */
PENSTOCK_API uint64_t penstock_tile_count(penstock_pipeline const* pipeline);

/* ---- Images ---- */

/* An image: a file, or a part of one, as an archive has it. */
typedef struct penstock_image {
  uint64_t path;   /* Index of its path. */
  uint64_t offset; /* Of its first byte. */
  uint64_t bytes;  /* 0: all that follows. */
} penstock_image;

enum {
  PENSTOCK_WHOLE_IMAGES = 1,   /* All of each image becomes its tensor; without it the square in the middle. */
  PENSTOCK_AS_STORED = 2,      /* Images are not turned as EXIF says that the camera was held. */
  PENSTOCK_FULL_SIZE = 4,      /* None is decoded smaller than it is. */
  PENSTOCK_RANDOM_PARTS = 8,   /* A part of random place, size and shape becomes the tensor. */
  PENSTOCK_RANDOM_MIRRORS = 16 /* Every other image, by chance, is mirrored left to right. */
};

/* JPEG images as the input of penstock_begin_images. */
typedef struct penstock_images {
  size_t size;
  char const* const* paths;
  size_t path_count;
  penstock_image const* images; /* Null: each path is an image. */
  size_t image_count;
  uint64_t const* order; /* Indices of images; null: each once. */
  size_t order_count;
  uint64_t flags;
  uint64_t seed;  /* Of what is random. An image has the same part wherever it is in the order. */
  uint32_t batch; /* Images of a tile; 0: 64. */
  uint32_t width; /* Of a tensor; 0: 224. */
  uint32_t height;
  /* A value is (colour / 255 - mean) / deviation, of red, green and blue; a deviation of 0 is 1. */
  float mean[3];
  float deviation[3];
  float least_area; /* The smallest random part of an image's area, up to 1; 0: 0.08. */
  float most_ratio; /* Width to height of a random part is up to this, and down to its inverse; 0: 4/3. */
  uint32_t reserved;
} penstock_images;

/* Starts a run of JPEG images as tensors; `penstock_next` takes its tiles. A tile is a batch, the last one with what is
 * left: float32 [images, 3, height, width] in its output. Producers decode all images of a tile, each into an equal
 * part of its first input; the device resizes them, as docs/ingest.md says, and normalises.
 *
 * Images are decoded smaller, by up to 8, as long as that leaves as many pixels as a tensor has. One that is larger
 * than its part of the tile is made smaller until it fits, unless PENSTOCK_FULL_SIZE is set. One that cannot be
 * decoded, or does not fit, has zeros, and `penstock_tile_problem` says why; the report counts it as left out.
 *
 * Shape:   output_bytes for `batch` tensors; input_bytes a multiple of 16 for each image, with 32 for its header.
 * Threads: as penstock_run. */
PENSTOCK_API penstock_status penstock_begin_images(penstock_pipeline* pipeline, penstock_images const* images);
/* Writes why the image at this place of a tile has zeros, as a sentence; null if it has a tensor. Only while the
 * program has the tile.
 *
 * Lives:   until the tile is given back, or another run begins.
 * Threads: any. */
PENSTOCK_API penstock_status penstock_tile_problem(penstock_pipeline* pipeline, penstock_tile const* tile,
                                                   uint64_t place, char const** reason);

/* ---- Buffers that are lent ---- */

/* Starts a run of buffers that the program lends by penstock_lend, as penstock_begin; penstock_end_input ends it.
 * Threads of the library copy them, so that the program's own threads need not: for languages with one lock for all
 * threads.
 *
 * Units:   at most `most` buffers wait; 0: twice as many as there are tiles.
 * Threads: as penstock_run. */
PENSTOCK_API penstock_status penstock_begin_lent(penstock_pipeline* pipeline, uint64_t most,
                                                 penstock_stage const* stage);
/* Lends a buffer, which must stay as it is until its handle comes back by penstock_take_back. Its tiles, of as many as
 * it needs, have this tag, and come in the order of the calls. `*lent` is 0 at the time limit, else 1.
 *
 * Units:   nanoseconds; a negative number for no limit.
 * Threads: any.
 * Blocks:  while as many buffers wait as may, for so long at most. */
PENSTOCK_API penstock_status penstock_lend(penstock_pipeline* pipeline, void const* data, size_t bytes, uint64_t tag,
                                           void* handle, int64_t at_most, int32_t* lent);
/* Writes the handles of buffers that the library does not need any more, and returns their number, at most `room`. Each
 * comes once; behind penstock_drain all have come.
 *
 * Threads: any.
 * Blocks:  never. */
PENSTOCK_API size_t penstock_take_back(penstock_pipeline* pipeline, void** handles, size_t room);

/* ---- Rings that processes share ---- */

/* A ring of slots in shared memory, which other processes of the same user write, as the input of penstock_begin_ring.
 */
typedef struct penstock_ring {
  size_t size;
  char const* path; /* Where writers find it: a link that is made, and removed with the pipeline. */
  uint32_t slots;   /* Those of each writer; 0: 16. */
  uint32_t writers; /* As many may write at once, and have ended when the input ends; 0: 1. */
  uint64_t idle;    /* Nanoseconds without data that end the input; 0: silence does not end it. */
} penstock_ring;
/* Starts a run of what other processes write to a ring, as penstock_begin. Each tile is a slot, of `input_bytes` at
 * most, and its tag is that of the writer. The tiles must be back before the pipeline begins another run.
 *
 * Threads: as penstock_run. */
PENSTOCK_API penstock_status penstock_begin_ring(penstock_pipeline* pipeline, penstock_ring const* ring,
                                                 penstock_stage const* stage);
/* A writer of a ring.
 *
 * Threads: one at a time; each that writes needs a writer of its own. */
typedef struct penstock_writer penstock_writer;
/* Takes a place in the ring whose reader made `path`. */
PENSTOCK_API penstock_status penstock_writer_open(char const* path, penstock_writer** writer);
/* Lends the next slot, the same until that is committed; no bytes at the time limit. PENSTOCK_SYSTEM, once the reader
 * has ended.
 *
 * Units:  nanoseconds; a negative number for no limit.
 * Blocks: as long as it says. */
PENSTOCK_API penstock_status penstock_writer_claim(penstock_writer* writer, int64_t at_most, penstock_bytes* slot);
/* Passes on the first `bytes` of the slot.
 *
 * Blocks: never. */
PENSTOCK_API penstock_status penstock_writer_commit(penstock_writer* writer, size_t bytes, uint64_t tag);
/* Tells the reader that no more comes. Null is allowed. */
PENSTOCK_API void penstock_writer_close(penstock_writer* writer);

/* Writes the state of the pipeline at this moment as JSON of kind "snapshot"; docs/results.md has its members.
 *
 * Threads: any. */
PENSTOCK_API penstock_status penstock_snapshot_json(penstock_pipeline* pipeline, char** json);

/* 1 if every tile is done, no input is lost and nothing else failed; 0 for null. */
PENSTOCK_API int32_t penstock_report_ok(penstock_report const* report);
/* Lines for a person. */
PENSTOCK_API penstock_status penstock_report_text(penstock_report const* report, char** text);
/* The same as JSON of kind "report"; docs/results.md has its members. */
PENSTOCK_API penstock_status penstock_report_json(penstock_report const* report, char** json);
/* Null is allowed. */
PENSTOCK_API void penstock_report_destroy(penstock_report* report);

#ifdef __cplusplus
}
#endif

#endif /* PENSTOCK_PENSTOCK_H_ */
