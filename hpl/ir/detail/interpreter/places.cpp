// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "hpl/error.h"
#include "hpl/ir/detail/interpreter/code.h"

/// Array accesses: indices to addresses, bounds, copies, and the checks of each touched cell.
namespace hpl::ir::detail {
namespace {

template <class T>
const std::int64_t* widen(Machine& machine, const std::byte* values) {
  auto* wide = reinterpret_cast<std::int64_t*>(machine.newValues(8));
  const T* from = reinterpret_cast<const T*>(values);
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): indices of type char are numbers
  for (std::int64_t i = 0; i < machine.width; ++i) wide[i] = from[i];
  return wide;
}

/// Unsigned indices beyond 2^63 come out negative: `a[idx - 1]` then reads as index -1.
const std::int64_t* evalIndex(Machine& machine, ConstMask active, const ExprCode& index) {
  const std::byte* values = index.eval(machine, active);
  switch (index.type().scalar) {
    case Scalar::Char:
      return widen<std::int8_t>(machine, values);
    case Scalar::Short:
      return widen<std::int16_t>(machine, values);
    case Scalar::Int:
      return widen<std::int32_t>(machine, values);
    case Scalar::Bool:
    case Scalar::Uchar:
      return widen<std::uint8_t>(machine, values);
    case Scalar::Ushort:
      return widen<std::uint16_t>(machine, values);
    case Scalar::Uint:
      return widen<std::uint32_t>(machine, values);
    default:
      return reinterpret_cast<const std::int64_t*>(values);
  }
}

std::int64_t* newOffsets(Machine& machine) {
  return reinterpret_cast<std::int64_t*>(machine.newValues(sizeof(std::int64_t)));
}

/// Two's complement arithmetic: unchecked offsets may be anything.
std::int64_t wrapAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapMultiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Values of the indices, one row per dimension.
using IndexRows = const std::int64_t**;

IndexRows evalIndices(Machine& machine, ConstMask active, const std::vector<ExprPtr>& indices) {
  const auto rank = static_cast<std::int64_t>(indices.size());
  auto rows = reinterpret_cast<IndexRows>(
      machine.scratch.allocate(rank * static_cast<std::int64_t>(sizeof(const std::int64_t*))));
  for (std::int64_t d = 0; d < rank; ++d) {
    rows[d] = evalIndex(machine, active, *indices[static_cast<std::size_t>(d)]);
  }
  return rows;
}

std::vector<std::int64_t> indicesOf(IndexRows rows, std::size_t rank, std::int64_t item) {
  std::vector<std::int64_t> indices;
  for (std::size_t d = 0; d < rank; ++d) indices.push_back(rows[d][item]);
  return indices;
}

/// "'height'": the user's label, or the array behind an alias or a function's parameter.
std::string nameBehind(const Memory& memory, const std::string& spelled) {
  const std::string& name = memory.label.empty() ? memory.variable->name : memory.label;
  return name == spelled ? std::string() : "'" + name + "'";
}

/// `extents`: of the array, or of the view that `rows` are indices of.
[[noreturn]] void throwOutside(const Machine& machine, const AccessCode& access, IndexRows rows,
                               const std::vector<std::int64_t>& extents, const Memory& memory,
                               std::size_t dim, std::int64_t item) {
  const std::string& name = access.storage->variable->name;
  const std::string behind = nameBehind(memory, name);
  throw BoundsError(
      describeKernel(machine) + ": " +
      describeElement(name, indicesOf(rows, extents.size(), item)) + " is out of bounds: index " +
      std::to_string(rows[dim][item]) + " in dimension " + std::to_string(dim + 1) +
      (behind.empty() ? std::string() : " of " + behind) + " (extent " +
      std::to_string(extents[dim]) + "), " + describePlace(machine, item, access.where));
}

[[noreturn]] void throwBeyond(const Machine& machine, const AccessCode& access, IndexRows rows,
                              const Memory& memory, std::int64_t offset, std::int64_t item) {
  const std::string& name = access.storage->variable->name;
  const std::string target = memory.label.empty() ? memory.variable->name : memory.label;
  throw BoundsError(describeKernel(machine) + ": " +
                    describeElement(name, indicesOf(rows, access.indices.size(), item)) +
                    " is out of bounds: it is element " + std::to_string(offset) + " of '" +
                    target + "' (elements " + std::to_string(memory.lowest) + " to " +
                    std::to_string(memory.end - 1) + "), " +
                    describePlace(machine, item, access.where));
}

[[noreturn]] void throwUnbound(const Machine& machine, const AccessCode& access,
                               std::int64_t item) {
  throw KernelError(describeKernel(machine) + ": the alias '" + access.storage->variable->name +
                    "' is used before it is bound to an element, " +
                    describePlace(machine, item, access.where));
}

/// `mask` without the surplus work-items whose indices are outside of the array.
ConstMask surplusInside(Machine& machine, ConstMask mask, IndexRows rows, const Memory& memory) {
  Mask inside = machine.copyOf(mask);
  for (std::int64_t i = 0; i < machine.width; ++i) {
    if (machine.surplus[i] == 0) continue;
    for (std::size_t d = 0; d < memory.extents.size(); ++d)
      if (static_cast<std::uint64_t>(rows[d][i]) >= static_cast<std::uint64_t>(memory.extents[d]))
        inside[i] = 0;
  }
  return inside;
}

/// The indices that the program wrote, of a view that is no box.
void requireInView(Machine& machine, const Locations& places, const Memory& memory) {
  const AccessCode& access = *places.access;
  const IndexRows rows = evalIndices(machine, places.touched, access.written);
  for (std::size_t d = 0; d < access.written.size(); ++d)
    for (std::int64_t i = 0; i < machine.width; ++i)
      if (places.touched[i] != 0 && static_cast<std::uint64_t>(rows[d][i]) >=
                                        static_cast<std::uint64_t>(access.viewExtents[d]))
        throwOutside(machine, access, rows, access.viewExtents, memory, d, i);
}

/// Throws KernelError if the first of several elements lies at no multiple of their number.
void requireAligned(const Machine& machine, const Locations& places) {
  const AccessCode& access = *places.access;
  for (std::int64_t i = 0; i < machine.width; ++i)
    if (places.touched[i] != 0 && places.offsets[i] % access.lanes != 0)
      throw KernelError(describeKernel(machine) + ": " + std::to_string(access.lanes) +
                        " elements of '" + access.storage->variable->name +
                        "' at once are not where such vectors lie, " +
                        describePlace(machine, i, access.where));
}

/// An array accessed with one index per dimension.
Locations locateInArray(Machine& machine, ConstMask active, const AccessCode& access,
                        const Memory& memory) {
  Locations places;
  places.uniform = &memory;
  places.access = &access;
  const bool sparesSurplus = memory.isGlobal() && machine.anySurplus;
  places.touched = sparesSurplus ? machine.withoutSurplus(active, access.surplusAxes) : active;
  std::int64_t* offsets = newOffsets(machine);
  places.offsets = offsets;
  std::fill_n(offsets, machine.width, 0);
  const IndexRows rows = evalIndices(machine, active, access.indices);
  if (sparesSurplus && access.surplusAxes != kAllAxes)
    places.touched = surplusInside(machine, places.touched, rows, memory);
  if (!access.written.empty()) requireInView(machine, places, memory);
  for (std::size_t d = 0; d < memory.extents.size(); ++d) {
    const std::int64_t* index = rows[d];
    const bool last = d + 1 == memory.extents.size();
    // Several neighbours at once: the first one must leave room for the others.
    const std::int64_t room = last ? access.lanes - 1 : 0;
    const auto extent =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, memory.extents[d] - room));
    const std::int64_t stride = memory.strides[d];
    for (std::int64_t i = 0; i < machine.width; ++i) {
      if (places.touched[i] == 0) continue;
      if (static_cast<std::uint64_t>(index[i]) >= extent) {
        throwOutside(machine, access, rows, memory.extents, memory, d, i);
      }
      offsets[i] += index[i] * stride;
    }
  }
  if (access.isAligned) requireAligned(machine, places);
  return places;
}

/// Through an alias (or an array of another rank, as C's pointer to its first element).
Locations locateThroughPointer(Machine& machine, ConstMask active, const AccessCode& access,
                               const Storage& storage) {
  Locations places;
  places.access = &access;
  std::int64_t* offsets = newOffsets(machine);
  const auto size = static_cast<std::int64_t>(sizeof(const Memory*));
  auto** memories = reinterpret_cast<const Memory**>(machine.newValues(size));
  Mask touched = machine.newMask();
  const IndexRows rows = evalIndices(machine, active, access.indices);
  for (std::int64_t i = 0; i < machine.width; ++i) {
    touched[i] = 0;
    if (active[i] == 0) continue;
    const Pointer pointer =
        storage.pointers != nullptr ? storage.pointers[i] : Pointer{storage.memory, 0};
    if (pointer.memory == nullptr) throwUnbound(machine, access, i);
    memories[i] = pointer.memory;
    if (machine.surplus[i] != 0 && pointer.memory->isGlobal()) continue;
    offsets[i] = wrapAdd(pointer.offset, rows[0][i]);
    if (offsets[i] < pointer.memory->lowest ||
        offsets[i] + access.lanes - 1 >= pointer.memory->end) {
      throwBeyond(machine, access, rows, *pointer.memory, offsets[i], i);
    }
    touched[i] = 1;
  }
  places.offsets = offsets;
  places.memories = memories;
  places.touched = touched;
  return places;
}

void loadItem(Machine& machine, const Locations& places, const Pieces& pieces, std::byte* value,
              std::int64_t item) {
  const Memory& memory = places.memory(item);
  const std::byte* from = places.address(item);
  if (memory.written != nullptr) {
    checkWritten(machine, memory.written + places.position(item), pieces, memory.variable->name,
                 item, places.access->where);
  }
  for (const Piece& piece : pieces) {
    reportAccess(machine, places, item, piece, RaceDetector::Access::Read);
    std::memcpy(value + piece.valueOffset, from + piece.offset, piece.size);
  }
}

void storeItem(Machine& machine, const Locations& places, const Pieces& pieces,
               const std::byte* value, std::int64_t item) {
  const Memory& memory = places.memory(item);
  const std::int64_t position = places.position(item);
  for (const Piece& piece : pieces) {
    reportAccess(machine, places, item, piece, RaceDetector::Access::Write);
    const std::int64_t at = position + piece.offset;
    std::memcpy(memory.base + at, value + piece.valueOffset, piece.size);
    if (memory.written != nullptr) std::memset(memory.written + at, 1, piece.size);
  }
}

/// The common case, without checks: elements of 2^n bytes, copied with a constant size.
template <std::size_t kSize>
void loadPlain(const Machine& machine, const Locations& places, std::byte* values) {
  for (std::int64_t i = 0; i < machine.width; ++i) {
    if (places.touched[i] != 0) {
      std::memcpy(values + i * static_cast<std::int64_t>(kSize), places.address(i), kSize);
    }
  }
}
template <std::size_t kSize>
void storePlain(const Machine& machine, const Locations& places, const std::byte* values) {
  for (std::int64_t i = 0; i < machine.width; ++i) {
    if (places.touched[i] != 0) {
      std::memcpy(places.address(i), values + i * static_cast<std::int64_t>(kSize), kSize);
    }
  }
}

/// May the copies above serve? Whole elements without anything to check.
bool isPlain(const Machine& machine, const Locations& places, const Pieces& pieces,
             std::int64_t size) {
  return pieces.size() == 1 && pieces[0].offset == 0 && pieces[0].size == size &&
         !machine.races.enabled() && !machine.options.detectUninitialised &&
         places.uniform != nullptr && places.uniform->elementSize == size;
}

}  // namespace

Locations locate(Machine& machine, ConstMask active, const AccessCode& access) {
  const Storage& storage = access.storage->resolved();
  if (storage.memory != nullptr && storage.memory->extents.size() == access.indices.size()) {
    return locateInArray(machine, active, access, *storage.memory);
  }
  return locateThroughPointer(machine, active, access, storage);
}

void locateUnchecked(Machine& machine, ConstMask active, const AccessCode& access,
                     Pointer* result) {
  const Storage& storage = access.storage->resolved();
  const IndexRows rows = evalIndices(machine, active, access.indices);
  for (std::int64_t i = 0; i < machine.width; ++i) {
    if (active[i] == 0) continue;
    if (storage.pointers != nullptr) {
      if (storage.pointers[i].memory == nullptr) throwUnbound(machine, access, i);
      result[i] =
          Pointer{storage.pointers[i].memory, wrapAdd(storage.pointers[i].offset, rows[0][i])};
      continue;
    }
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      const std::int64_t stride =
          access.indices.size() == storage.memory->strides.size() ? storage.memory->strides[d] : 1;
      offset = wrapAdd(offset, wrapMultiply(rows[d][i], stride));
    }
    result[i] = Pointer{storage.memory, offset};
  }
}

void load(Machine& machine, const Locations& places, const Pieces& pieces, std::byte* values,
          std::int64_t size) {
  if (machine.anySurplus) std::memset(values, 0, static_cast<std::size_t>(machine.width * size));
  if (isPlain(machine, places, pieces, size)) {
    switch (size) {
      case 1:
        return loadPlain<1>(machine, places, values);
      case 2:
        return loadPlain<2>(machine, places, values);
      case 4:
        return loadPlain<4>(machine, places, values);
      case 8:
        return loadPlain<8>(machine, places, values);
      case 16:
        return loadPlain<16>(machine, places, values);
      default:
        break;
    }
  }
  for (std::int64_t i = 0; i < machine.width; ++i) {
    if (places.touched[i] != 0) loadItem(machine, places, pieces, values + i * size, i);
  }
}

void store(Machine& machine, const Locations& places, const Pieces& pieces, const std::byte* values,
           std::int64_t size) {
  if (isPlain(machine, places, pieces, size)) {
    switch (size) {
      case 1:
        return storePlain<1>(machine, places, values);
      case 2:
        return storePlain<2>(machine, places, values);
      case 4:
        return storePlain<4>(machine, places, values);
      case 8:
        return storePlain<8>(machine, places, values);
      case 16:
        return storePlain<16>(machine, places, values);
      default:
        break;
    }
  }
  for (std::int64_t i = 0; i < machine.width; ++i) {
    if (places.touched[i] != 0) storeItem(machine, places, pieces, values + i * size, i);
  }
}

void reportAccess(Machine& machine, const Locations& places, std::int64_t item, Piece piece,
                  RaceDetector::Access kind) {
  if (!machine.races.enabled()) return;
  const Memory& memory = places.memory(item);
  if (memory.space() == Space::Private) return;
  const ItemIdentity identity = machine.identityOf(item);
  const std::byte* first = places.address(item) + piece.offset;
  for (std::size_t at = 0; at < piece.size; at += memory.granule) {
    const auto conflict = machine.races.access(first + at, !memory.isGlobal(), identity, kind);
    if (!conflict) continue;
    const bool sameGroup = conflict->other.group == identity.group;
    const std::string& name = memory.label.empty() ? memory.variable->name : memory.label;
    throw KernelError(describeKernel(machine) + ": data race on '" + name + "', element " +
                      std::to_string(places.offsets[item]) + ": " +
                      (kind == RaceDetector::Access::Read ? "read" : "written") + " here and " +
                      (conflict->otherWrites ? "written" : "read") + " by work-item " +
                      describeItem(machine, conflict->other) + " of " +
                      (sameGroup ? "the same group without a barrier in between"
                                 : "another group, which nothing orders") +
                      ", " + describePlace(machine, item, places.access->where));
  }
}

void checkWritten(const Machine& machine, const std::uint8_t* written, const Pieces& pieces,
                  const std::string& name, std::int64_t item, SourceLocation where) {
  for (const Piece& piece : pieces) {
    if (std::memchr(written + piece.offset, 0, piece.size) == nullptr) continue;
    throw KernelError(describeKernel(machine) + ": '" + name + "' is read before it is written, " +
                      describePlace(machine, item, where));
  }
}

}  // namespace hpl::ir::detail
