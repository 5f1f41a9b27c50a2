// SPDX-License-Identifier: Apache-2.0
// The format: https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html
#include "hpl/io/vti.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "hpl/error.h"
#include "hpl/io/detail/cell_stream.h"
#include "hpl/io/detail/scaling.h"

namespace hpl::io {
namespace {

using detail::CellLayout;
using detail::Cells;
using detail::NewFile;
using detail::shapeText;

/// VTK's name of a type of scalars. There is none for half, which is written as float.
const char* vtkName(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::Char:
      return "Int8";
    case ir::Scalar::Short:
      return "Int16";
    case ir::Scalar::Ushort:
      return "UInt16";
    case ir::Scalar::Int:
      return "Int32";
    case ir::Scalar::Uint:
      return "UInt32";
    case ir::Scalar::Long:
      return "Int64";
    case ir::Scalar::Ulong:
      return "UInt64";
    case ir::Scalar::Half:
    case ir::Scalar::Float:
      return "Float32";
    case ir::Scalar::Double:
      return "Float64";
    default:
      return "UInt8";
  }
}

int componentsOf(const ir::Type& type) { return type.complex ? 2 : type.lanes; }

std::int64_t bytesIn(const CellLayout& layout) {
  const auto scalar =
      layout.type.scalar == ir::Scalar::Half ? sizeof(float) : ir::sizeOf(layout.type.scalar);
  return layout.count() * componentsOf(layout.type) * static_cast<std::int64_t>(scalar);
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// VTK's order, x first, with `missing` for dimensions that there are not.
template <class T>
std::vector<T> inVtkOrder(const std::vector<T>& values, T missing) {
  std::vector<T> result(values.rbegin(), values.rend());
  result.resize(3, missing);
  return result;
}

void writeHalves(NewFile& file, const Cells& cells) {
  std::vector<double> row;
  std::vector<float> floats;
  const Cells scalars{asScalars(cells.layout), cells.first};
  forEachRow(scalars.layout, [&](std::int64_t offset, std::int64_t length) {
    row.resize(static_cast<std::size_t>(length));
    detail::rowAsDouble(scalars, offset, length, row.data());
    floats.assign(row.begin(), row.end());
    file.write(floats.data(), floats.size() * sizeof(float));
  });
}

void checkNumbers(const char* what, const std::vector<double>& values, bool positive) {
  for (const double value : values) {
    if (std::isfinite(value) && (!positive || value > 0)) continue;
    throw ArgumentError(fmt::format("the {} of a VTK image is {}, got {}", what,
                                    positive ? "positive and finite" : "finite",
                                    fmt::join(values, ", ")));
  }
}

void checkName(const std::string& name) {
  const bool isGood = !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 32;
  });
  if (!isGood) {
    throw ArgumentError(
        "an array of a VTK image needs a name of one or more characters, without line ends and the "
        "like");
  }
}

}  // namespace

VtkImage& VtkImage::spacing(const std::vector<double>& distances) {
  checkNumbers("spacing", distances, true);
  spacing_ = distances;
  return *this;
}

VtkImage& VtkImage::origin(const std::vector<double>& place) {
  checkNumbers("origin", place, false);
  origin_ = place;
  return *this;
}

void VtkImage::add(const std::string& name, std::shared_ptr<const detail::CellSource> source,
                   bool inCells) {
  checkName(name);
  for (const Entry& entry : entries_) {
    if (entry.name == name && entry.inCells == inCells)
      throw ArgumentError(
          fmt::format("a VTK image has one array of each name, and there is a '{}' already", name));
  }
  const CellLayout layout = source->layout();
  std::vector<std::int64_t> points = layout.shape();
  if (inCells)
    for (std::int64_t& extent : points) ++extent;
  if (!points_.empty() && points != points_) {
    throw ArgumentError(
        fmt::format("'{}' has shape {} and so needs {} points; the arrays before it have {}: the "
                    "arrays of a VTK "
                    "image have one shape, with one less along each dimension in cells",
                    name, shapeText(layout.shape()), shapeText(points), shapeText(points_)));
  }
  points_ = std::move(points);
  entries_.push_back({name, std::move(source), inCells});
}

std::string VtkImage::arraysXml(bool inCells, std::int64_t& offset) const {
  const char* tag = inCells ? "CellData" : "PointData";
  std::string text = fmt::format("      <{}>\n", tag);
  for (const Entry& entry : entries_) {
    if (entry.inCells != inCells) continue;
    const CellLayout layout = entry.source->layout();
    text += fmt::format(
        "        <DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" "
        "format=\"appended\" offset=\"{}\"/>\n",
        vtkName(layout.type.scalar), escaped(entry.name), componentsOf(layout.type), offset);
    offset += bytesIn(layout) + static_cast<std::int64_t>(sizeof(std::uint64_t));
  }
  return text + fmt::format("      </{}>\n", tag);
}

std::string VtkImage::header() const {
  const std::vector<std::int64_t> points = inVtkOrder<std::int64_t>(points_, 1);
  const std::string extent =
      fmt::format("0 {} 0 {} 0 {}", points[0] - 1, points[1] - 1, points[2] - 1);
  std::int64_t offset = 0;
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n"
      "  <ImageData WholeExtent=\"{}\" Origin=\"{}\" Spacing=\"{}\">\n"
      "    <Piece Extent=\"{}\">\n",
      std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian", extent,
      fmt::join(inVtkOrder(origin_, 0.0), " "), fmt::join(inVtkOrder(spacing_, 1.0), " "), extent);
  text += arraysXml(false, offset);
  text += arraysXml(true, offset);
  return text + "    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n   _";
}

void VtkImage::write(const std::string& file) const {
  if (entries_.empty()) {
    throw ArgumentError(
        fmt::format("{}: a VTK image without an array has no extents: add one with points() or "
                    "cells()",
                    file));
  }
  for (const auto& [what, values] : {std::pair{"spacing", &spacing_}, {"origin", &origin_}}) {
    if (values->empty() || values->size() == points_.size()) continue;
    throw ArgumentError(fmt::format(
        "{}: the {} of this VTK image has {} numbers, and its arrays have {} dimensions", file,
        what, values->size(), points_.size()));
  }
  NewFile out(file, "the VTK image");
  const auto writeText = [&out](const std::string& text) { out.write(text.data(), text.size()); };
  writeText(header());
  // In the order of the header: first the points.
  for (const bool inCells : {false, true}) {
    for (const Entry& entry : entries_) {
      if (entry.inCells != inCells) continue;
      const Cells cells = entry.source->cells();
      const auto bytes = static_cast<std::uint64_t>(bytesIn(cells.layout));
      out.write(&bytes, sizeof bytes);
      const ir::Type& type = cells.layout.type;
      if (type.scalar == ir::Scalar::Half) {
        writeHalves(out, cells);
      } else {
        writeCells(out, cells, *detail::codecFor(type, detail::fileTypeOf(type)));
      }
    }
  }
  writeText("\n  </AppendedData>\n</VTKFile>\n");
  out.finish();
}

}  // namespace hpl::io
