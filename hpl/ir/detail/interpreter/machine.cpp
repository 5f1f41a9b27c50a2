// SPDX-License-Identifier: Apache-2.0
#include "hpl/ir/detail/interpreter/machine.h"

#include <cstring>

namespace hpl::ir::detail {

bool Machine::any(ConstMask mask) const {
  return std::memchr(mask, 1, static_cast<std::size_t>(width)) != nullptr;
}

bool Machine::full(ConstMask mask) const {
  return std::memchr(mask, 0, static_cast<std::size_t>(width)) == nullptr;
}

Mask Machine::copyOf(ConstMask mask) {
  Mask copy = newMask();
  std::memcpy(copy, mask, static_cast<std::size_t>(width));
  return copy;
}

ConstMask Machine::withoutSurplus(ConstMask mask, std::uint8_t axes) {
  if (!anySurplus) return mask;
  Mask result = newMask();
  for (std::int64_t i = 0; i < width; ++i) {
    result[i] = (surplus[i] & axes) != 0 ? std::uint8_t{0} : mask[i];
  }
  return result;
}

ItemIdentity Machine::identityOf(std::int64_t item) const {
  ItemIdentity identity;
  for (int dim = 2; dim >= 0; --dim) {
    const std::uint64_t id = ids[static_cast<int>(Query::GlobalId)][dim][item];
    const std::uint64_t group = ids[static_cast<int>(Query::GroupId)][dim][item];
    identity.item = identity.item * paddedSize(dim) + id;
    identity.group = identity.group * groupsIn(dim) + group;
  }
  return identity;
}

std::string describeItem(const Machine& machine, const ItemIdentity& identity) {
  std::string text = "(";
  std::uint64_t rest = identity.item;
  for (int dim = 0; dim < machine.range.dims; ++dim) {
    if (dim > 0) text += ", ";
    text += std::to_string(rest % machine.paddedSize(dim));
    rest /= machine.paddedSize(dim);
  }
  return text + ")";
}

std::string describeItem(const Machine& machine, std::int64_t item) {
  std::string text = "(";
  for (int dim = 0; dim < machine.range.dims; ++dim) {
    if (dim > 0) text += ", ";
    text += std::to_string(machine.ids[static_cast<int>(Query::GlobalId)][dim][item]);
  }
  return text + ")";
}

std::string describeLine(SourceLocation where) {
  if (where.file == nullptr) return "";
  return std::string(where.file) + ":" + std::to_string(where.line);
}

std::string describeKernel(const Machine& machine) {
  std::string text = "kernel '" + machine.kernel.name() + "'";
  if (!machine.calls.empty()) text += ", function '" + machine.calls.back()->name + "'";
  return text;
}

std::string describePlace(const Machine& machine, std::int64_t item, SourceLocation where) {
  const std::string line = describeLine(where.file != nullptr ? where : machine.where);
  return "work-item " + describeItem(machine, item) + (line.empty() ? "" : ", " + line);
}

std::string describeElement(const std::string& name, const std::vector<std::int64_t>& indices) {
  std::string text = name;
  for (const std::int64_t index : indices) text += "[" + std::to_string(index) + "]";
  return text;
}

}  // namespace hpl::ir::detail
