// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hpl/io/detail/cell_stream.h"
#include "hpl/io/detail/hdf5_store.h"

namespace hpl::io {
namespace {

using detail::CellLayout;
using detail::Cells;
using detail::ElementCodec;
using detail::FileType;
using detail::fileTypeOf;
using detail::Hdf5Store;
using detail::shapeText;

/// Cells go to HDF5 in slabs of about this size.
constexpr std::int64_t kSlabBytes = std::int64_t{1} << 22;
/// The most that a byte of a file may stand for: deflate's ratio. Larger claims are damage.
constexpr std::int64_t kMostDense = 1032;

/// The type of a dataset's elements: vectors are a dimension of it.
FileType elementOf(const ir::Type& type) {
  FileType element = fileTypeOf(type);
  element.shape.clear();
  return element;
}

/// Extents in the file: with the lanes of vectors.
std::vector<std::int64_t> extentsOf(const CellLayout& layout) {
  std::vector<std::int64_t> extents = layout.shape();
  if (layout.type.isVector()) extents.push_back(layout.type.lanes);
  return extents;
}

/// Calls `act(part, slab)` for slabs of the cells along their first dimension; with `step`, parts
/// are of that index of a dimension before.
template <class Act>
void forEachSlab(const CellLayout& layout, std::int64_t step, Act act) {
  const std::vector<std::int64_t> extents = extentsOf(layout);
  const std::int64_t bytes = layout.count() / layout.extents[0] * fileTypeOf(layout.type).bytes();
  const std::int64_t most = std::max<std::int64_t>(1, kSlabBytes / bytes);
  for (std::int64_t at = 0; at < layout.extents[0]; at += most) {
    CellLayout slab = layout;
    slab.extents[0] = std::min(most, layout.extents[0] - at);
    Hdf5Store::Part part;
    part.first.assign(extents.size(), 0);
    part.first[0] = at;
    part.extents = extents;
    part.extents[0] = slab.extents[0];
    if (step >= 0) {
      part.first.insert(part.first.begin(), step);
      part.extents.insert(part.extents.begin(), 1);
    }
    act(part, slab, at * layout.strides[0]);
  }
}

ElementCodec codecOf(const ir::Type& type) { return *codecFor(type, fileTypeOf(type)); }

void writeSlabs(Hdf5Store& store, const std::string& path, const Cells& cells, std::int64_t step) {
  const ElementCodec codec = codecOf(cells.layout.type);
  std::vector<std::byte> bytes;
  forEachSlab(cells.layout, step,
              [&](const Hdf5Store::Part& part, const CellLayout& slab, std::int64_t offset) {
                const auto* first = static_cast<const std::byte*>(cells.first) +
                                    offset * static_cast<std::int64_t>(codec.memoryBytes);
                bytes.resize(static_cast<std::size_t>(slab.count()) * codec.fileBytes);
                std::byte* to = bytes.data();
                const CellLayout rows = joined(slab);
                const std::int64_t apart = rows.strides[static_cast<std::size_t>(rows.rank - 1)];
                forEachRow(rows, [&](std::int64_t at, std::int64_t length) {
                  codec.encode(first + at * static_cast<std::int64_t>(codec.memoryBytes), apart,
                               static_cast<std::size_t>(length), to);
                  to += length * static_cast<std::int64_t>(codec.fileBytes);
                });
                store.write(path, elementOf(slab.type), part, bytes.data());
              });
}

}  // namespace

bool Hdf5File::isAvailable() noexcept { return detail::hasHdf5(); }

Hdf5File::Hdf5File(const std::string& file, Mode mode)
    : file_(file),
      store_(openHdf5(file, mode == Read     ? detail::Hdf5Mode::Read
                            : mode == Create ? detail::Hdf5Mode::Create
                                             : detail::Hdf5Mode::Update)) {}
Hdf5File::~Hdf5File() {
  try {
    close();
  } catch (const Error&) {  // close() tells; a destructor cannot
  }
}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(store_, other.store_);
  return *this;
}

Hdf5Store& Hdf5File::store() const {
  if (store_) return *store_;
  throw FileError(fmt::format("{}: the file is closed already; open it again", file_), file_);
}

bool Hdf5File::contains(const std::string& path) const { return store().contains(path); }
std::vector<std::string> Hdf5File::list(const std::string& group) const {
  return store().list(group);
}
std::vector<std::int64_t> Hdf5File::shape(const std::string& path) const {
  return store().shapeOf(path);
}

void Hdf5File::writeCells(const std::string& path, const Cells& cells) {
  Hdf5Store& to = store();
  const std::vector<std::int64_t> extents = extentsOf(cells.layout);
  const FileType element = elementOf(cells.layout.type);
  if (!to.contains(path)) {
    to.create(path, element, extents, false);
  } else if (to.shapeOf(path) != extents || !to.holds(path, element)) {
    to.fail(
        fmt::format("'{}' exists with shape {} of {}, and {} has {}: write it under another name",
                    path, shapeText(to.shapeOf(path)), to.typeOf(path),
                    detail::describeArray(cells.layout.type, cells.layout.rank, cells.layout.label),
                    shapeText(extents)));
  }
  writeSlabs(to, path, cells, kWhole);
}

void Hdf5File::appendCells(const std::string& path, const Cells& cells) {
  Hdf5Store& to = store();
  std::vector<std::int64_t> extents = extentsOf(cells.layout);
  const FileType element = elementOf(cells.layout.type);
  extents.insert(extents.begin(), 0);
  if (!to.contains(path)) to.create(path, element, extents, true);
  std::vector<std::int64_t> present = to.shapeOf(path);
  const std::int64_t steps = present.empty() ? 0 : present[0];
  extents[0] = steps;
  if (present != extents || !to.holds(path, element)) {
    to.fail(
        fmt::format("'{}' has shape {} of {}, and steps like {} of {} would not fit behind: "
                    "append them to another dataset",
                    path, shapeText(present), to.typeOf(path),
                    detail::describeArray(cells.layout.type, cells.layout.rank, cells.layout.label),
                    shapeText(cells.layout.shape())));
  }
  to.resize(path, steps + 1);
  writeSlabs(to, path, cells, steps);
}

std::string Hdf5File::problemWith(const std::string& path, const ir::Type& type, int rank) const {
  const Hdf5Store& from = store();
  const std::vector<std::int64_t> extents = from.shapeOf(path);
  const auto dimensions = static_cast<std::size_t>(rank) + (type.isVector() ? 1 : 0);
  const bool fits = extents.size() == dimensions && from.holds(path, elementOf(type)) &&
                    (!type.isVector() || extents.back() == type.lanes);
  if (fits) return {};
  return fmt::format("'{}' holds shape {} of {}, which is no {}", path, shapeText(extents),
                     from.typeOf(path), detail::describeArray(type, rank));
}

std::vector<std::int64_t> Hdf5File::requireShape(const std::string& path, const ir::Type& type,
                                                 int rank) const {
  const Hdf5Store& from = store();
  const std::string problem = problemWith(path, type, rank);
  if (!problem.empty()) from.fail(problem);
  std::vector<std::int64_t> extents = from.shapeOf(path);
  const std::int64_t bytes = detail::bytesOf(extents, elementOf(type).size);
  if (bytes == 0) {
    from.fail(fmt::format("'{}' has shape {}, no element, and an Array has at least one", path,
                          shapeText(extents)));
  }
  if (bytes < 0 || bytes / kMostDense > from.fileBytes()) {
    from.fail(fmt::format("'{}' has shape {}, which a file of {} bytes cannot hold: it is damaged",
                          path, shapeText(extents), from.fileBytes()));
  }
  if (type.isVector()) extents.pop_back();
  return extents;
}

void Hdf5File::requireStep(const std::string& path, std::int64_t step) const {
  const std::vector<std::int64_t> extents = store().shapeOf(path);
  const std::int64_t steps = extents.empty() ? 0 : extents[0];
  if (step >= 0 && step < steps) return;
  store().fail(fmt::format("'{}' has {} steps, counted from 0, and step {} was asked for", path,
                           steps, step));
}

void Hdf5File::requireFit(const std::string& path, std::int64_t step,
                          const CellLayout& layout) const {
  const int dimensions = layout.rank + (step >= 0 ? 1 : 0);
  std::vector<std::int64_t> extents = requireShape(path, layout.type, dimensions);
  if (step >= 0) extents.erase(extents.begin());
  if (extents == layout.shape()) return;
  store().fail(fmt::format(
      "'{}' gives shape {}, and {} has {}: read it into an array or a view of its "
      "shape",
      path, shapeText(extents), detail::describeArray(layout.type, layout.rank, layout.label),
      shapeText(layout.shape())));
}

void Hdf5File::readInto(const std::string& path, std::int64_t step, const CellLayout& layout,
                        void* first) const {
  const ElementCodec codec = codecOf(layout.type);
  std::vector<std::byte> bytes;
  forEachSlab(
      layout, step, [&](const Hdf5Store::Part& part, const CellLayout& slab, std::int64_t offset) {
        auto* to =
            static_cast<std::byte*>(first) + offset * static_cast<std::int64_t>(codec.memoryBytes);
        bytes.resize(static_cast<std::size_t>(slab.count()) * codec.fileBytes);
        store().read(path, elementOf(slab.type), part, bytes.data());
        const std::byte* from = bytes.data();
        const CellLayout rows = joined(slab);
        const std::int64_t apart = rows.strides[static_cast<std::size_t>(rows.rank - 1)];
        forEachRow(rows, [&](std::int64_t at, std::int64_t length) {
          codec.decode(from, static_cast<std::size_t>(length),
                       to + at * static_cast<std::int64_t>(codec.memoryBytes), apart);
          from += length * static_cast<std::int64_t>(codec.fileBytes);
        });
      });
}

void Hdf5File::setInteger(const std::string& path, const std::string& name, std::int64_t value) {
  store().setInteger(path, name, value);
}
void Hdf5File::setNumber(const std::string& path, const std::string& name, double value) {
  store().setNumber(path, name, value);
}
void Hdf5File::setText(const std::string& path, const std::string& name, const std::string& value) {
  store().setText(path, name, value);
}

template <>
std::int64_t Hdf5File::attribute<std::int64_t>(const std::string& path,
                                               const std::string& name) const {
  return store().integer(path, name);
}
template <>
double Hdf5File::attribute<double>(const std::string& path, const std::string& name) const {
  return store().number(path, name);
}
template <>
std::string Hdf5File::attribute<std::string>(const std::string& path,
                                             const std::string& name) const {
  return store().text(path, name);
}

void Hdf5File::flush() { store().flush(); }

void Hdf5File::close() {
  if (!store_) return;
  const std::unique_ptr<Hdf5Store> last = std::move(store_);
  last->close();
}

}  // namespace hpl::io
