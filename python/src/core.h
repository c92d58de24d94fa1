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

enum { most_dimensions = 8, statuses = PENSTOCK_ENDED + 1 };

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
  Elements input;
  Elements output;
} Pipeline;

/* A tile that Python has: borrowed to be filled, or completed. */
typedef struct Tile {
  PyObject_HEAD Pipeline* home;
  _Atomic(penstock_tile*) tile; /* Null once it was given back or submitted. */
  _Atomic Py_ssize_t views;     /* Buffers and DLPack tensors of its bytes. */
  int borrowed;
  penstock_completion completion; /* `stage` and `reason` live as long as the tile is held. */
  uint64_t index, tag, file, offset;
  Py_ssize_t shape[most_dimensions];
  Py_ssize_t strides[most_dimensions];
  int64_t long_shape[most_dimensions];
} Tile;

CoreState* core_state_of(PyObject* object);
/* Raises what the last call of the library says. Always returns null. */
PyObject* core_raise(CoreState* state, penstock_status status);
/* True, with an exception, in a process that was forked off the one that made the pipeline. */
int core_is_forked(Pipeline const* pipeline);

extern PyType_Spec core_pipeline_spec;
extern PyType_Spec core_tile_spec;

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

PyObject* core_dlpack(Tile* tile, PyObject* arguments, PyObject* names);
PyObject* core_dlpack_device(Tile* tile, PyObject* unused);

#endif /* PENSTOCK_PYTHON_CORE_H_ */
