/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of other libraries that use tiles on a GPU, and the CUDA array interface. */
#include "core.h"

/* Numbers that stand for default streams: https://data-apis.org/array-api/latest. */
enum { legacy_stream = 1, thread_stream = 2 };

static long this_thread(void) {
  return (long)gettid();
}

/* What an attribute has: the second of a pair, or itself. 0 if there is none. */
static uintptr_t number_of(PyObject* given, char const* name, int calls) {
  PyObject* found = PyObject_GetAttrString(given, name);
  if (found != NULL && calls) {
    PyObject* const pair = PyObject_CallNoArgs(found);
    Py_DECREF(found);
    found = pair == NULL ? NULL : PySequence_GetItem(pair, 1);
    Py_XDECREF(pair);
  }
  if (found == NULL) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return 0;
  }
  unsigned long long const number = PyLong_AsUnsignedLongLong(found);
  Py_DECREF(found);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  // Its handle is 0 for the default stream of these libraries, which is the legacy one.
  return number == 0 ? legacy_stream : (uintptr_t)number;
}

uintptr_t core_stream_of(PyObject* given) {
  if (given == NULL || Py_IsNone(given)) return legacy_stream;
  if (PyLong_Check(given)) {
    int overflow = 0;
    long long const number = PyLong_AsLongLongAndOverflow(given, &overflow);
    // -1: the consumer waits itself. Which stream it then uses, it does not say.
    if (overflow == 0 && number == -1) return legacy_stream;
    if (overflow == 0 && number > 0) return (uintptr_t)number;
    PyErr_SetString(PyExc_BufferError,
                    "This number is no stream: pass that of a cudaStream_t, 1 for the legacy default stream, or 2 for "
                    "the thread's own.");
    return 0;
  }
  uintptr_t found = number_of(given, "__cuda_stream__", 1);
  if (found == 0 && !PyErr_Occurred()) found = number_of(given, "cuda_stream", 0);
  if (found == 0 && !PyErr_Occurred()) found = number_of(given, "ptr", 0);
  if (found == 0 && !PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "This is no stream: pass one of torch, cupy or cuda.core, or its cudaStream_t.");
  return found;
}

int core_note_stream(Streams* self, uintptr_t stream) {
  if (stream == thread_stream) {
    // The default streams of two threads are two, and the legacy one waits for both.
    if (self->thread != 0 && self->thread != this_thread()) stream = legacy_stream;
    if (self->thread == 0) self->thread = this_thread();
  }
  for (int i = 0; i < self->count; ++i) {
    if (self->all[i] == stream) return 0;
  }
  if (self->count == most_streams) {
    PyErr_Format(PyExc_BufferError, "The tile is used in %d streams already: copy it for more.", (int)most_streams);
    return -1;
  }
  self->all[self->count++] = stream;
  return 0;
}

void core_tell_streams(Streams* self, Pipeline* home, penstock_tile* const* tiles, size_t count) {
  for (int i = 0; i < self->count; ++i) {
    uintptr_t stream = self->all[i];
    if (stream == thread_stream && self->thread != this_thread()) stream = legacy_stream;
    // A stream that is gone has done its work, or the legacy one knows of it. If that fails as well, the GPU is lost.
    if (penstock_tiles_used_in(home->pipeline, tiles, count, (void*)stream) != PENSTOCK_OK && stream != legacy_stream)
      penstock_tiles_used_in(home->pipeline, tiles, count, (void*)(uintptr_t)legacy_stream);
  }
  self->count = 0;
}

/* As numpy names them: "<f4". */
static void describe_type(Elements const* elements, char* type) {
  char const first = elements->format[0];
  char const kind = first == 'Z'             ? 'c'
                    : strchr("efd", first)   ? 'f'
                    : strchr("bhilq", first) ? 'i'
                    : first == '?'           ? 'b'
                                             : 'u';
  PyOS_snprintf(type, 8, "%c%c%d", elements->size == 1 ? '|' : '<', kind, (int)elements->size);
}

PyObject* core_array_interface(Tile* self, void* unused) {
  (void)unused;
  if (!core_is_on_gpu(self)) {
    PyErr_SetString(PyExc_AttributeError, "The tile is in memory of the host: numpy.asarray takes it.");
    return NULL;
  }
  if (self->tile == NULL) {
    PyErr_SetString(PyExc_ValueError, "The tile is home again: make the array before that.");
    return NULL;
  }
  if (core_is_forked(self->home) || core_note_stream(&self->streams, legacy_stream) < 0) return NULL;
  View view;
  if (core_view_of(self, &view) < 0) return NULL;
  PyObject* const shape = PyTuple_New(view.dimensions);
  if (shape == NULL) return NULL;
  for (int i = 0; i < view.dimensions; ++i) {
    PyObject* const extent = PyLong_FromSsize_t(view.shape[i]);
    if (extent == NULL || PyTuple_SetItem(shape, i, extent) < 0) {
      Py_DECREF(shape);
      return NULL;
    }
  }
  char type[8];
  describe_type(view.elements, type);
  self->is_exposed = 1;
  return Py_BuildValue("{s:N,s:s,s:(KO),s:i,s:O,s:O}", "shape", shape, "typestr", type, "data",
                       (unsigned long long)(uintptr_t)view.data, Py_False, "version", 3, "strides", Py_None, "stream",
                       Py_None);
}
