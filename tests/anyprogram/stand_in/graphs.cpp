// SPDX-License-Identifier: Apache-2.0
// Graphs of the stand-in for the driver: they have nodes that copy and child graphs, and do nothing when launched.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "anyprogram/stand_in/told.hpp"

namespace {

struct Graph;
/// A CUDA_MEMCPY3D, in bytes.
struct Copy {
  unsigned char bytes[200];
};
struct Node {
  int type = 1;
  Copy copy = {};
  Graph* child = nullptr;
};
/// Graphs and their nodes are there as long as the program.
struct Graph {
  std::vector<Node*> nodes;
};

int add(Graph* graph, void** made, Node const& node) {
  graph->nodes.push_back(new Node(node));
  *made = graph->nodes.back();
  return 0;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): these are the driver's names.
#pragma GCC visibility push(default)
extern "C" {
int cuGraphCreate(Graph** graph, unsigned) {
  *graph = new Graph;
  return 0;
}
int cuGraphAddMemcpyNode(void** node, Graph* graph, void* const*, std::size_t, Copy const* copy, void*) {
  return add(graph, node, {.copy = *copy});
}
int cuGraphAddChildGraphNode(void** node, Graph* graph, void* const*, std::size_t, Graph* child) {
  return add(graph, node, {.type = 4, .child = child});
}
int cuGraphGetNodes(Graph* graph, Node** nodes, std::size_t* count) {
  if (nodes != nullptr) std::memcpy(nodes, graph->nodes.data(), graph->nodes.size() * sizeof *nodes);
  *count = graph->nodes.size();
  return 0;
}
int cuGraphNodeGetType(Node* node, int* type) {
  *type = node->type;
  return 0;
}
int cuGraphMemcpyNodeGetParams(Node* node, Copy* copy) {
  *copy = node->copy;
  return 0;
}
int cuGraphChildGraphNodeGetGraph(Node* node, Graph** graph) {
  *graph = node->child;
  return 0;
}
int cuGraphInstantiateWithFlags(void** executable, Graph* graph, unsigned long long flags) {
  struct {
    void** executable;
    Graph* graph;
    unsigned long long flags;
  } const parameters{executable, graph, flags};
  return told(643, parameters, [&](std::uint32_t) {
    *executable = new char;
    return 0;
  });
}
int cuGraphExecMemcpyNodeSetParams(void* executable, Node* node, Copy const* copy, void* context) {
  struct {
    void* executable;
    Node* node;
    Copy const* copy;
    void* context;
  } const parameters{executable, node, copy, context};
  return told(562, parameters, [](std::uint32_t) { return 0; });
}
int cuGraphExecUpdate_v2(void* executable, Graph* graph, void* result) {
  struct {
    void* executable;
    Graph* graph;
    void* result;
  } const parameters{executable, graph, result};
  return told(696, parameters, [](std::uint32_t) { return 0; });
}
int cuGraphLaunch(void* executable, void* stream) {
  struct {
    void* executable;
    void* stream;
  } const parameters{executable, stream};
  return told(514, parameters, [](std::uint32_t) { return 0; });
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
