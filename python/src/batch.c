/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles whose bytes are neighbours, as one array with one more dimension. */
#include "core.h"
#include <structmember.h>

enum { most_tiles = 1024 };

static Tile* first_of(Batch const* self) {
  return (Tile*)PyTuple_GetItem(self->tiles, 0);
}

static int view_of(Batch* self, View* view) {
  Tile* const first = first_of(self);
  if (core_view_of(first, view) < 0) return -1;
  view->owner = (PyObject*)self;
  view->streams = &self->streams;
  self->shape[0] = PyTuple_Size(self->tiles);
  self->strides[0] = self->stride;
  for (int i = 0; i < view->dimensions; ++i) {
    self->shape[i + 1] = view->shape[i];
    self->strides[i + 1] = view->strides[i];
  }
  ++view->dimensions;
  view->shape = self->shape;
  view->strides = self->strides;
  return 0;
}

static int get_buffer(Batch* self, Py_buffer* buffer, int flags) {
  buffer->obj = NULL;
  View view;
  if (core_is_on_gpu(first_of(self))) {
    core_refuse_on_gpu(first_of(self));
    return -1;
  }
  if (view_of(self, &view) < 0) return -1;
  int const is_whole = view.shape[0] == 1 || self->stride == view.shape[1] * view.strides[1];
  int const wants_columns = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  int const wants_whole = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ||
                          (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                          (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
  if (wants_columns || (!is_whole && wants_whole)) {
    PyErr_SetString(PyExc_BufferError,
                    "Tiles of a batch lie apart, unless a tile is a multiple of 256 bytes: ask for strides.");
    return -1;
  }
  buffer->obj = Py_NewRef((PyObject*)self);
  buffer->buf = view.data;
  buffer->len = view.elements->size;
  for (int i = 0; i < view.dimensions; ++i) buffer->len *= view.shape[i];
  buffer->readonly = 0;
  buffer->itemsize = view.elements->size;
  buffer->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? (char*)view.elements->format : NULL;
  buffer->ndim = view.dimensions;
  buffer->shape = (flags & PyBUF_ND) == PyBUF_ND ? self->shape : NULL;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
  buffer->suboffsets = NULL;
  buffer->internal = NULL;
  return 0;
}

/* One call for all tiles: each costs as much as a launch. */
static void tell_streams(Batch* self) {
  Pipeline* const home = first_of(self)->home;
  if (self->streams.count == 0 || home->process != (long)getpid()) return;
  penstock_tile* tiles[most_tiles];
  size_t count = 0;
  for (Py_ssize_t i = 0; i < PyTuple_Size(self->tiles); ++i) {
    penstock_tile* const tile = ((Tile*)PyTuple_GetItem(self->tiles, i))->tile;
    if (tile != NULL) tiles[count++] = tile;
  }
  core_tell_streams(&self->streams, home, tiles, count);
}

static void destroy(Batch* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  if (self->weak_references != NULL) PyObject_ClearWeakRefs((PyObject*)self);
  tell_streams(self);
  for (Py_ssize_t i = 0; i < PyTuple_Size(self->tiles); ++i) --((Tile*)PyTuple_GetItem(self->tiles, i))->views;
  Py_DECREF(self->tiles);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static Py_ssize_t size(Batch* self) {
  return PyTuple_Size(self->tiles);
}
static PyObject* get_tiles(Batch* self, void* unused) {
  (void)unused;
  return Py_NewRef(self->tiles);
}
static PyObject* get_ok(Batch* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(first_of(self)->completion.outcome == PENSTOCK_DONE);
}
static PyObject* dlpack(Batch* self, PyObject* arguments, PyObject* names) {
  View view;
  if (view_of(self, &view) < 0) return NULL;
  return core_dlpack(&view, arguments, names);
}
/* numpy asks for this where there is no buffer. */
static PyObject* array(Batch* self, PyObject* arguments, PyObject* names) {
  (void)arguments, (void)names;
  View view;
  if (core_is_on_gpu(first_of(self))) {
    core_refuse_on_gpu(first_of(self));
  } else if (view_of(self, &view) == 0) {
    PyErr_SetString(PyExc_BufferError, "The batch has no array.");
  }
  return NULL;
}
static PyObject* used_in(Batch* self, PyObject* given) {
  uintptr_t const stream = core_stream_of(given);
  if (stream == 0 || core_note_stream(&self->streams, stream) < 0) return NULL;
  Py_RETURN_NONE;
}
static PyObject* dlpack_device(Batch* self, PyObject* unused) {
  (void)unused;
  return core_dlpack_device(first_of(self));
}

/* Takes over the references of `count` tiles, the places of which are neighbours. */
static PyObject* make(CoreState* state, PyObject** tiles, Py_ssize_t count, Py_ssize_t stride) {
  allocfunc const allocate = (allocfunc)PyType_GetSlot(state->batch_type, Py_tp_alloc);
  PyObject* const all = PyTuple_New(count);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (all == NULL) {
      Py_DECREF(tiles[i]);
    } else {
      PyTuple_SetItem(all, i, tiles[i]);
    }
  }
  Batch* const self = all == NULL ? NULL : (Batch*)allocate(state->batch_type, 0);
  if (self == NULL) {
    Py_XDECREF(all);
    return NULL;
  }
  self->tiles = all;
  self->stride = stride;
  for (Py_ssize_t i = 0; i < count; ++i) ++((Tile*)PyTuple_GetItem(all, i))->views;
  return (PyObject*)self;
}

static char const* address_of(PyObject* tile) {
  Elements const* elements = NULL;
  return core_bytes_of((Tile*)tile, &elements).data;
}
static int by_address(void const* one, void const* other) {
  char const *const first = address_of(*(PyObject*const*)one), *const second = address_of(*(PyObject*const*)other);
  return first < second ? -1 : first > second;
}
static size_t bytes_of(PyObject* tile) {
  Elements const* elements = NULL;
  return core_bytes_of((Tile*)tile, &elements).size;
}

/* Number of tiles from here on that lie side by side and have as many bytes. */
static Py_ssize_t run_of(PyObject** tiles, Py_ssize_t count, Py_ssize_t stride) {
  Py_ssize_t length = 1;
  if (((Tile*)tiles[0])->completion.outcome != PENSTOCK_DONE) return length;
  while (length < count && ((Tile*)tiles[length])->completion.outcome == PENSTOCK_DONE &&
         address_of(tiles[length]) - address_of(tiles[length - 1]) == stride &&
         ((Tile*)tiles[length])->result.ordinal == ((Tile*)tiles[0])->result.ordinal &&
         bytes_of(tiles[length]) == bytes_of(tiles[0]))
    ++length;
  return length;
}

/* Waits for up to `most` tiles. The number there are; -1 with an exception. */
static Py_ssize_t take(Pipeline* self, Py_ssize_t most, int64_t limit, PyObject** tiles) {
  CoreState* const state = core_state_of((PyObject*)self);
  for (Py_ssize_t count = 0; count < most; ++count) {
    tiles[count] = core_next(self, limit);
    if (tiles[count] != NULL) continue;
    if (!PyErr_Occurred()) return count;
    if (count > 0 && PyErr_ExceptionMatches(state->errors[PENSTOCK_ENDED])) {
      PyErr_Clear();
      return count;
    }
    while (count > 0) Py_DECREF(tiles[--count]);
    return -1;
  }
  return most;
}

PyObject* core_next_batches(Pipeline* self, PyObject* arguments) {
  Py_ssize_t most = 0;
  PyObject* timeout = NULL;
  if (!PyArg_ParseTuple(arguments, "nO", &most, &timeout)) return NULL;
  int64_t const limit = core_limit_of(timeout);
  if (limit == -2 || core_is_forked(self)) return NULL;
  // What is kept is missing in the pool, so not all can be waited for.
  Py_ssize_t const fits = self->tiles > 1 ? (Py_ssize_t)(self->tiles / 2) : 1;
  if (most < 1) {
    PyErr_SetString(PyExc_ValueError, "A batch has one tile or more.");
    return NULL;
  }
  most = most < fits ? most : fits;
  most = most < most_tiles ? most : most_tiles;
  PyObject** const tiles = calloc((size_t)most, sizeof *tiles);
  if (tiles == NULL) return PyErr_NoMemory();
  Py_ssize_t const count = take(self, most, limit, tiles);
  PyObject* all = count < 0 ? NULL : PyList_New(0);
  if (all != NULL && !self->is_ordered) qsort(tiles, (size_t)count, sizeof *tiles, by_address);
  for (Py_ssize_t at = 0; all != NULL && at < count;) {
    Py_ssize_t const stride = self->place_stride;
    Py_ssize_t const length = run_of(tiles + at, count - at, stride);
    PyObject* const batch = make(core_state_of((PyObject*)self), tiles + at, length, stride);
    at += length;
    if (batch == NULL || PyList_Append(all, batch) < 0) {
      while (at < count) Py_DECREF(tiles[at++]);
      Py_CLEAR(all);
    }
    Py_XDECREF(batch);
  }
  free(tiles);
  return all;
}

#define METHOD(name, function, how, doc) \
  { name, (PyCFunction)(void (*)(void))function, how, doc }
static PyMethodDef methods[] = {
    METHOD("__dlpack__", dlpack, METH_VARARGS | METH_KEYWORDS,
           "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nIts bytes as a DLPack "
           "capsule, not copied."),
    METHOD("__array__", array, METH_VARARGS | METH_KEYWORDS, NULL),
    METHOD("__reduce__", core_refuse_copy, METH_NOARGS, NULL),
    METHOD("used_in", used_in, METH_O, "used_in(stream)\n--\n\nAs Tile.used_in, for all of its tiles."),
    METHOD("__dlpack_device__", dlpack_device, METH_NOARGS,
           "__dlpack_device__()\n--\n\n(1, 0): memory of the host; (2, n): that of GPU n."),
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {{"tiles", (getter)get_tiles, NULL, "Its tiles, a tuple: one if it failed.", NULL},
                                {"ok", (getter)get_ok, NULL, "True if the work of its tiles is done.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef places[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(Batch, weak_references), READONLY, NULL},
                               {NULL, 0, 0, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_dealloc, destroy},
                              {Py_tp_methods, methods},
                              {Py_tp_members, places},
                              {Py_tp_getset, members},
                              {Py_sq_length, size},
                              {Py_bf_getbuffer, get_buffer},
                              {Py_tp_doc,
                               "Tiles side by side, as an array with one more dimension in front.\n\nThey go home when "
                               "it does: at its last reference."},
                              {0, NULL}};
PyType_Spec core_batch_spec = {
    .name = "penstock._core.Batch",
    .basicsize = sizeof(Batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots};
