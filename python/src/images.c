/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of images: batches of tensors. */
#include "core.h"

/* A buffer of numbers of 64 bits, or nothing for None. -1 with an exception. */
static int read_numbers(PyObject* given, Py_buffer* buffer) {
  buffer->buf = NULL;
  buffer->obj = NULL;
  buffer->len = 0;
  if (Py_IsNone(given)) return 0;
  if (PyObject_GetBuffer(given, buffer, PyBUF_SIMPLE) < 0) return -1;
  if (buffer->len % (Py_ssize_t)sizeof(uint64_t) == 0) return 0;
  PyBuffer_Release(buffer);
  PyErr_SetString(PyExc_ValueError, "Images and their order are numbers of 64 bits: array.array(\"Q\").");
  return -1;
}

PyObject* core_begin_images(Pipeline* self, PyObject* arguments) {
  PyObject *paths = NULL, *parts = NULL, *order = NULL;
  unsigned long long flags = 0, seed = 0;
  unsigned int batch = 0, width = 0, height = 0;
  penstock_images images = {.size = sizeof images};
  if (!PyArg_ParseTuple(arguments, "O!OOKKIII(fff)(fff)ff", &PyList_Type, &paths, &parts, &order, &flags, &seed, &batch,
                        &width, &height, &images.mean[0], &images.mean[1], &images.mean[2], &images.deviation[0],
                        &images.deviation[1], &images.deviation[2], &images.least_area, &images.most_ratio) ||
      core_is_forked(self))
    return NULL;
  images.flags = flags;
  images.seed = seed;
  images.batch = batch;
  images.width = width;
  images.height = height;
  Py_buffer part_buffer, order_buffer;
  if (read_numbers(parts, &part_buffer) < 0) return NULL;
  char const** texts = NULL;
  penstock_status status = PENSTOCK_OK;
  int bad = read_numbers(order, &order_buffer) < 0;
  if (!bad) {
    texts = core_read_paths(paths, &images.path_count);
    bad = texts == NULL;
  }
  if (!bad) {
    images.paths = texts;
    images.images = part_buffer.buf;
    images.image_count = (size_t)part_buffer.len / sizeof(penstock_image);
    images.order = order_buffer.buf;
    images.order_count = (size_t)order_buffer.len / sizeof(uint64_t);
    PyThreadState* const thread = PyEval_SaveThread();
    status = penstock_begin_images(self->pipeline, &images);
    PyEval_RestoreThread(thread);
    free(texts);
  }
  PyBuffer_Release(&order_buffer);
  PyBuffer_Release(&part_buffer);
  if (bad) return NULL;
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  Py_RETURN_NONE;
}

PyObject* core_image_problems(Pipeline* self, PyObject* arguments) {
  PyObject* tile = NULL;
  unsigned long long count = 0;
  if (!PyArg_ParseTuple(arguments, "O!K", core_state_of((PyObject*)self)->tile_type, &tile, &count) ||
      core_is_forked(self))
    return NULL;
  PyObject* const all = PyDict_New();
  for (unsigned long long place = 0; all != NULL && place < count; ++place) {
    char const* reason = NULL;
    penstock_status const status = penstock_tile_problem(self->pipeline, ((Tile*)tile)->tile, place, &reason);
    if (status == PENSTOCK_OK && reason == NULL) continue;
    PyObject* const key = PyLong_FromUnsignedLongLong(place);
    PyObject* text = NULL;
    if (status == PENSTOCK_OK) {
      text = PyUnicode_DecodeUTF8(reason, (Py_ssize_t)strlen(reason), "replace");
    } else {
      core_raise(core_state_of((PyObject*)self), status);
    }
    int const bad = key == NULL || text == NULL || PyDict_SetItem(all, key, text) < 0;
    Py_XDECREF(key);
    Py_XDECREF(text);
    if (bad) {
      Py_DECREF(all);
      return NULL;
    }
  }
  return all;
}
