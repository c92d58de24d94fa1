/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"
#include <structmember.h>
#include <time.h>

/* That of tiles. */
enum { alignment = 256 };
/* So often a wait looks for ctrl-C. */
static int64_t const slice = 50 * 1000 * 1000;
/* So long all tiles are kept before somebody is told. */
static int64_t const long_wait = 2000 * (int64_t)1000 * 1000;

int64_t core_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Reads a limit in seconds, or None. Nanoseconds; -1 for none, -2 with an exception. */
int64_t core_limit_of(PyObject* seconds) {
  if (seconds == NULL || Py_IsNone(seconds)) return -1;
  double const value = PyFloat_AsDouble(seconds);
  if (value == -1.0 && PyErr_Occurred()) return -2;
  if (!(value >= 0)) {
    PyErr_SetString(PyExc_ValueError, "A timeout is in seconds: 0 or more, or None for no limit.");
    return -2;
  }
  return value > 1e9 ? -1 : (int64_t)(value * 1e9);
}

/* Reads (format, size, rest...). */
static int read_elements(PyObject* given, Elements* elements) {
  char const* format = NULL;
  PyObject* rest = NULL;
  if (!PyArg_ParseTuple(given, "snO!", &format, &elements->size, &PyTuple_Type, &rest)) return -1;
  Py_ssize_t const count = PyTuple_Size(rest);
  if (strlen(format) >= sizeof elements->format || elements->size < 1 || count >= most_dimensions) {
    PyErr_SetString(PyExc_ValueError, "Elements of a tile have a format of the module struct and up to 8 dimensions.");
    return -1;
  }
  strcpy(elements->format, format);
  elements->rest_count = (int)count;
  for (Py_ssize_t i = 0; i < count; ++i) {
    elements->rest[i] = PyLong_AsSsize_t(PyTuple_GetItem(rest, i));
    if (elements->rest[i] < 1) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "A dimension of a tile is 1 or more.");
      return -1;
    }
  }
  return 0;
}

/* Reads {"lanes": "2"} into an array that `free` frees; its texts live as long as the dict. */
static penstock_option* read_options(PyObject* given, size_t* count) {
  penstock_option* const all = calloc((size_t)PyDict_Size(given) + 1, sizeof *all);
  if (all == NULL) return (penstock_option*)PyErr_NoMemory();
  PyObject *name = NULL, *value = NULL;
  for (Py_ssize_t at = 0; PyDict_Next(given, &at, &name, &value); ++*count) {
    all[*count].name = PyUnicode_AsUTF8AndSize(name, NULL);
    all[*count].value = PyUnicode_AsUTF8AndSize(value, NULL);
    if (all[*count].name == NULL || all[*count].value == NULL) {
      free(all);
      return NULL;
    }
  }
  return all;
}

static PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  static char* keywords[] = {"device", "input_bytes", "output_bytes", "options", "input",
                             "output", "verdict",     "on_device",    NULL};
  char const* device = NULL;
  PyObject *options = NULL, *input = NULL, *output = NULL;
  Py_ssize_t input_bytes = 0, output_bytes = 0;
  int verdict = 0, on_device = -1;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "snnO!O!O!p|i", keywords, &device, &input_bytes, &output_bytes,
                                   &PyDict_Type, &options, &PyTuple_Type, &input, &PyTuple_Type, &output, &verdict,
                                   &on_device))
    return NULL;
  allocfunc const allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Pipeline* const self = (Pipeline*)allocate(type, 0);
  if (self == NULL) return NULL;
  self->process = (long)getpid();
  penstock_option* named = NULL;
  penstock_pipeline_options all = {.size = sizeof all,
                                   .input_bytes = (size_t)input_bytes,
                                   .output_bytes = (size_t)output_bytes,
                                   .flags = verdict ? PENSTOCK_VERDICT : 0};
  if (input_bytes < 0 || output_bytes < 0) {
    PyErr_SetString(PyExc_ValueError, "A tile has 0 bytes or more.");
  } else if (read_elements(input, &self->input) == 0 && read_elements(output, &self->output) == 0) {
    named = read_options(options, &all.option_count);
  }
  if (named == NULL) {
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  all.options = named;
  self->has_output = output_bytes > 0;
  Py_ssize_t const kept = output_bytes > 0 ? output_bytes : input_bytes;
  self->place_stride = (kept + alignment - 1) / alignment * alignment;
  for (size_t i = 0; i < all.option_count; ++i)
    self->is_ordered |= strcmp(named[i].name, "ordered") == 0 && strcmp(named[i].value, "yes") == 0;
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_status status = penstock_devices_open(device, &self->devices);
  if (status == PENSTOCK_OK) {
    // -1: on a GPU, if all devices are GPUs.
    uint32_t const gpus = penstock_devices_gpus(self->devices), all_devices = penstock_devices_count(self->devices);
    self->on_device = on_device < 0 ? gpus == all_devices : on_device;
    if (self->on_device) all.flags |= PENSTOCK_ON_DEVICE;
  }
  if (status == PENSTOCK_OK) status = penstock_pipeline_create(self->devices, &all, &self->pipeline);
  PyEval_RestoreThread(thread);
  free(named);
  if (status != PENSTOCK_OK) {
    core_raise(PyType_GetModuleState(type), status);
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  self->tiles = penstock_tile_count(self->pipeline);
  return (PyObject*)self;
}

static void destroy(Pipeline* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  if (self->weak_references != NULL) PyObject_ClearWeakRefs((PyObject*)self);
  if (self->process == (long)getpid()) {
    core_end_lending(self);
    PyThreadState* const thread = PyEval_SaveThread();
    penstock_pipeline_destroy(self->pipeline);
    penstock_devices_close(self->devices);
    PyEval_RestoreThread(thread);
  }
  Py_XDECREF(self->paths);
  Py_XDECREF(self->stage);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject* ended_with(Pipeline* self, penstock_status status) {
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  Py_RETURN_NONE;
}

char const** core_read_paths(PyObject* given, size_t* count) {
  Py_ssize_t const size = PyList_Size(given);
  char const** const all = calloc((size_t)size + 1, sizeof *all);
  if (all == NULL) return (char const**)PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < size; ++i) {
    // Each is bytes, as os.fsencode makes them, and the list keeps it.
    char* path = NULL;
    int const bad = PyBytes_AsStringAndSize(PyList_GetItem(given, i), &path, NULL) < 0;
    all[i] = path;
    if (bad) {
      free(all);
      return NULL;
    }
  }
  *count = (size_t)size;
  return all;
}

int core_stage_of(Pipeline* self, PyObject* given, penstock_stage const** stage) {
  if (Py_IsNone(given)) return 0;
  if (!PyObject_TypeCheck(given, core_state_of((PyObject*)self)->kernel_type)) {
    PyErr_SetString(PyExc_TypeError, "A stage is a penstock.kernel.");
    return -1;
  }
  *stage = &((Kernel const*)given)->stage;
  return 0;
}

void core_keep_stage(Pipeline* self, PyObject* given) {
  PyObject* const before = self->stage;
  self->stage = Py_IsNone(given) ? NULL : Py_NewRef(given);
  Py_XDECREF(before);
}

static PyObject* begin(Pipeline* self, PyObject* arguments) {
  PyObject *paths = NULL, *stage = Py_None;
  unsigned long long flags = 0;
  if (!PyArg_ParseTuple(arguments, "OK|O", &paths, &flags, &stage) || core_is_forked(self)) return NULL;
  penstock_stage const* runs = NULL;
  if (core_stage_of(self, stage, &runs) < 0) return NULL;
  penstock_files files = {.size = sizeof files, .flags = flags};
  char const** texts = NULL;
  int const has_files = !Py_IsNone(paths);
  if (has_files && !PyList_Check(paths)) {
    PyErr_SetString(PyExc_TypeError, "The paths are a list of bytes.");
    return NULL;
  }
  if (has_files) {
    texts = core_read_paths(paths, &files.count);
    if (texts == NULL) return NULL;
    files.paths = texts;
  }
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_status const status = penstock_begin(self->pipeline, has_files ? &files : NULL, runs);
  PyEval_RestoreThread(thread);
  free(texts);
  if (status == PENSTOCK_OK) {
    PyObject* const before = self->paths;
    self->paths = has_files ? Py_NewRef(paths) : NULL;
    Py_XDECREF(before);
    core_keep_stage(self, stage);
  }
  return ended_with(self, status);
}

/* Tells by a warning that no tile can come while all are kept. */
static int warn_of_kept(Pipeline* self) {
  return PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                          "All %llu tiles of the pipeline are kept, so none can come: let go of them, call "
                          "tile.release(), or open the pipeline with more (tiles=%llu).",
                          (unsigned long long)self->tiles, (unsigned long long)self->tiles * 2);
}

/* Tells a thread that feeds that none will come home while no thread takes tiles. */
static int warn_of_no_loop(void) {
  return PyErr_WarnEx(
      PyExc_RuntimeWarning,
      "No tile comes home, and Python has none: no thread takes tiles that are done, or the device is slow. "
      "Feed in other threads than the loop (Tiles.threads).",
      1);
}

int core_tag_of(PyObject* given, uint64_t* tag) {
  *tag = PyLong_AsUnsignedLongLong(given);
  return PyErr_Occurred() ? -1 : 0;
}

int core_between(Pipeline* self, int64_t since, int feeds, int* told) {
  if (PyErr_CheckSignals() < 0) return -1;
  if (*told || core_now() - since < long_wait) return 0;
  int const all_kept = (uint64_t)self->held >= self->tiles, none_taken = feeds && self->held == 0;
  if (!all_kept && !none_taken) return 0;
  *told = 1;
  return all_kept ? warn_of_kept(self) : warn_of_no_loop();
}

/* The smaller of a slice and what is left until `end`; -1: there is no end. */
int64_t core_next_slice(int64_t end) {
  if (end < 0) return slice;
  int64_t const left = end - core_now();
  return left < 0 ? 0 : left < slice ? left : slice;
}

PyObject* core_next(Pipeline* self, int64_t limit) {
  penstock_completion completion = {.size = sizeof completion};
  // One that waits already comes without a look at the clock.
  penstock_status status = penstock_next(self->pipeline, 0, &completion);
  int64_t const since = status == PENSTOCK_OK && completion.tile == NULL ? core_now() : 0;
  int64_t const end = limit < 0 ? -1 : since + limit;
  int told = 0;
  if (since != 0) core_take_back(self, 1);
  while (status == PENSTOCK_OK && completion.tile == NULL) {
    if (end >= 0 && core_now() >= end) return NULL;
    if (core_between(self, since, 0, &told) < 0) return NULL;
    completion.size = sizeof completion;
    PyThreadState* const thread = PyEval_SaveThread();
    status = penstock_next(self->pipeline, core_next_slice(end), &completion);
    PyEval_RestoreThread(thread);
  }
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  // To look for each tile would hold up the threads that copy.
  if (++self->taken % 32 == 0) core_take_back(self, 0);
  return core_new_tile(self, completion.tile, &completion);
}

/* A completed tile; None at the time limit; raises Ended behind the last. */
static PyObject* next(Pipeline* self, PyObject* timeout) {
  int64_t const limit = core_limit_of(timeout);
  if (limit == -2 || core_is_forked(self)) return NULL;
  PyObject* const tile = core_next(self, limit);
  if (tile == NULL && !PyErr_Occurred()) Py_RETURN_NONE;
  return tile;
}

/* Signals come to the main thread, and only a wait of that one has to look for them. */
static int is_main_thread(void) {
  return gettid() == getpid();
}

int core_borrow_tile(Pipeline* self, int64_t limit, penstock_tile** tile, penstock_status* status) {
  *status = penstock_try_borrow(self->pipeline, tile);
  if (*status != PENSTOCK_OK || *tile != NULL) return 0;
  if (limit < 0 && !is_main_thread()) {
    PyThreadState* const thread = PyEval_SaveThread();
    *status = penstock_borrow(self->pipeline, tile);
    PyEval_RestoreThread(thread);
    return 0;
  }
  int64_t const since = core_now(), end = limit < 0 ? -1 : since + limit;
  int told = 0;
  // The library has no borrow with a limit, so this looks again and again, less often the longer it takes.
  int64_t rest = 20 * 1000, last_look = since;
  while (*status == PENSTOCK_OK && *tile == NULL) {
    int64_t const at = core_now();
    if (end >= 0 && at >= end) return 0;
    if (at - last_look >= slice) {
      if (core_between(self, since, 1, &told) < 0) return -1;
      last_look = at;
    }
    if (end >= 0 && rest > end - at) rest = end - at;
    struct timespec const time = {0, rest};
    PyThreadState* const thread = PyEval_SaveThread();
    nanosleep(&time, NULL);
    *status = penstock_try_borrow(self->pipeline, tile);
    PyEval_RestoreThread(thread);
    if (rest < 500 * 1000) rest += rest / 4;
  }
  return 0;
}

static PyObject* borrow(Pipeline* self, PyObject* timeout) {
  int64_t const limit = core_limit_of(timeout);
  if (limit == -2 || core_is_forked(self)) return NULL;
  penstock_tile* tile = NULL;
  penstock_status status;
  if (core_borrow_tile(self, limit, &tile, &status) < 0) return NULL;
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  if (tile == NULL) Py_RETURN_NONE;
  return core_new_tile(self, tile, NULL);
}

static PyObject* end_input(Pipeline* self, PyObject* unused) {
  (void)unused;
  if (core_is_forked(self)) return NULL;
  return ended_with(self, penstock_end_input(self->pipeline));
}

static PyObject* stop(Pipeline* self, PyObject* unused) {
  (void)unused;
  if (core_is_forked(self)) return NULL;
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_stop(self->pipeline);
  PyEval_RestoreThread(thread);
  Py_RETURN_NONE;
}

static PyObject* as_text(Pipeline* self, penstock_status status, char* text) {
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  PyObject* const all = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  penstock_free_text(text);
  return all;
}

/* (JSON, text) of the report. */
static PyObject* drain(Pipeline* self, PyObject* unused) {
  (void)unused;
  if (core_is_forked(self)) return NULL;
  penstock_report* report = NULL;
  char *json = NULL, *text = NULL;
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_status status = penstock_drain(self->pipeline, &report);
  if (status == PENSTOCK_OK) status = penstock_report_json(report, &json);
  if (status == PENSTOCK_OK) status = penstock_report_text(report, &text);
  int const ok = penstock_report_ok(report);
  PyEval_RestoreThread(thread);
  core_take_back(self, 1);
  PyObject* result = NULL;
  if (status != PENSTOCK_OK) {
    core_raise(core_state_of((PyObject*)self), status);
  } else {
    // Paths are no texts of a certain encoding.
    result = Py_BuildValue("(NNs)", PyUnicode_DecodeUTF8(json, (Py_ssize_t)strlen(json), "replace"),
                           PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"), ok ? "ok" : "");
  }
  penstock_free_text(json);
  penstock_free_text(text);
  penstock_report_destroy(report);
  return result;
}

static PyObject* snapshot_json(Pipeline* self, PyObject* unused) {
  (void)unused;
  if (core_is_forked(self)) return NULL;
  char* json = NULL;
  penstock_status const status = penstock_snapshot_json(self->pipeline, &json);
  return as_text(self, status, json);
}

static PyObject* get_tiles(Pipeline* self, void* unused) {
  (void)unused;
  return PyLong_FromUnsignedLongLong(self->tiles);
}
static PyObject* get_held(Pipeline* self, void* unused) {
  (void)unused;
  return PyLong_FromSsize_t(self->held);
}

#define METHOD(name, function, how, doc) \
  { name, (PyCFunction)(void (*)(void))function, how, doc }
static PyMethodDef methods[] = {
    METHOD("begin", begin, METH_VARARGS,
           "begin(paths, flags, stage=None)\n--\n\nStarts a run of files (a list of bytes), or of what is fed (None)."),
    METHOD("begin_images", core_begin_images, METH_VARARGS,
           "begin_images(paths, images, order, flags, seed, batch, width, height, mean, deviation, least_area, "
           "most_ratio)\n--\n\nStarts a run of images: (path, offset, bytes) of each and their order, as arrays of Q."),
    METHOD("image_problems", core_image_problems, METH_VARARGS,
           "image_problems(tile, count)\n--\n\nWhy images of a tile have zeros, by their place."),
    METHOD("next", next, METH_O,
           "next(timeout)\n--\n\nA completed Tile; None at the time limit; raises Ended behind the last."),
    METHOD("begin_ring", core_begin_ring, METH_VARARGS,
           "begin_ring(path, slots, writers, idle, stage)\n--\n\nStarts a run of what others write to a ring."),
    METHOD("begin_lent", core_begin_lent, METH_O, "begin_lent(stage)\n--\n\nStarts a run of buffers that are lent."),
    METHOD("lend", core_lend, METH_VARARGS, "lend(buffer, tag, timeout)\n--\n\nLends a buffer."),
    METHOD("next_batches", core_next_batches, METH_VARARGS,
           "next_batches(most, timeout)\n--\n\nA list of Batch, of so many tiles together."),
    METHOD("borrow", borrow, METH_O, "borrow(timeout)\n--\n\nA free Tile; None at the time limit."),
    METHOD("push", core_push, METH_VARARGS,
           "push(buffers, tags, timeout)\n--\n\nCopies buffers into tiles and submits them."),
    METHOD("end_input", end_input, METH_NOARGS, "end_input()\n--\n\nSays that no more tiles will be submitted."),
    METHOD("stop", stop, METH_NOARGS, "stop()\n--\n\nCancels what no device has started."),
    METHOD("drain", drain, METH_NOARGS,
           "drain()\n--\n\nWaits for the end of the run: JSON and text of its report, and \"ok\" or \"\"."),
    METHOD("snapshot_json", snapshot_json, METH_NOARGS, "snapshot_json()\n--\n\nThe state at this moment, as JSON."),
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {{"tiles", (getter)get_tiles, NULL, "Number of tiles.", NULL},
                                {"held", (getter)get_held, NULL, "Number of tiles that Python has.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef places[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(Pipeline, weak_references), READONLY, NULL},
                               {NULL, 0, 0, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, make},
                              {Py_tp_dealloc, destroy},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, members},
                              {Py_tp_members, places},
                              {Py_tp_doc, "A pipeline of the library. Use penstock.pipeline() or penstock.files()."},
                              {0, NULL}};
PyType_Spec core_pipeline_spec = {.name = "penstock._core.Pipeline",
                                  .basicsize = sizeof(Pipeline),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                  .slots = slots};
