// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/interpreter/storage.h"

#include <algorithm>
#include <cstring>

#include "hpl/error.h"

namespace hpl::ir::detail {
namespace {

/// Neither 0 nor 1 nor a small number: results that depend on it look wrong.
constexpr int kPoison = 0xa5;

std::vector<std::int64_t> denseStrides(const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

std::int64_t volume(const std::vector<std::int64_t>& extents) {
  std::int64_t cells = 1;
  for (const std::int64_t extent : extents) cells *= extent;
  return cells;
}

/// Elements from the first to the last, whatever the strides: what a pointer may reach.
std::int64_t span(const Memory& memory) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < memory.extents.size(); ++d) {
    if (memory.extents[d] == 0) return 0;
    last += (memory.extents[d] - 1) * memory.strides[d];
  }
  return last + 1;
}

/// Structs are told apart byte by byte, because their fields may have any size.
std::size_t granuleOf(const Type& type) { return type.isStruct() ? 1 : sizeOf(type.scalar); }

}  // namespace

std::byte* StorageTable::allocate(std::int64_t bytes) {
  blocks_.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
  return blocks_.back().get();
}

std::byte* StorageTable::indeterminate(std::int64_t bytes, std::uint8_t** written) {
  std::byte* address = allocate(bytes);
  fills_.push_back(Fill{address, static_cast<std::size_t>(bytes), kPoison});
  if (machine_.options.detectUninitialised) {
    *written = reinterpret_cast<std::uint8_t*>(allocate(bytes));
    fills_.push_back(Fill{*written, static_cast<std::size_t>(bytes), 0});
  }
  return address;
}

void StorageTable::addMemory(Storage& storage, const std::vector<std::int64_t>& extents,
                             std::int64_t copies) {
  Memory& memory = memories_.emplace_back();
  memory.variable = storage.variable;
  memory.elementSize = storage.size;
  memory.extents = extents;
  memory.strides = denseStrides(extents);
  memory.granule = granuleOf(storage.variable->type);
  memory.end = volume(extents);
  const std::int64_t bytes = memory.end * memory.elementSize;
  memory.itemStride = copies > 1 ? bytes : 0;
  memory.base = indeterminate(bytes * copies, &memory.written);
  storage.memory = &memory;
}

void StorageTable::bindGlobal(const Variable* variable, const ArrayArgument& argument) {
  auto& storage = storages_[variable];
  storage = std::make_unique<Storage>();
  storage->variable = variable;
  storage->size = static_cast<std::int64_t>(sizeOf(variable->type));
  Memory& memory = memories_.emplace_back();
  memory.variable = variable;
  memory.base = static_cast<std::byte*>(argument.data);
  memory.elementSize = storage->size;
  memory.extents = argument.extents;
  memory.strides = argument.strides.empty() ? denseStrides(argument.extents) : argument.strides;
  memory.granule = granuleOf(variable->type);
  memory.lowest = -argument.elementsBefore;
  memory.end = argument.elementsAfter != 0 ? argument.elementsAfter : span(memory);
  memory.label = argument.label;
  if (variable->role != Role::Alias) {
    storage->memory = &memory;
    return;
  }
  // Rows of the batch never change, so that a parameter's pointers are set once.
  const auto size = static_cast<std::int64_t>(sizeof(Pointer));
  storage->pointers = reinterpret_cast<Pointer*>(allocate(machine_.width * size));
  std::fill_n(storage->pointers, machine_.width, Pointer{&memory, 0});
}

void StorageTable::bindLocal(const Variable* variable, const std::vector<std::int64_t>& extents) {
  auto& storage = storages_[variable];
  storage = std::make_unique<Storage>();
  storage->variable = variable;
  storage->size = static_cast<std::int64_t>(sizeOf(variable->type));
  addMemory(*storage, extents, 1);
}

Storage* StorageTable::of(const Variable* variable) {
  auto& storage = storages_[variable];
  if (storage != nullptr) return storage.get();
  storage = std::make_unique<Storage>();
  storage->variable = variable;
  storage->size = static_cast<std::int64_t>(sizeOf(variable->type));
  if (variable->role == Role::ArrayParam) return storage.get();
  if (variable->role == Role::Alias) {
    const auto bytes = machine_.width * static_cast<std::int64_t>(sizeof(Pointer));
    storage->pointers = reinterpret_cast<Pointer*>(allocate(bytes));
    // All bits zero is the unbound pointer.
    fills_.push_back(Fill{storage->pointers, static_cast<std::size_t>(bytes), 0});
  } else if (variable->space == Space::Local) {
    addMemory(*storage, variable->extents, 1);
  } else if (variable->space != Space::Private) {
    throw KernelError("kernel '" + machine_.kernel.name() + "': the variable '" + variable->name +
                      "' is declared in " + toString(variable->space) +
                      " memory, which only parameters can be in");
  } else if (variable->rank > 0) {
    addMemory(*storage, variable->extents, machine_.width);
  } else {
    storage->data = indeterminate(machine_.width * storage->size, &storage->written);
  }
  return storage.get();
}

void StorageTable::reset() {
  for (const Fill& fill : fills_) std::memset(fill.address, fill.value, fill.size);
}

}  // namespace hpl::ir::detail
