// SPDX-License-Identifier: Apache-2.0
#include "hpl/io/hdf5.h"

#include <doctest/doctest.h>

#include <complex>
#include <cstdlib>
#include <random>

#include "hpl/hpl.h"
#include "tests/io/temporary_folder.h"
#include "tests/messages.h"

using namespace hpl;
using namespace io_tests;
using hpl_tests::contains;
using hpl_tests::messageOf;
using io::Hdf5File;

HPL_STRUCT(IoStar, (float3, place), (char, kind), (double, mass));

namespace hdf5_tests {

namespace {

template <class T>
void roundTrip(Hdf5File& file, const std::string& path, std::mt19937& engine) {
  CAPTURE(path);
  const int rows = 1 + static_cast<int>(engine() % 6), columns = 1 + static_cast<int>(engine() % 6);
  Array<T, 2> a(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) a(i, j) = static_cast<T>(static_cast<float>(engine() % 100));
  file.write(path, a);
  CHECK(file.shape(path) == std::vector<std::int64_t>{rows, columns});
  CHECK(file.holds<T, 2>(path));
  CHECK_FALSE(file.holds<T, 3>(path));
  Array<T, 2> b = file.read<T, 2>(path);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) CHECK(static_cast<T>(b(i, j)) == static_cast<T>(a(i, j)));
}

}  // namespace

TEST_CASE("without HDF5 a program is told what to install" *
          doctest::skip(Hdf5File::isAvailable())) {
  CHECK(messageOf<io::FileError>([] { Hdf5File("a.h5", Hdf5File::Create); }) ==
        "a.h5: this build of hpl::io has no HDF5: install the HDF5 library (Debian: libhdf5-dev), "
        "configure and build again");
}

TEST_SUITE("hdf5" * doctest::skip(!Hdf5File::isAvailable())) {
  TEST_CASE("arrays of every type are datasets, and come back") {
    const TemporaryFolder folder;
    const unsigned seed = 6;
    MESSAGE("seed ", seed);
    std::mt19937 engine(seed);
    Hdf5File file(folder.file("a.h5"), Hdf5File::Create);
    roundTrip<bool>(file, "types/bool", engine);
    roundTrip<signed char>(file, "types/char", engine);
    roundTrip<unsigned char>(file, "types/uchar", engine);
    roundTrip<short>(file, "types/short", engine);
    roundTrip<unsigned short>(file, "types/ushort", engine);
    roundTrip<int>(file, "types/int", engine);
    roundTrip<unsigned>(file, "types/uint", engine);
    roundTrip<long>(file, "types/long", engine);
    roundTrip<unsigned long>(file, "types/ulong", engine);
    roundTrip<half>(file, "types/half", engine);
    roundTrip<float>(file, "types/float", engine);
    roundTrip<double>(file, "types/double", engine);
    roundTrip<std::complex<float>>(file, "types/complex", engine);
    roundTrip<std::complex<double>>(file, "types/more/complex", engine);
    CHECK(file.list("types").size() == 14);
    CHECK(file.list() == std::vector<std::string>{"types"});
    CHECK_FALSE(file.holds<unsigned, 2>("types/int"));
    CHECK_FALSE(file.holds<double, 2>("types/float"));
    CHECK_FALSE(file.holds<signed char, 2>("types/bool"));
    CHECK(file.contains("types/more"));
    CHECK_FALSE(file.contains("types/less/complex"));
  }

  TEST_CASE("a file appears under its name with flush or close, and can be added to") {
    const TemporaryFolder folder;
    const std::string name = folder.file("run.h5");
    Array<float, 1> a(4);
    a = 2.0f;
    {
      Hdf5File file(name, Hdf5File::Create);
      file.write("a", a);
      CHECK(folder.names().size() == 1);
      CHECK_FALSE(folder.names()[0] == "run.h5");
      file.flush();
      CHECK(folder.names() == std::vector<std::string>{"run.h5"});
      file.write("b", a);
    }
    {
      Hdf5File file(name, Hdf5File::Update);
      a = 3.0f;
      file.write("b", a);
      file.write("c", a);
      file.close();
      file.close();
      CHECK(messageOf<io::FileError>([&] { file.write("d", a); }) ==
            name + ": the file is closed already; open it again");
    }
    const Hdf5File file(name);
    CHECK(file.list() == std::vector<std::string>{"a", "b", "c"});
    Array<float, 1> b = file.read<float, 1>("b"), first = file.read<float, 1>("/a");
    CHECK(b(3) == 3.0f);
    CHECK(first(3) == 2.0f);
  }

  TEST_CASE("steps are appended, one after the other and another day, views as well") {
    const TemporaryFolder folder;
    const std::string name = folder.file("run.h5");
    Array<float3, 2> u(5, 6);
    const auto value = [](int step, int i, int j) {
      return float3(static_cast<float>(step), static_cast<float>(i), static_cast<float>(j));
    };
    for (int day = 0; day < 2; ++day) {
      Hdf5File file(name, day == 0 ? Hdf5File::Create : Hdf5File::Update);
      for (int step = 3 * day; step < 3 * day + 3; ++step) {
        for (int i = 0; i < 5; ++i)
          for (int j = 0; j < 6; ++j) u(i, j) = value(step, i, j);
        file.append("steps/u", u(Range(1, 4), Range(2, 4)));
      }
      file.close();
    }
    const Hdf5File file(name);
    CHECK(file.shape("steps/u") == std::vector<std::int64_t>{6, 4, 3, 3});
    for (int step = 0; step < 6; ++step) {
      Array<float3, 2> back = file.readStep<float3, 2>("steps/u", step);
      u = float3(-1.0f, -1.0f, -1.0f);
      file.readStep("steps/u", step, u(Range(0, 3), Range(0, 2)));
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 3; ++j) {
          CHECK(static_cast<float3>(back(i, j)) == value(step, i + 1, j + 2));
          CHECK(static_cast<float3>(u(i, j)) == value(step, i + 1, j + 2));
        }
      CHECK(static_cast<float3>(u(4, 5))[0] == -1.0f);
    }
    CHECK(messageOf<io::FileError>([&] { file.readStep<float3, 2>("steps/u", 6); }) ==
          name +
              ": cannot read the HDF5 file: 'steps/u' has 6 steps, counted from 0, and step 6 was "
              "asked for");
  }

  TEST_CASE("structs are compounds, whatever the order in memory of the gaps") {
    const TemporaryFolder folder;
    Array<IoStar, 1> a(3);
    for (int i = 0; i < 3; ++i) {
      IoStar star{};
      star.place = float3(1.0f, 2.0f, static_cast<float>(i));
      star.kind = static_cast<char>('a' + i);
      star.mass = i / 3.0;
      a(i) = star;
    }
    Hdf5File file(folder.file("s.h5"), Hdf5File::Create);
    file.write("stars", a);
    Array<IoStar, 1> b = file.read<IoStar, 1>("stars");
    for (int i = 0; i < 3; ++i) {
      const IoStar star = b(i);
      CHECK(star.place == float3(1.0f, 2.0f, static_cast<float>(i)));
      CHECK(star.kind == static_cast<char>('a' + i));
      CHECK(star.mass == i / 3.0);
    }
    CHECK_FALSE(file.holds<float, 1>("stars"));
  }

  TEST_CASE("a large view goes through in slabs") {
    const TemporaryFolder folder;
    Array<int, 2> a(1500, 1200), b(1500, 1200);
    for (int i = 0; i < 1500; ++i)
      for (int j = 0; j < 1200; ++j) a(i, j) = i * 1200 + j;
    b = -1;
    Hdf5File file(folder.file("l.h5"), Hdf5File::Create);
    file.write("a", a(Range(1, 1499), Range(1, 1198)));
    file.read("a", b(Range(0, 1498), Range(2, 1199)));
    int wrong = 0;
    for (int i = 0; i < 1499; ++i)
      for (int j = 0; j < 1198; ++j) wrong += b(i, j + 2) != (i + 1) * 1200 + j + 1;
    CHECK(wrong == 0);
    CHECK(b(1499, 0) == -1);
    CHECK(b(0, 1) == -1);
  }

  TEST_CASE("attributes are numbers and texts of files, groups and datasets") {
    const TemporaryFolder folder;
    Hdf5File file(folder.file("a.h5"), Hdf5File::Create);
    Array<int, 1> a(2);
    file.write("group/a", a);
    file.setAttribute("/", "title", "a wave \u00e9");
    file.setAttribute("group", "steps", 12);
    file.setAttribute("group/a", "dt", 0.25f);
    file.setAttribute("group/a", "dt", 0.5);
    CHECK(file.attribute<std::string>("/", "title") == "a wave \u00e9");
    CHECK(file.attribute<std::int64_t>("group", "steps") == 12);
    CHECK(file.attribute<double>("group", "steps") == 12.0);
    CHECK(file.attribute<double>("group/a", "dt") == 0.5);
    const std::string begin = folder.file("a.h5") + ": cannot write the HDF5 file: ";
    CHECK(messageOf<io::FileError>([&] { file.attribute<double>("/", "title"); }) ==
          begin + "the attribute 'title' of '/' is no number but texts");
    CHECK(messageOf<io::FileError>([&] { file.attribute<std::int64_t>("group/a", "dt"); }) ==
          begin + "the attribute 'dt' of 'group/a' is no integer but 64-bit floating point");
    CHECK(messageOf<io::FileError>([&] { file.attribute<double>("group/a", "dx"); }) ==
          begin + "'group/a' has no attribute 'dx'");
    CHECK(messageOf<io::FileError>([&] { file.setAttribute("other", "dx", 1); }) ==
          begin + "there is no group or dataset 'other' in it");
  }

  TEST_CASE("what does not fit is refused, and the array stays as it was") {
    const TemporaryFolder folder;
    const std::string name = folder.file("a.h5");
    Array<float, 2> a(2, 3), b(3, 2);
    a = 1.0f;
    b.label("other") = 9.0f;
    Hdf5File file(name, Hdf5File::Create);
    file.write("a", a);
    const std::string begin = name + ": cannot write the HDF5 file: ";
    CHECK(messageOf<io::FileError>([&] { file.write("a", b); }) ==
          begin +
              "'a' exists with shape (2, 3) of 32-bit floating point, and Array<float, 2> 'other' "
              "has (3, 2): write it under another name");
    CHECK(messageOf<io::FileError>([&] { file.append("a", b); }) ==
          begin +
              "'a' has shape (2, 3) of 32-bit floating point, and steps like Array<float, 2> "
              "'other' of (3, 2) would not fit behind: append them to another dataset");
    CHECK(messageOf<io::FileError>([&] { file.read("a", b); }) ==
          begin +
              "'a' gives shape (2, 3), and Array<float, 2> 'other' has (3, 2): read it into an "
              "array or a view of its shape");
    CHECK(b(2, 1) == 9.0f);
    CHECK(messageOf<io::FileError>([&] { file.read<double, 2>("a"); }) ==
          begin + "'a' holds shape (2, 3) of 32-bit floating point, which is no Array<double, 2>");
    CHECK(messageOf<io::FileError>([&] { file.read<double, 2>("none/a"); }) ==
          begin + "there is no dataset 'none/a' in it; list() gives the names");
    CHECK(contains(messageOf<io::FileError>([&] { file.append("a", a(0, Range(0, 2))); }),
                   "would not fit behind"));
    CHECK(contains(messageOf<io::FileError>([&] { file.write("a/b", a); }), "the dataset 'a/b': "));
    CHECK(messageOf<io::FileError>([&] { file.list("a"); }) ==
          begin + "there is no group 'a' in it");
  }

  TEST_CASE("files that are missing, others or damaged are refused or read, without a crash") {
    const TemporaryFolder folder;
    const std::string name = folder.file("d.h5");
    CHECK(messageOf<io::FileError>([] { Hdf5File("/no/such.h5"); }) ==
          "/no/such.h5: cannot read the HDF5 file: No such file or directory");
    CHECK(messageOf<io::FileError>([] { Hdf5File("/no/such/a.h5", Hdf5File::Create); }) ==
          "/no/such/a.h5: cannot write the HDF5 file: No such file or directory");
    writeFile(name, "this is no HDF5 file");
    CHECK(contains(messageOf<io::FileError>([&] { Hdf5File file(name); }),
                   "it is no HDF5 file, cut short, or open elsewhere for writing: "));
    Array<float, 2> a(8, 8);
    a = 1.0f;
    {
      Hdf5File file(name, Hdf5File::Create);
      file.write("a", a);
    }
    const std::string whole = contentOf(name);
    for (std::size_t length = 0; length < whole.size(); length += 37) {
      writeFile(name, whole.substr(0, length));
      CHECK_THROWS_AS((Hdf5File(name).read<float, 2>("a")), io::FileError);
    }
  }
}

}  // namespace hdf5_tests
