/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that the calling thread copies into tiles. */
#include "core.h"

/* A copy of so many bytes is over sooner than another thread has the GIL (docs/decisions/python.md). */
static size_t const short_copy = 16 * 1024;

/* Buffers, and how far they are copied. */
typedef struct Cursor {
  Py_buffer* buffers;
  uint64_t const* tags;
  size_t count;
  size_t next; /* The buffer that is being copied, */
  size_t at;   /* and its first byte that no tile has. */
} Cursor;

static size_t bytes_left(Cursor const* cursor) {
  size_t bytes = 0;
  for (size_t i = cursor->next; i < cursor->count && bytes <= short_copy; ++i) bytes += (size_t)cursor->buffers[i].len;
  return bytes;
}

/* Fills the tile, and as many more as are home, and submits them. It uses nothing of Python. */
static penstock_status fill_and_submit(Pipeline* self, penstock_tile* tile, Cursor* cursor) {
  penstock_status status = PENSTOCK_OK;
  do {
    Py_buffer const* const buffer = &cursor->buffers[cursor->next];
    penstock_bytes const room = penstock_tile_input(tile, 0);
    size_t const left = (size_t)buffer->len - cursor->at, bytes = left < room.size ? left : room.size;
    memcpy(room.data, (char const*)buffer->buf + cursor->at, bytes);
    penstock_tile_set_tag(tile, cursor->tags[cursor->next]);
    status = penstock_tile_set_filled(tile, 0, bytes);
    if (status == PENSTOCK_OK) status = penstock_submit(self->pipeline, tile);
    cursor->at += bytes;
    if (cursor->at >= (size_t)buffer->len) {
      ++cursor->next;
      cursor->at = 0;
    }
    tile = NULL;
    if (status == PENSTOCK_OK && cursor->next < cursor->count) status = penstock_try_borrow(self->pipeline, &tile);
  } while (status == PENSTOCK_OK && tile != NULL);
  return status;
}

static int copy_all(Pipeline* self, Cursor* cursor, int64_t limit) {
  while (cursor->next < cursor->count) {
    penstock_tile* tile = NULL;
    penstock_status status;
    if (core_borrow_tile(self, limit, &tile, &status) < 0) return -1;
    if (status == PENSTOCK_OK && tile == NULL) {
      PyErr_SetString(PyExc_TimeoutError,
                      "No tile came home in time: the device or the loop that takes tiles is slower.");
      return -1;
    }
    if (status == PENSTOCK_OK) {
      PyThreadState* const thread = bytes_left(cursor) > short_copy ? PyEval_SaveThread() : NULL;
      status = fill_and_submit(self, tile, cursor);
      if (thread != NULL) PyEval_RestoreThread(thread);
    }
    if (status != PENSTOCK_OK) {
      core_raise(core_state_of((PyObject*)self), status);
      return -1;
    }
  }
  return 0;
}

PyObject* core_buffers_of(PyObject* given, PyObject* numbers, uint64_t** tags) {
  PyObject* const all = PySequence_Fast(given, "Give a sequence of buffers; push takes a single one.");
  if (all == NULL) return NULL;
  Py_ssize_t const count = PySequence_Size(all);
  *tags = calloc(count > 0 ? (size_t)count : 1, sizeof **tags);
  if (*tags == NULL) PyErr_NoMemory();
  if (*tags != NULL && numbers != Py_None) {
    Py_ssize_t const there = PySequence_Size(numbers);
    if (there >= 0 && there != count)
      PyErr_Format(PyExc_ValueError, "There are %zd tags for %zd buffers: give each buffer one.", there, count);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); ++i) {
      PyObject* const number = PySequence_GetItem(numbers, i);
      if (number == NULL) break;
      (void)core_tag_of(number, &(*tags)[i]);
      Py_DECREF(number);
    }
  }
  if (!PyErr_Occurred()) return all;
  free(*tags);
  *tags = NULL;
  Py_DECREF(all);
  return NULL;
}

PyObject* core_push(Pipeline* self, PyObject* arguments) {
  PyObject *given = NULL, *numbers = NULL, *timeout = NULL;
  if (!PyArg_ParseTuple(arguments, "OOO", &given, &numbers, &timeout)) return NULL;
  int64_t const limit = core_limit_of(timeout);
  if (limit == -2 || core_is_forked(self)) return NULL;
  uint64_t* tags = NULL;
  PyObject* const all = core_buffers_of(given, numbers, &tags);
  if (all == NULL) return NULL;
  size_t const count = (size_t)PySequence_Size(all);
  Cursor cursor = {.buffers = calloc(count > 0 ? count : 1, sizeof(Py_buffer)), .tags = tags};
  int bad = cursor.buffers == NULL;
  if (bad) PyErr_NoMemory();
  for (; !bad && cursor.count < count; cursor.count += !bad) {
    PyObject* const one = PySequence_GetItem(all, (Py_ssize_t)cursor.count);
    bad = one == NULL || PyObject_GetBuffer(one, &cursor.buffers[cursor.count], PyBUF_SIMPLE) < 0;
    Py_XDECREF(one);
  }
  bad = bad || copy_all(self, &cursor, limit) < 0;
  for (size_t i = 0; i < cursor.count; ++i) PyBuffer_Release(&cursor.buffers[i]);
  free(cursor.buffers);
  free(tags);
  Py_DECREF(all);
  if (bad) return NULL;
  Py_RETURN_NONE;
}
