// SPDX-License-Identifier: Apache-2.0
// Hdf5File on the HDF5 library, through its C interface.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "hpl/io/detail/hdf5_store.h"
#include "hpl/io/detail/new_file.h"
#include "hpl/io/detail/source_file.h"
#include "hpl/io/file_error.h"
#include "hpl/io/hdf5/handle.h"

namespace hpl::io::detail {
namespace {

std::vector<hsize_t> sizes(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

class Store final : public Hdf5Store {
 public:
  Store(const std::string& file, Hdf5Mode mode);

  bool contains(const std::string& path) const override;
  std::vector<std::string> list(const std::string& group) const override;
  std::vector<std::int64_t> shapeOf(const std::string& path) const override;
  bool holds(const std::string& path, const FileType& element) const override;
  std::string typeOf(const std::string& path) const override;
  std::int64_t fileBytes() const override;
  void create(const std::string& path, const FileType& element,
              const std::vector<std::int64_t>& extents, bool grows) override;
  void resize(const std::string& path, std::int64_t first) override;
  void write(const std::string& path, const FileType& element, const Part& part,
             const std::byte* bytes) override;
  void read(const std::string& path, const FileType& element, const Part& part,
            std::byte* bytes) const override;
  void setInteger(const std::string& path, const std::string& name, std::int64_t value) override {
    setAttribute(path, name, {H5Tcopy(H5T_NATIVE_INT64), H5Tclose}, &value);
  }
  void setNumber(const std::string& path, const std::string& name, double value) override {
    setAttribute(path, name, {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose}, &value);
  }
  void setText(const std::string& path, const std::string& name, const std::string& value) override;
  std::int64_t integer(const std::string& path, const std::string& name) const override;
  double number(const std::string& path, const std::string& name) const override;
  std::string text(const std::string& path, const std::string& name) const override;
  void flush() override;
  void close() override;
  [[noreturn]] void fail(const std::string& reason) const override;

 private:
  void require(bool succeeded, const std::string& what) const {
    if (!succeeded) fail(fmt::format("{}: {}", what, lastFailure()));
  }
  Handle dataset(const std::string& path) const;
  Handle attribute(const std::string& path, const std::string& name) const;
  Handle boxOf(const Handle& data, const Part& part, const std::string& path) const;
  void setAttribute(const std::string& path, const std::string& name, const Handle& type,
                    const void* value);

  std::string name_;
  Hdf5Mode mode_;
  bool isBroken_ = false;  ///< a dataset was not written as a whole
  /// Before the file, so that the file is closed before its name goes.
  std::unique_ptr<NewFile> fresh_;
  Handle file_;
};

Store::Store(const std::string& file, Hdf5Mode mode) : name_(file), mode_(mode) {
  const Silence silence;
  if (mode == Hdf5Mode::Create) {
    fresh_ = std::make_unique<NewFile>(file, "the HDF5 file");
    fresh_->closeStream();
    file_ = {H5Fcreate(fresh_->path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
    require(bool(file_), "the file cannot be made");
    return;
  }
  SourceFile(file, "the HDF5 file");  // names what is missing, or no file
  const unsigned access = mode == Hdf5Mode::Read ? H5F_ACC_RDONLY : H5F_ACC_RDWR;
  file_ = {H5Fopen(file.c_str(), access, H5P_DEFAULT), H5Fclose};
  require(bool(file_), "it is no HDF5 file, cut short, or open elsewhere for writing");
}

void Store::fail(const std::string& reason) const {
  throw FileError(fmt::format("{}: cannot {} the HDF5 file: {}", name_,
                              mode_ == Hdf5Mode::Read ? "read" : "write", reason),
                  name_);
}

bool Store::contains(const std::string& path) const {
  const Silence silence;
  // HDF5 asks for each group on the way by itself.
  for (std::size_t at = path.find_first_not_of('/'); at < path.size();) {
    at = std::min(path.find('/', at), path.size());
    if (H5Lexists(file_, path.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
    at = path.find_first_not_of('/', at);
  }
  return true;
}

herr_t addName(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

std::vector<std::string> Store::list(const std::string& group) const {
  const Silence silence;
  const Handle opened(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose);
  if (!opened) fail(fmt::format("there is no group '{}' in it", group));
  std::vector<std::string> names;
  require(H5Literate(opened, H5_INDEX_NAME, H5_ITER_INC, nullptr, &addName, &names) >= 0, group);
  return names;
}

Handle Store::dataset(const std::string& path) const {
  Handle data;
  if (contains(path)) data = {H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose};
  if (!data) fail(fmt::format("there is no dataset '{}' in it; list() gives the names", path));
  return data;
}

std::vector<std::int64_t> Store::shapeOf(const std::string& path) const {
  const Silence silence;
  const Handle space(H5Dget_space(dataset(path)), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(rank, 0)));
  require(rank >= 0 && H5Sget_simple_extent_dims(space, extents.data(), nullptr) == rank, path);
  return {extents.begin(), extents.end()};
}

bool Store::holds(const std::string& path, const FileType& element) const {
  const Silence silence;
  const Handle type(H5Dget_type(dataset(path)), H5Tclose);
  return isSameType(type, element);
}

std::string Store::typeOf(const std::string& path) const {
  const Silence silence;
  const Handle type(H5Dget_type(dataset(path)), H5Tclose);
  return describeH5Type(type);
}

std::int64_t Store::fileBytes() const {
  hsize_t bytes = 0;
  require(H5Fget_filesize(file_, &bytes) >= 0, "its size");
  return static_cast<std::int64_t>(bytes);
}

void Store::create(const std::string& path, const FileType& element,
                   const std::vector<std::int64_t>& extents, bool grows) {
  const Silence silence;
  const Handle type = h5TypeOf(element);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const std::vector<hsize_t> now = sizes(extents);
  std::vector<hsize_t> most = now;
  if (grows) {
    most[0] = H5S_UNLIMITED;
    std::vector<hsize_t> chunk = now;
    chunk[0] = 1;
    // Chunks are below 4 GiB: large steps are stored in several along their first dimension.
    auto bytes = static_cast<hsize_t>(element.size);
    for (const hsize_t extent : chunk) bytes *= extent;
    constexpr hsize_t kMostChunk = hsize_t{1} << 26;
    if (chunk.size() > 1 && bytes > kMostChunk)
      chunk[1] = std::max<hsize_t>(1, chunk[1] / (bytes / kMostChunk + 1));
    H5Pset_chunk(layout, static_cast<int>(chunk.size()), chunk.data());
  }
  const Handle space(H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()),
                     H5Sclose);
  const Handle data(H5Dcreate2(file_, path.c_str(), type, space, links, layout, H5P_DEFAULT),
                    H5Dclose);
  require(bool(data), fmt::format("the dataset '{}'", path));
}

void Store::resize(const std::string& path, std::int64_t first) {
  const Silence silence;
  std::vector<hsize_t> extents = sizes(shapeOf(path));
  extents[0] = static_cast<hsize_t>(first);
  require(H5Dset_extent(dataset(path), extents.data()) >= 0,
          fmt::format("the dataset '{}' cannot grow (append() makes those that can)", path));
}

/// The part as a selection of the dataset.
Handle Store::boxOf(const Handle& data, const Part& part, const std::string& path) const {
  Handle space(H5Dget_space(data), H5Sclose);
  const std::vector<hsize_t> first = sizes(part.first), extents = sizes(part.extents);
  require(H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, extents.data(),
                              nullptr) >= 0,
          path);
  return space;
}

void Store::write(const std::string& path, const FileType& element, const Part& part,
                  const std::byte* bytes) {
  const Silence silence;
  const Handle data = dataset(path), type = h5TypeOf(element), box = boxOf(data, part, path);
  const std::vector<hsize_t> extents = sizes(part.extents);
  const Handle memory(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                      H5Sclose);
  if (H5Dwrite(data, type, memory, box, H5P_DEFAULT, bytes) >= 0) return;
  isBroken_ = true;
  fail(fmt::format("the dataset '{}': {}", path, lastFailure()));
}

void Store::read(const std::string& path, const FileType& element, const Part& part,
                 std::byte* bytes) const {
  const Silence silence;
  const Handle data = dataset(path), type = h5TypeOf(element), box = boxOf(data, part, path);
  const std::vector<hsize_t> extents = sizes(part.extents);
  const Handle memory(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                      H5Sclose);
  require(H5Dread(data, type, memory, box, H5P_DEFAULT, bytes) >= 0,
          fmt::format("the dataset '{}'", path));
}

Handle Store::attribute(const std::string& path, const std::string& name) const {
  Handle found;
  if (contains(path))
    found = {H5Aopen_by_name(file_, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
             H5Aclose};
  if (!found) fail(fmt::format("'{}' has no attribute '{}'", path, name));
  const Handle space(H5Aget_space(found), H5Sclose);
  if (H5Sget_simple_extent_npoints(space) != 1)
    fail(fmt::format("the attribute '{}' of '{}' is no single value", name, path));
  return found;
}

void Store::setAttribute(const std::string& path, const std::string& name, const Handle& type,
                         const void* value) {
  const Silence silence;
  if (!contains(path)) fail(fmt::format("there is no group or dataset '{}' in it", path));
  if (H5Aexists_by_name(file_, path.c_str(), name.c_str(), H5P_DEFAULT) > 0)
    H5Adelete_by_name(file_, path.c_str(), name.c_str(), H5P_DEFAULT);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle created(H5Acreate_by_name(file_, path.c_str(), name.c_str(), type, space,
                                         H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose);
  require(created && H5Awrite(created, type, value) >= 0,
          fmt::format("the attribute '{}' of '{}'", name, path));
}

void Store::setText(const std::string& path, const std::string& name, const std::string& value) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const char* text = value.c_str();
  setAttribute(path, name, type, &text);
}

std::int64_t Store::integer(const std::string& path, const std::string& name) const {
  const Silence silence;
  const Handle found = attribute(path, name);
  const Handle type(H5Aget_type(found), H5Tclose);
  if (H5Tget_class(type) != H5T_INTEGER) {
    fail(fmt::format("the attribute '{}' of '{}' is no integer but {}", name, path,
                     describeH5Type(type)));
  }
  std::int64_t value = 0;
  require(H5Aread(found, H5T_NATIVE_INT64, &value) >= 0, name);
  return value;
}

double Store::number(const std::string& path, const std::string& name) const {
  const Silence silence;
  const Handle found = attribute(path, name);
  const Handle type(H5Aget_type(found), H5Tclose);
  if (H5Tget_class(type) != H5T_FLOAT && H5Tget_class(type) != H5T_INTEGER) {
    fail(fmt::format("the attribute '{}' of '{}' is no number but {}", name, path,
                     describeH5Type(type)));
  }
  double value = 0;
  require(H5Aread(found, H5T_NATIVE_DOUBLE, &value) >= 0, name);
  return value;
}

std::string Store::text(const std::string& path, const std::string& name) const {
  const Silence silence;
  const Handle found = attribute(path, name);
  const Handle type(H5Aget_type(found), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING) {
    fail(fmt::format("the attribute '{}' of '{}' is no text but {}", name, path,
                     describeH5Type(type)));
  }
  if (H5Tis_variable_str(type) > 0) {
    char* raw = nullptr;
    require(H5Aread(found, type, &raw) >= 0, name);
    std::string value = raw != nullptr ? raw : "";
    H5free_memory(raw);
    return value;
  }
  std::string value(H5Tget_size(type), '\0');
  require(H5Aread(found, type, value.data()) >= 0, name);
  return value.substr(0, value.find('\0'));
}

void Store::flush() {
  const Silence silence;
  if (mode_ == Hdf5Mode::Read) return;
  require(H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0, "its end");
  if (fresh_) fresh_->finish();
}

void Store::close() {
  const Silence silence;
  require(file_.close(), "its end");
  if (fresh_ && isBroken_) fail("an earlier dataset could not be written, so the file is given up");
  if (fresh_) fresh_->finish();
}

}  // namespace

bool hasHdf5() noexcept { return true; }

std::unique_ptr<Hdf5Store> openHdf5(const std::string& file, Hdf5Mode mode) {
  return std::make_unique<Store>(file, mode);
}

}  // namespace hpl::io::detail
