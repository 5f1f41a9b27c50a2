// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/hdf5/handle.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

namespace hpl::io::detail {
namespace {

herr_t takeFirst(unsigned, const H5E_error2_t* error, void* text) {
  auto& result = *static_cast<std::string*>(text);
  if (result.empty() && error->desc != nullptr) result = error->desc;
  return 0;
}

/// IEEE 754 binary16, for which HDF5 1.10 has no name.
Handle halfType() {
  Handle type(H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

Handle boolType() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  const std::array<std::int8_t, 2> values = {0, 1};
  H5Tenum_insert(type, "FALSE", &values[0]);
  H5Tenum_insert(type, "TRUE", &values[1]);
  return type;
}

Handle complexType(std::size_t size) {
  Handle type(H5Tcreate(H5T_COMPOUND, size), H5Tclose);
  const hid_t part = size == 8 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  H5Tinsert(type, "r", 0, part);
  H5Tinsert(type, "i", size / 2, part);
  return type;
}

hid_t integerType(bool isSigned, std::int64_t size) {
  switch (size) {
    case 1:
      return isSigned ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
    case 2:
      return isSigned ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
    case 4:
      return isSigned ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
    default:
      return isSigned ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
  }
}

Handle scalarType(const FileType& type) {
  const auto size = static_cast<std::size_t>(type.size);
  switch (type.kind) {
    case 'b':
      return boolType();
    case 'c':
      return complexType(size);
    case 'f':
      if (size == 2) return halfType();
      return {H5Tcopy(size == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE), H5Tclose};
    default:
      return {H5Tcopy(integerType(type.kind == 'i', type.size)), H5Tclose};
  }
}

bool isSameStruct(hid_t file, const std::vector<FileField>& fields) {
  if (H5Tget_class(file) != H5T_COMPOUND ||
      H5Tget_nmembers(file) != static_cast<int>(fields.size()))
    return false;
  for (const FileField& field : fields) {
    const int index = H5Tget_member_index(file, field.name.c_str());
    if (index < 0) return false;
    const Handle member(H5Tget_member_type(file, static_cast<unsigned>(index)), H5Tclose);
    if (!isSameType(member, field.type)) return false;
  }
  return true;
}

bool isSameArray(hid_t file, const FileType& type) {
  const auto rank = static_cast<int>(type.shape.size());
  std::vector<hsize_t> extents(type.shape.size());
  if (H5Tget_class(file) != H5T_ARRAY || H5Tget_array_ndims(file) != rank ||
      H5Tget_array_dims2(file, extents.data()) != rank)
    return false;
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (extents[d] != static_cast<hsize_t>(type.shape[d])) return false;
  FileType element = type;
  element.shape.clear();
  const Handle base(H5Tget_super(file), H5Tclose);
  return isSameType(base, element);
}

}  // namespace

std::string lastFailure() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, &takeFirst, &text);
  return text.empty() ? "HDF5 gave no reason" : text;
}

Handle h5TypeOf(const FileType& type) {
  if (!type.shape.empty()) {
    FileType element = type;
    element.shape.clear();
    const std::vector<hsize_t> extents(type.shape.begin(), type.shape.end());
    const Handle base = h5TypeOf(element);
    return {H5Tarray_create2(base, static_cast<unsigned>(extents.size()), extents.data()),
            H5Tclose};
  }
  if (type.fields.empty()) return scalarType(type);
  Handle compound(H5Tcreate(H5T_COMPOUND, static_cast<std::size_t>(type.size)), H5Tclose);
  for (const FileField& field : type.fields) {
    const Handle member = h5TypeOf(field.type);
    H5Tinsert(compound, field.name.c_str(), static_cast<std::size_t>(field.offset), member);
  }
  return compound;
}

bool isSameType(hid_t file, const FileType& type) {
  if (!type.shape.empty()) return isSameArray(file, type);
  if (!type.fields.empty()) return isSameStruct(file, type.fields);
  const Handle wanted = scalarType(type);
  const H5T_class_t kind = H5Tget_class(file);
  if (kind != H5Tget_class(wanted) || H5Tget_size(file) != H5Tget_size(wanted)) return false;
  if (type.kind == 'c') {
    FileType part;
    part.kind = 'f';
    part.size = type.size / 2;
    return isSameStruct(file, {{"r", 0, part}, {"i", part.size, part}});
  }
  if (kind == H5T_ENUM) return H5Tget_nmembers(file) == 2;
  return kind != H5T_INTEGER || H5Tget_sign(file) == H5Tget_sign(wanted);
}

std::string describeH5Type(hid_t type) {
  const std::size_t bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}-bit {}integers", bits,
                         H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned " : "");
    case H5T_FLOAT:
      return fmt::format("{}-bit floating point", bits);
    case H5T_STRING:
      return "texts";
    case H5T_COMPOUND:
      return fmt::format("structs of {} bytes and {} fields", bits / 8, H5Tget_nmembers(type));
    case H5T_ENUM:
      return "enumerators";
    default:
      return "another kind of elements";
  }
}

}  // namespace hpl::io::detail
