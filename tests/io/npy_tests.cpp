// SPDX-License-Identifier: Apache-2.0
// NPY files against files made by hand; npy_hostile_tests.cpp has damaged ones.
#include "hpl/io/npy.h"

#include <doctest/doctest.h>

#include <complex>
#include <cstdlib>
#include <random>

#include "hpl/hpl.h"
#include "tests/io/npy_bytes.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

using namespace hpl;
using namespace io_tests;
using hpl_tests::messageOf;

HPL_STRUCT(IoParticle, (float3, place), (char, kind), (double, mass), (int2, cell));
HPL_STRUCT(IoPair, (int, first), (IoParticle, second));

namespace npy_tests {

namespace {

std::mt19937 engineFor(unsigned seed) {
  MESSAGE("seed ", seed);
  return std::mt19937(seed);
}

/// Bytes of random elements as they lie in a file; a bool is 0 or 1.
template <class T>
T randomElement(std::mt19937& engine) {
  if constexpr (std::is_same_v<T, bool>) {
    return engine() % 2 == 1;
  } else if constexpr (std::is_same_v<T, half>) {
    return half(static_cast<float>(engine() % 2000) - 1000.0f);
  } else if constexpr (hpl::detail::ComplexType<T>) {
    using P = typename T::value_type;
    return T(static_cast<P>(engine() % 1000), static_cast<P>(engine() % 1000) / 4);
  } else {
    return static_cast<T>(engine());
  }
}

/// Writes a random array of `rows` x `columns`, and looks at the file; then reads it.
template <class T>
void roundTrip(const std::string& descr, std::mt19937& engine) {
  CAPTURE(descr);
  const TemporaryFolder folder;
  const int rows = 1 + static_cast<int>(engine() % 7), columns = 1 + static_cast<int>(engine() % 9);
  Array<T, 2> a(rows, columns);
  std::string expected;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const T value = randomElement<T>(engine);
      a(i, j) = value;
      expected.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  io::writeNpy(folder.file("a.npy"), a);
  CHECK(folder.names() == std::vector<std::string>{"a.npy"});
  const std::string bytes = contentOf(folder.file("a.npy"));
  const std::string header = "{'descr': " + descr + ", 'fortran_order': False, 'shape': (" +
                             std::to_string(rows) + ", " + std::to_string(columns) + "), }";
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(bytes.substr(10, header.size()) == header);
  REQUIRE(bytes.size() >= expected.size());
  CHECK((bytes.size() - expected.size()) % 64 == 0);
  CHECK(bytes.substr(bytes.size() - expected.size()) == expected);

  const io::NpyFile file(folder.file("a.npy"));
  CHECK(file.shape() == std::vector<std::int64_t>{rows, columns});
  CHECK("'" + file.descr().substr(1, file.descr().size() - 2) + "'" == descr);
  CHECK(file.holds<T, 2>());
  CHECK_FALSE(file.holds<T, 1>());
  CHECK_FALSE(file.fortranOrder());
  Array<T, 2> b = io::readNpy<T, 2>(folder.file("a.npy"));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) CHECK(static_cast<T>(b(i, j)) == static_cast<T>(a(i, j)));
}

}  // namespace

TEST_CASE("arrays of every scalar type are files that NumPy describes so, and come back") {
  std::mt19937 engine = engineFor(1);
  roundTrip<bool>("'|b1'", engine);
  roundTrip<signed char>("'|i1'", engine);
  roundTrip<unsigned char>("'|u1'", engine);
  roundTrip<short>("'<i2'", engine);
  roundTrip<unsigned short>("'<u2'", engine);
  roundTrip<int>("'<i4'", engine);
  roundTrip<unsigned>("'<u4'", engine);
  roundTrip<long>("'<i8'", engine);
  roundTrip<unsigned long>("'<u8'", engine);
  roundTrip<half>("'<f2'", engine);
  roundTrip<float>("'<f4'", engine);
  roundTrip<double>("'<f8'", engine);
  roundTrip<std::complex<float>>("'<c8'", engine);
  roundTrip<std::complex<double>>("'<c16'", engine);
}

TEST_CASE("vectors are a last dimension, those of three lanes without the fourth") {
  const TemporaryFolder folder;
  Array<float3, 2> a(2, 3);
  std::vector<float> expected;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      float3 value;
      for (std::size_t lane = 0; lane < 3; ++lane) {
        value[lane] = static_cast<float>(100 * i + 10 * j) + static_cast<float>(lane);
        expected.push_back(value[lane]);
      }
      a(i, j) = value;
    }
  }
  io::writeNpy(folder.file("v.npy"), a);
  const std::string bytes = contentOf(folder.file("v.npy"));
  CHECK(bytes.find("'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 3), }") == 11);
  CHECK(bytes.substr(bytes.size() - 72) == bytesOf(expected));
  Array<float3, 2> b = io::readNpy<float3, 2>(folder.file("v.npy"));
  Array<float, 3> c = io::readNpy<float, 3>(folder.file("v.npy"));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      CHECK(static_cast<float3>(b(i, j)) == static_cast<float3>(a(i, j)));
      for (int lane = 0; lane < 3; ++lane)
        CHECK(c(i, j, lane) == static_cast<float3>(a(i, j))[static_cast<std::size_t>(lane)]);
    }
  CHECK_FALSE(io::NpyFile(folder.file("v.npy")).holds<float4, 2>());
}

TEST_CASE("structs are structured types whose gaps are zeros; other places of fields are read") {
  const TemporaryFolder folder;
  Array<IoPair, 1> a(3);
  for (int i = 0; i < 3; ++i) {
    IoPair pair{};
    std::memset(static_cast<void*>(&pair), 0xee, sizeof pair);
    pair.first = i;
    pair.second.place = float3(1.0f, 2.0f, static_cast<float>(i));
    pair.second.kind = 'k';
    pair.second.mass = 0.5 * i;
    pair.second.cell = int2(i, -i);
    a(i) = pair;
  }
  io::writeNpy(folder.file("s.npy"), a);
  const std::string bytes = contentOf(folder.file("s.npy"));
  const std::string inner =
      "[('place', '<f4', (3,)), ('', '|V4'), ('kind', '|i1'), ('', '|V7'), ('mass', '<f8'), "
      "('cell', '<i4', (2,)), ('', '|V8')]";
  CHECK(bytes.substr(10).starts_with("{'descr': [('first', '<i4'), ('', '|V12'), ('second', " +
                                     inner + ")], 'fortran_order': False, 'shape': (3,), }"));
  CHECK(bytes.substr(bytes.size() - 3 * sizeof(IoPair)).find('\xee') == std::string::npos);
  const auto check = [&](const std::string& file) {
    Array<IoPair, 1> b = io::readNpy<IoPair, 1>(file);
    for (int i = 0; i < 3; ++i) {
      const IoPair pair = b(i);
      CHECK(pair.first == i);
      CHECK(pair.second.place == float3(1.0f, 2.0f, static_cast<float>(i)));
      CHECK(pair.second.kind == 'k');
      CHECK(pair.second.mass == 0.5 * i);
      CHECK(pair.second.cell == int2(i, -i));
    }
  };
  check(folder.file("s.npy"));
  // Packed, as NumPy makes structs unless asked otherwise, and some fields in the other byte order.
  std::string packed;
  for (int i = 0; i < 3; ++i) {
    packed += bytesOf<int>({i}, true) + bytesOf<float>({1, 2, static_cast<float>(i)}) + "k" +
              bytesOf<double>({0.5 * i}, true) + bytesOf<int>({i, -i});
  }
  writeFile(
      folder.file("packed.npy"),
      npyBytes("[('first', '>i4'), ('second', [('place', '<f4', (3,)), ('kind', 'i1'), ('mass', "
               "'>f8'), ('cell', '<i4', (2,))])]",
               false, "(3,)", packed));
  check(folder.file("packed.npy"));
}

TEST_CASE("files of other writers are read: byte orders, Fortran order, versions, spellings") {
  const TemporaryFolder folder;
  std::mt19937 engine = engineFor(2);
  for (int round = 0; round < 60; ++round) {
    const int n[3] = {1 + static_cast<int>(engine() % 5), 1 + static_cast<int>(engine() % 5),
                      1 + static_cast<int>(engine() % 5)};
    const bool swapped = engine() % 2 == 0, fortran = engine() % 2 == 0;
    const int version = 1 + static_cast<int>(engine() % 3);
    CAPTURE(round);
    CAPTURE(fortran);
    std::vector<double> values(static_cast<std::size_t>(n[0] * n[1] * n[2]));
    const auto value = [](int i, int j, int k) { return i * 100.0 + j * 10.0 + k; };
    for (int i = 0; i < n[0]; ++i)
      for (int j = 0; j < n[1]; ++j)
        for (int k = 0; k < n[2]; ++k) {
          const int at = fortran ? i + n[0] * (j + n[1] * k) : (i * n[1] + j) * n[2] + k;
          values[static_cast<std::size_t>(at)] = value(i, j, k);
        }
    const std::string shape = " ( " + std::to_string(n[0]) + "L," + std::to_string(n[1]) + " , " +
                              std::to_string(n[2]) + ")";
    writeFile(folder.file("o.npy"), npyBytes(swapped ? "\">f8\"" : "\"<f8\"", fortran, shape,
                                             bytesOf(values, swapped), version));
    io::NpyFile file(folder.file("o.npy"));
    CHECK(file.fortranOrder() == fortran);
    Array<double, 3> a = file.read<double, 3>();
    for (int i = 0; i < n[0]; ++i)
      for (int j = 0; j < n[1]; ++j)
        for (int k = 0; k < n[2]; ++k) CHECK(a(i, j, k) == value(i, j, k));
    if (n[2] != 3) continue;
    Array<Vec<double, 3>, 2> v = file.read<Vec<double, 3>, 2>();
    for (int i = 0; i < n[0]; ++i)
      for (int j = 0; j < n[1]; ++j) {
        const Vec<double, 3> lanes = v(i, j);
        for (int k = 0; k < 3; ++k) CHECK(lanes[static_cast<std::size_t>(k)] == value(i, j, k));
      }
  }
}

TEST_CASE("a truth value of a file that is neither 0 nor 1 is true") {
  const TemporaryFolder folder;
  writeFile(folder.file("b.npy"), npyBytes("'|b1'", false, "(4,)", std::string("\0\1\2\xff", 4)));
  Array<bool, 1> a = io::readNpy<bool, 1>(folder.file("b.npy"));
  const auto* bytes = reinterpret_cast<const unsigned char*>(a.data(HPL_RD));
  CHECK(std::vector<unsigned char>(bytes, bytes + 4) == std::vector<unsigned char>{0, 1, 1, 1});
}

TEST_CASE("views are written and read in place, whatever lies around them") {
  const TemporaryFolder folder;
  std::mt19937 engine = engineFor(3);
  for (int round = 0; round < 40; ++round) {
    const int n = 3 + static_cast<int>(engine() % 6);
    Array<int, 3> a(n, n, n), b(n, n, n);
    for (int i = 0; i < n * n * n; ++i) a(i / n / n, i / n % n, i % n) = i;
    b = -1;
    int low[3], high[3];
    for (int d = 0; d < 3; ++d) {
      low[d] = static_cast<int>(engine() % static_cast<unsigned>(n));
      high[d] = low[d] + static_cast<int>(engine() % static_cast<unsigned>(n - low[d]));
    }
    const Range r0(low[0], high[0]), r1(low[1], high[1]), r2(low[2], high[2]);
    io::writeNpy(folder.file("view.npy"), a(r0, r1, r2));
    io::readNpy(folder.file("view.npy"), b(r0, r1, r2));
    Array<int, 3> whole = io::readNpy<int, 3>(folder.file("view.npy"));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) {
          const bool inside = i >= low[0] && i <= high[0] && j >= low[1] && j <= high[1] &&
                              k >= low[2] && k <= high[2];
          CHECK(b(i, j, k) == (inside ? (i * n + j) * n + k : -1));
          if (inside) CHECK(whole(i - low[0], j - low[1], k - low[2]) == (i * n + j) * n + k);
        }
  }
}

static void triple(Array<float, 2> a) { a[idy][idx] = 3.0f * a[idy][idx]; }

TEST_CASE("what a device has computed is written, and what was read is what a device sees") {
  const TemporaryFolder folder;
  Array<float, 2> a(33, 65);
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 65; ++j) a(i, j) = static_cast<float>(i * 65 + j);
  eval(triple)(a);
  io::writeNpy(folder.file("a.npy"), a);
  Array<float, 2> b(33, 65);
  b = 0.0f;
  eval(triple)(b);
  io::readNpy(folder.file("a.npy"), b);
  eval(triple)(b);
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 65; ++j) CHECK(b(i, j) == static_cast<float>(9 * (i * 65 + j)));
}

TEST_CASE("parts of several devices are written as one array, and read into it") {
  const TemporaryFolder folder;
  Array<float, 2> a(33, 65), b(33, 65);
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 65; ++j) a(i, j) = static_cast<float>(i * 65 + j);
  b = 0.0f;
  for (int round = 0; round < 3; ++round) {
    eval(triple).devices()(a);
    eval(triple).devices()(b);
    io::writeNpy(folder.file("part.npy"), a(Range(4, 28), Range(1, 64)));
    io::readNpy(folder.file("part.npy"), b(Range(5, 29), Range(0, 63)));
  }
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 65; ++j)
      CHECK(b(i, j) == (i >= 5 && i <= 29 && j <= 63 ? static_cast<float>(a(i - 1, j + 1)) : 0.0f));
}

TEST_CASE("a large array passes through in pieces") {
  const TemporaryFolder folder;
  Array<unsigned char, 1> bytes(300001);
  Array<float3, 1> lanes(40001);
  for (int i = 0; i < 300001; ++i) bytes(i) = static_cast<unsigned char>(i * 7);
  for (int i = 0; i < 40001; ++i) lanes(i) = float3(static_cast<float>(i), 1.0f, 2.0f);
  io::writeNpy(folder.file("bytes.npy"), bytes);
  io::writeNpy(folder.file("lanes.npy"), lanes);
  Array<unsigned char, 1> bytesBack = io::readNpy<unsigned char, 1>(folder.file("bytes.npy"));
  Array<float3, 1> lanesBack = io::readNpy<float3, 1>(folder.file("lanes.npy"));
  int wrong = 0;
  for (int i = 0; i < 300001; ++i) wrong += bytesBack(i) != static_cast<unsigned char>(i * 7);
  for (int i = 0; i < 40001; ++i)
    wrong += !(static_cast<float3>(lanesBack(i)) == float3(static_cast<float>(i), 1.0f, 2.0f));
  CHECK(wrong == 0);
}

TEST_CASE("another type, rank or shape than the file's is refused, and the array stays as it was") {
  const TemporaryFolder folder;
  const std::string name = folder.file("a.npy");
  writeFile(name, npyBytes("'<f8'", false, "(2, 3)", bytesOf<double>({1, 2, 3, 4, 5, 6})));
  CHECK(
      messageOf<io::FileError>([&] { io::readNpy<float, 2>(name); }) ==
      name +
          ": cannot read the array: it holds shape (2, 3) of type '<f8', and Array<float, 2> "
          "needs 2 dimensions of type '<f4': read it as another Array, or convert it with NumPy's "
          "reshape or astype");
  CHECK(messageOf<io::FileError>([&] { io::readNpy<double, 1>(name); }) ==
        name +
            ": cannot read the array: it holds shape (2, 3) of type '<f8', and Array<double, 1> "
            "needs 1 dimensions of type '<f8': read it as another Array, or convert it with "
            "NumPy's reshape or astype");
  Array<double, 2> a(3, 2);
  a.label("field") = 7.0;
  CHECK(
      messageOf<io::FileError>([&] { io::readNpy(name, a); }) ==
      name +
          ": cannot read the array: it has shape (2, 3), and Array<double, 2> 'field' has (3, 2): "
          "read it into an array or a view of its shape, or let readNpy make one");
  CHECK(a(2, 1) == 7.0);
  writeFile(name, npyBytes("'<f8'", false, "(2, 0)", ""));
  CHECK(messageOf<io::FileError>([&] { io::readNpy<double, 2>(name); }) ==
        name +
            ": cannot read the array: it has shape (2, 0), no element, and an Array has at least "
            "one");
}

TEST_CASE("a file that is read twice gives the same twice, also after a move") {
  const TemporaryFolder folder;
  writeFile(folder.file("a.npy"), npyBytes("'<i4'", false, "(3,)", bytesOf<int>({4, 5, 6})));
  io::NpyFile first(folder.file("a.npy"));
  io::NpyFile file = std::move(first);
  for (int round = 0; round < 2; ++round) {
    Array<int, 1> a = file.read<int, 1>();
    CHECK(a(0) == 4);
    CHECK(a(2) == 6);
  }
}

}  // namespace npy_tests
