// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <utility>

#include "egress/arrow/arrow_messages.hpp"
#include "penstock/egress/arrow.hpp"

namespace penstock {
namespace {

/// Memory that the release callback of a structure frees.
struct SchemaParts {
  std::string format, name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};
struct ArrayParts {
  std::vector<ArrowColumn> columns;  ///< Empty, or the one column.
  std::vector<void const*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

/// Releases a structure; children that were moved out have no callback any more.
template <class Structure, class Parts>
void release(Structure* structure) noexcept {
  std::unique_ptr<Parts> const parts(static_cast<Parts*>(structure->private_data));
  for (Structure& child : parts->children) {
    if (child.release != nullptr) child.release(&child);
  }
  structure->release = nullptr;
}

/// A structure that owns these parts.
template <class Structure, class Parts>
Structure owning(std::unique_ptr<Parts> parts) {
  for (Structure& child : parts->children) parts->pointers.push_back(&child);
  Structure structure{};
  structure.n_children = static_cast<std::int64_t>(parts->children.size());
  structure.children = parts->pointers.data();
  structure.release = &release<Structure, Parts>;
  structure.private_data = parts.release();
  return structure;
}

/// A structure that is released unless it is taken.
template <class Structure>
class Held {
 public:
  explicit Held(Structure structure) : structure_(structure) {}
  Held(Held const&) = delete;
  Held& operator=(Held const&) = delete;
  ~Held() {
    if (structure_.release != nullptr) structure_.release(&structure_);
  }
  Structure* operator->() noexcept { return &structure_; }
  Structure take() noexcept { return std::exchange(structure_, {}); }

 private:
  Structure structure_;
};

std::string format_of(ArrowField const& field) {
  using enum ArrowKind;
  if (field.kind == fixed_binary) return "w:" + std::to_string(field.bytes);
  if (field.kind == timestamp) return std::string("ts") + "smun"[static_cast<int>(field.unit)] + ":" + field.zone;
  // Indexed in the order of ArrowKind.
  return {"csilCSILfguz"[static_cast<int>(field.kind)]};
}

ArrowSchema schema_of(std::string format, std::string name, bool nullable, std::size_t children) {
  auto parts = std::make_unique<SchemaParts>();
  parts->format = std::move(format);
  parts->name = std::move(name);
  parts->children.resize(children);
  parts->pointers.reserve(children);
  SchemaParts const& kept = *parts;
  auto schema = owning<ArrowSchema>(std::move(parts));
  schema.format = kept.format.c_str();
  schema.name = kept.name.c_str();
  schema.flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  return schema;
}

ArrowArray array_of(std::unique_ptr<ArrayParts> parts, std::uint64_t rows, std::uint64_t nulls) {
  parts->pointers.reserve(parts->children.size());
  ArrayParts& kept = *parts;
  auto array = owning<ArrowArray>(std::move(parts));
  array.length = static_cast<std::int64_t>(rows);
  array.null_count = static_cast<std::int64_t>(nulls);
  array.n_buffers = static_cast<std::int64_t>(kept.buffers.size());
  array.buffers = kept.buffers.data();
  return array;
}

/// The array of a column, to which `give` passes the column.
ArrowArray array_of(ArrowColumn const& column) {
  // An empty buffer still needs an address.
  alignas(64) static constexpr std::byte nothing[64]{};
  auto parts = std::make_unique<ArrayParts>();
  parts->columns.reserve(1);
  parts->buffers.reserve(3);
  // The addresses stay valid when the column is moved.
  for (auto const buffer : buffers_of(column)) parts->buffers.push_back(buffer.empty() ? nothing : buffer.data());
  if (column.nulls() == 0) parts->buffers.front() = nullptr;
  return array_of(std::move(parts), column.rows(), column.nulls());
}

void give(ArrowColumn&& column, ArrowArray const& array) noexcept {
  static_cast<ArrayParts*>(array.private_data)->columns.push_back(std::move(column));  // There is room.
}

}  // namespace

void ArrowBatch::release_to(ArrowSchema& schema, ArrowArray& array) {
  std::uint64_t const count = rows();
  std::vector<ArrowField> fields;
  for (ArrowColumn const& column : columns_) fields.push_back(column.field());
  Held types(schema_of("+s", "", false, fields.size()));
  for (std::size_t k = 0; k < fields.size(); ++k)
    *types->children[k] = schema_of(format_of(fields[k]), fields[k].name, fields[k].nullable, 0);
  auto parts = std::make_unique<ArrayParts>();
  parts->children.resize(fields.size());
  parts->buffers.push_back(nullptr);
  Held values(array_of(std::move(parts), count, 0));
  for (std::size_t k = 0; k < fields.size(); ++k) *values->children[k] = array_of(columns_[k]);
  ArrowBatch next(fields);
  // Nothing fails from here on.
  std::swap(columns_, next.columns_);
  for (std::size_t k = 0; k < fields.size(); ++k) give(std::move(next.columns_[k]), *values->children[k]);
  schema = types.take();
  array = values.take();
}

}  // namespace penstock
