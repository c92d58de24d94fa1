/* SPDX-License-Identifier: Apache-2.0 */
/* The module penstock._core: the C interface as Python objects, in the limited API of Python 3.11.
 *
 * No Python code runs on a thread of the library: completed tiles wait in the library until a thread of Python takes
 * them. Whatever may wait releases the GIL. */
#ifndef PENSTOCK_PYTHON_CORE_H_
#define PENSTOCK_PYTHON_CORE_H_

#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "penstock/penstock.h"

enum { most_dimensions = 8, most_streams = 8, statuses = PENSTOCK_ENDED + 1 };

/* Elements of a tile's bytes. The first dimension follows from the number of bytes. */
typedef struct Elements {
  char format[4];  /* As the module struct has it: "B", "f" ... */
  Py_ssize_t size; /* Bytes of one. */
  int rest_count;
  Py_ssize_t rest[most_dimensions - 1]; /* The other dimensions. */
} Elements;

/* What the module holds: there is no static state, so that each import has its own. */
typedef struct CoreState {
  PyObject* errors[statuses]; /* Class of exception for each status. */
  PyTypeObject* pipeline_type;
  PyTypeObject* tile_type;
  PyTypeObject* kernel_type;
  PyTypeObject* batch_type;
  PyTypeObject* writer_type;
} CoreState;

typedef struct Pipeline {
  PyObject_HEAD PyObject* weak_references;
  penstock_devices* devices;
  penstock_pipeline* pipeline;
  long process;            /* The one that made it. */
  _Atomic Py_ssize_t held; /* Tiles that Python has. */
  uint64_t tiles;
  PyObject* paths; /* A list of bytes, the files of the run; null if it is fed. */
  int has_output;  /* The output has bytes of its own. */
  int is_ordered;
  int lends;               /* Buffers are lent to the library. */
  unsigned taken;          /* Tiles that were taken, as far as it can count. */
  Py_ssize_t place_stride; /* Bytes from the result of a tile to that of its neighbour. */
  int on_device;           /* Completed tiles have their results in memory of the device. */
  PyObject* stage;         /* The Kernel of the run; null if there is none. */
  Elements input;
  Elements output;
} Pipeline;

/* A kernel as the stage of runs. */
typedef struct Kernel {
  PyObject_HEAD penstock_stage stage;
} Kernel;

/* Streams of a GPU that use a result, as __dlpack__ has them. */
typedef struct Streams {
  uintptr_t all[most_streams];
  int count;
  long thread; /* The one whose default stream is meant by 2. */
} Streams;

/* A tile that Python has: borrowed to be filled, or completed. */
typedef struct Tile {
  PyObject_HEAD PyObject* weak_references;
  Pipeline* home;
  _Atomic(penstock_tile*) tile; /* Null once it was given back or submitted. */
  _Atomic Py_ssize_t views;     /* Buffers and DLPack tensors of its bytes. */
  int borrowed;
  penstock_completion completion; /* `stage` and `reason` live as long as the tile is held. */
  penstock_device_bytes result;   /* Its bytes on the device; no size if they are in memory of the host. */
  Streams streams;
  int is_exposed; /* Its address was handed out by __cuda_array_interface__. */
  uint64_t index, tag, file, offset;
  Py_ssize_t shape[most_dimensions];
  Py_ssize_t strides[most_dimensions];
} Tile;

/* Tiles whose bytes are neighbours, as one array. It counts as a view of each. */
typedef struct Batch {
  PyObject_HEAD PyObject* weak_references;
  PyObject* tiles;   /* A tuple. */
  Py_ssize_t stride; /* Bytes from one tile to the next. */
  Streams streams;
  Py_ssize_t shape[most_dimensions + 1];
  Py_ssize_t strides[most_dimensions + 1];
} Batch;

/* An array that is handed out: memory of a tile, or of several. `strides` are in bytes. */
typedef struct View {
  PyObject* owner; /* The tile, or the batch. */
  Tile* first;
  Streams* streams; /* Those of the owner. */
  void* data;
  Elements const* elements;
  int dimensions;
  Py_ssize_t const* shape;
  Py_ssize_t const* strides;
} View;

CoreState* core_state_of(PyObject* object);
/* Raises what the last call of the library says. Always returns null. */
PyObject* core_raise(CoreState* state, penstock_status status);
/* True, with an exception, in a process that was forked off the one that made the pipeline. */
int core_is_forked(Pipeline const* pipeline);

extern PyType_Spec core_batch_spec;
extern PyType_Spec core_kernel_spec;
extern PyType_Spec core_pipeline_spec;
extern PyType_Spec core_tile_spec;
extern PyType_Spec core_writer_spec;

/* Takes over the tile. Null, with an exception, gives it back. */
PyObject* core_new_tile(Pipeline* home, penstock_tile* tile, penstock_completion const* completion);
/* Gives its bytes, and says what they are. */
penstock_bytes core_bytes_of(Tile* tile, Elements const** elements);
/* The tile, and not of this object any more; null, with an exception, if views of it are left or it is gone. */
penstock_tile* core_leave_tile(Tile* tile, char const* what);

/* Texts of a list of bytes, which keeps them; `free` frees the array. Null, with an exception. */
char const** core_read_paths(PyObject* given, size_t* count);
PyObject* core_begin_images(Pipeline* pipeline, PyObject* arguments);
PyObject* core_image_problems(Pipeline* pipeline, PyObject* arguments);

int core_is_on_gpu(Tile const* tile);
/* Reads None, a number, or an object with __cuda_stream__, cuda_stream, or ptr. 0, with an exception, if it is none. */
uintptr_t core_stream_of(PyObject* given);
/* Notes a stream: the tile goes home behind what is in the stream by then. -1, with an exception, if these are too
 * many.
 */
int core_note_stream(Streams* streams, uintptr_t stream);
/* Tells the library of the streams of these tiles. It uses nothing of Python. */
void core_tell_streams(Streams* streams, Pipeline* home, penstock_tile* const* tiles, size_t count);
/* __cuda_array_interface__ of version 3. */
PyObject* core_array_interface(Tile* tile, void* unused);
/* Describes all bytes of a tile; -1, with an exception, if they are no whole elements, or gone. */
int core_view_of(Tile* tile, View* view);
/* A capsule of DLPack, as a method `__dlpack__` gives it. */
PyObject* core_dlpack(View const* view, PyObject* arguments, PyObject* names);
PyObject* core_dlpack_device(Tile const* tile);
/* Says by an exception that the host cannot have the bytes. */
void core_refuse_on_gpu(Tile const* tile);
/* A completed tile; null without an exception at the time limit (nanoseconds, -1 for none). */
PyObject* core_next(Pipeline* self, int64_t limit);
/* Nanoseconds of a limit in seconds, or of None; -1 for none, -2 with an exception. */
int64_t core_limit_of(PyObject* seconds);
PyObject* core_begin_ring(Pipeline* self, PyObject* arguments);
PyObject* core_begin_lent(Pipeline* self, PyObject* stage);
/* Copies buffers into tiles: push.c. */
PyObject* core_push(Pipeline* self, PyObject* arguments);
/* Borrows; null in `tile` at the time limit. -1 with an exception of Python. */
int core_borrow_tile(Pipeline* self, int64_t limit, penstock_tile** tile, penstock_status* status);
/* The sequence and its numbers, of which there must be as many; null with an exception. */
PyObject* core_buffers_of(PyObject* given, PyObject* numbers, uint64_t** tags);
/* Lends buffers to the library. */
PyObject* core_lend(Pipeline* self, PyObject* arguments);
/* Lets go of buffers that the library does not need any more: all of them, or some. */
void core_take_back(Pipeline* self, int all);
/* Ends a run of buffers that was not drained, and lets go of all. */
void core_end_lending(Pipeline* self);
/* What a wait since that moment, of a thread that feeds or takes, does between two looks; -1, with an exception, ends
 * it.
 */
int core_between(Pipeline* self, int64_t since, int feeds, int* told);
/* Reads a tag. -1, with an exception, if it is none. */
int core_tag_of(PyObject* given, uint64_t* tag);
/* Of what a copy or a pickle cannot have. */
PyObject* core_refuse_copy(PyObject* self, PyObject* unused);
/* Nanoseconds of a clock that only goes on. */
int64_t core_now(void);
/* Nanoseconds to wait until the next look, where the wait ends then; -1: it has no end. */
int64_t core_next_slice(int64_t end);
/* The stage of a run: that of a Kernel, or null for None. -1, with an exception, if it is neither. */
int core_stage_of(Pipeline* self, PyObject* given, penstock_stage const** stage);
/* Keeps the stage as long as the run. */
void core_keep_stage(Pipeline* self, PyObject* given);
/* A list of batches, of `most` tiles together: it waits until there are so many, or no more come. */
PyObject* core_next_batches(Pipeline* self, PyObject* arguments);

#endif /* PENSTOCK_PYTHON_CORE_H_ */
