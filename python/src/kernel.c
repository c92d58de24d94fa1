/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a program's own code as stages. */
#include "core.h"

enum { most_arguments = 64 };

/* Reads [(kind, bytes or None), ...]; the values live as long as the list. -1, with an exception. */
static Py_ssize_t read_arguments(PyObject* given, penstock_kernel_argument* all) {
  Py_ssize_t const count = PyList_Size(given);
  if (count > most_arguments) {
    PyErr_Format(PyExc_ValueError, "A kernel has %d arguments at most: put more into memory.", (int)most_arguments);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* value = NULL;
    unsigned int kind = 0;
    if (!PyArg_ParseTuple(PyList_GetItem(given, i), "IO", &kind, &value)) return -1;
    all[i] = (penstock_kernel_argument){.kind = kind};
    if (Py_IsNone(value)) continue;
    char* bytes = NULL;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(value, &bytes, &size) < 0) return -1;
    all[i].value = bytes;
    all[i].bytes = (uint32_t)size;
  }
  return count;
}

static PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  static char* keywords[] = {"image", "name",       "arguments", "element_bytes", "row_bytes", "output_row_bytes",
                             "block", "per_thread", "grid",      "shared",        NULL};
  char const *image = NULL, *name = NULL;
  Py_ssize_t image_bytes = 0, element = 0, row = 0, output_row = 0;
  unsigned int block = 0, per_thread = 0, grid = 0, shared = 0;
  PyObject* list = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "y#sO!nnnIIII", keywords, &image, &image_bytes, &name,
                                   &PyList_Type, &list, &element, &row, &output_row, &block, &per_thread, &grid,
                                   &shared))
    return NULL;
  penstock_kernel_argument all[most_arguments];
  Py_ssize_t const count = read_arguments(list, all);
  if (count < 0) return NULL;
  allocfunc const allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Kernel* const self = (Kernel*)allocate(type, 0);
  if (self == NULL) return NULL;
  penstock_kernel_of_module const kernel = {.size = sizeof kernel,
                                            .image = image,
                                            .image_bytes = (size_t)image_bytes,
                                            .name = name,
                                            .arguments = all,
                                            .argument_count = (size_t)count,
                                            .element_bytes = (size_t)element,
                                            .row_bytes = (size_t)row,
                                            .output_row_bytes = (size_t)output_row,
                                            .block = block,
                                            .grid = grid,
                                            .per_thread = per_thread,
                                            .shared_bytes = shared};
  self->stage.size = sizeof self->stage;
  penstock_status const status = penstock_stage_of_kernel(&kernel, &self->stage);
  if (status != PENSTOCK_OK) {
    core_raise(PyType_GetModuleState(type), status);
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  return (PyObject*)self;
}

static void destroy(Kernel* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_stage_free(&self->stage);
  PyEval_RestoreThread(thread);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_new, make}, {Py_tp_dealloc, destroy}, {Py_tp_doc, "A kernel as a stage. Use penstock.kernel()."}, {0, NULL}};
PyType_Spec core_kernel_spec = {.name = "penstock._core.Kernel",
                                .basicsize = sizeof(Kernel),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                .slots = slots};
