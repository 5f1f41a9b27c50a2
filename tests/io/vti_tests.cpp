// SPDX-License-Identifier: Apache-2.0
// VTK image data against a reader made for the test; read_vti.py is another.
#include "hpl/io/vti.h"

#include <doctest/doctest.h>

#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <regex>

#include "hpl/hpl.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

namespace vti_tests {

using namespace hpl;
using namespace io_tests;
using hpl_tests::messageOf;

namespace {

/// The contents of a .vti file; arrays by kind and name: "PointData/pressure".
struct Read {
  struct Data {
    std::string type;
    int components = 0;
    std::string bytes;
  };
  std::string extent, origin, spacing;
  std::map<std::string, Data> arrays;
};

std::string attributeOf(const std::string& tag, const std::string& name) {
  std::smatch found;
  REQUIRE(std::regex_search(tag, found, std::regex(" " + name + "=\"([^\"]*)\"")));
  return found[1];
}

Read readVti(const std::string& file) {
  const std::string content = contentOf(file);
  const std::string mark = "<AppendedData encoding=\"raw\">\n   _";
  const std::size_t at = content.find(mark);
  REQUIRE(at != std::string::npos);
  CHECK(content.ends_with("\n  </AppendedData>\n</VTKFile>\n"));
  const std::string xml = content.substr(0, at), data = content.substr(at + mark.size());
  CHECK(attributeOf(xml, "byte_order") == "LittleEndian");
  CHECK(attributeOf(xml, "header_type") == "UInt64");
  Read result{
      attributeOf(xml, "WholeExtent"), attributeOf(xml, "Origin"), attributeOf(xml, "Spacing"), {}};
  CHECK(attributeOf(xml.substr(xml.find("<Piece")), "Extent") == result.extent);
  std::string kind;
  for (std::size_t tag = 0; (tag = xml.find('<', tag)) != std::string::npos; ++tag) {
    const std::string text = xml.substr(tag, xml.find('>', tag) - tag + 1);
    if (text == "<PointData>" || text == "<CellData>") kind = text.substr(1, text.size() - 2);
    if (!text.starts_with("<DataArray ")) continue;
    CHECK(attributeOf(text, "format") == "appended");
    const auto offset = static_cast<std::size_t>(std::stoll(attributeOf(text, "offset")));
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, data.data() + offset, sizeof bytes);
    result.arrays[kind + "/" + attributeOf(text, "Name")] = {
        attributeOf(text, "type"), std::stoi(attributeOf(text, "NumberOfComponents")),
        data.substr(offset + sizeof bytes, bytes)};
  }
  return result;
}

template <class T>
std::vector<T> valuesOf(const Read::Data& data) {
  std::vector<T> values(data.bytes.size() / sizeof(T));
  std::memcpy(values.data(), data.bytes.data(), values.size() * sizeof(T));
  return values;
}

/// One point of type T, and what VTK calls that type.
template <class T>
void checkType(const std::string& name, int components, std::size_t bytes) {
  const TemporaryFolder folder;
  Array<T, 1> a(5);
  io::VtkImage().points("a", a).write(folder.file("a.vti"));
  const Read read = readVti(folder.file("a.vti"));
  CAPTURE(name);
  CHECK(read.arrays.at("PointData/a").type == name);
  CHECK(read.arrays.at("PointData/a").components == components);
  CHECK(read.arrays.at("PointData/a").bytes.size() == 5 * bytes);
}

}  // namespace

TEST_CASE("points and cells of one to three dimensions stand in VTK's order, x first") {
  const TemporaryFolder folder;
  const unsigned seed = 5;
  MESSAGE("seed ", seed);
  std::mt19937 engine(seed);
  for (int round = 0; round < 20; ++round) {
    const int nz = 2 + static_cast<int>(engine() % 4), ny = 2 + static_cast<int>(engine() % 4),
              nx = 2 + static_cast<int>(engine() % 4);
    Array<float, 3> p(nz, ny, nx);
    Array<double3, 3> v(nz - 1, ny - 1, nx - 1);
    std::vector<float> points;
    std::vector<double> cells;
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
          points.push_back(p(z, y, x) = static_cast<float>(engine()));
          if (z == nz - 1 || y == ny - 1 || x == nx - 1) continue;
          const double3 value(z, y, static_cast<double>(engine()));
          v(z, y, x) = value;
          for (std::size_t lane = 0; lane < 3; ++lane) cells.push_back(value[lane]);
        }
    io::VtkImage image;
    image.cells("velocity", v).points("pressure", p).spacing({3, 2, 0.1}).origin({-1, 0, 0.25});
    image.write(folder.file("a.vti"));
    const Read read = readVti(folder.file("a.vti"));
    CHECK(read.extent == "0 " + std::to_string(nx - 1) + " 0 " + std::to_string(ny - 1) + " 0 " +
                             std::to_string(nz - 1));
    CHECK(read.spacing == "0.1 2 3");
    CHECK(read.origin == "0.25 0 -1");
    REQUIRE(read.arrays.size() == 2);
    CHECK(valuesOf<float>(read.arrays.at("PointData/pressure")) == points);
    CHECK(read.arrays.at("CellData/velocity").components == 3);
    CHECK(valuesOf<double>(read.arrays.at("CellData/velocity")) == cells);
  }
}

TEST_CASE("flat arrays lie in a plane, and cells of them have points around") {
  const TemporaryFolder folder;
  Array<int, 2> a(3, 4);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) a(i, j) = 10 * i + j;
  io::VtkImage().cells("a", a).spacing({2, 5}).write(folder.file("a.vti"));
  const Read read = readVti(folder.file("a.vti"));
  CHECK(read.extent == "0 4 0 3 0 0");
  CHECK(read.spacing == "5 2 1");
  CHECK(read.origin == "0 0 0");
  io::VtkImage().points("a", a(Range(1, 2), Range(0, 1))).write(folder.file("v.vti"));
  CHECK(valuesOf<int>(readVti(folder.file("v.vti")).arrays.at("PointData/a")) ==
        std::vector<int>{10, 11, 20, 21});
}

TEST_CASE("every type of elements has a type of VTK") {
  checkType<bool>("UInt8", 1, 1);
  checkType<signed char>("Int8", 1, 1);
  checkType<unsigned char>("UInt8", 1, 1);
  checkType<short>("Int16", 1, 2);
  checkType<unsigned short>("UInt16", 1, 2);
  checkType<int>("Int32", 1, 4);
  checkType<unsigned>("UInt32", 1, 4);
  checkType<long>("Int64", 1, 8);
  checkType<unsigned long>("UInt64", 1, 8);
  checkType<half>("Float32", 1, 4);
  checkType<float>("Float32", 1, 4);
  checkType<double>("Float64", 1, 8);
  checkType<std::complex<double>>("Float64", 2, 16);
  checkType<float3>("Float32", 3, 12);
  checkType<int4>("Int32", 4, 16);
}

TEST_CASE("halves are written as floats, names with their special characters") {
  const TemporaryFolder folder;
  Array<half, 1> a(3);
  for (int i = 0; i < 3; ++i) a(i) = half(static_cast<float>(i) + 0.5f);
  io::VtkImage().points("<a> & \"b\"", a).write(folder.file("a.vti"));
  CHECK(valuesOf<float>(
            readVti(folder.file("a.vti")).arrays.at("PointData/&lt;a&gt; &amp; &quot;b&quot;")) ==
        std::vector<float>{0.5f, 1.5f, 2.5f});
}

static void fillWithPlaces(Array<int, 1> a) { a[idx] = cast<int>(idx) * 3; }

TEST_CASE("arrays are read when the image is written, so that one image serves many steps") {
  const TemporaryFolder folder;
  Array<int, 1> a(4);
  a = 1;
  io::VtkImage image;
  image.points("a", a);
  eval(fillWithPlaces)(a);
  image.write(folder.file("a.vti"));
  CHECK(valuesOf<int>(readVti(folder.file("a.vti")).arrays.at("PointData/a")) ==
        std::vector<int>{0, 3, 6, 9});
}

TEST_CASE("images that fit nothing are refused with what fits") {
  const TemporaryFolder folder;
  const std::string name = folder.file("a.vti");
  Array<float, 2> a(3, 4), b(2, 4);
  io::VtkImage image;
  CHECK(messageOf<ArgumentError>([&] { image.write(name); }) ==
        name + ": a VTK image without an array has no extents: add one with points() or cells()");
  image.points("a", a);
  CHECK(messageOf<ArgumentError>([&] { image.points("b", b); }) ==
        "'b' has shape (2, 4) and so needs (2, 4) points; the arrays before it have (3, 4): the "
        "arrays "
        "of a VTK image have one shape, with one less along each dimension in cells");
  CHECK(messageOf<ArgumentError>([&] { image.points("a", a); }) ==
        "a VTK image has one array of each name, and there is a 'a' already");
  CHECK_THROWS_AS(image.points("", a), ArgumentError);
  CHECK_THROWS_AS(image.points("a\nb", a), ArgumentError);
  CHECK(messageOf<ArgumentError>([&] {
          image.spacing({1, 0});
        }) == "the spacing of a VTK image is positive and finite, got 1, 0");
  CHECK(messageOf<ArgumentError>([&] {
          image.origin({std::numeric_limits<double>::infinity()});
        }) == "the origin of a VTK image is finite, got inf");
  image.spacing({1, 1, 1});
  CHECK(messageOf<ArgumentError>([&] { image.write(name); }) ==
        name + ": the spacing of this VTK image has 3 numbers, and its arrays have 2 dimensions");
  CHECK(folder.names().empty());
}

}  // namespace vti_tests
