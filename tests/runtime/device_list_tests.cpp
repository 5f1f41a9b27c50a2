// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/detail/device_list.h"

#include <doctest/doctest.h>

#include <string>

#include "hpl/error.h"

namespace device_list_tests {

using namespace hpl;
using namespace hpl::runtime;

TEST_CASE("an empty device list selects nothing in particular") {
  CHECK(parseDeviceList("").empty());
  CHECK(parseDeviceList("  ").empty());
}

TEST_CASE("an entry of a device list is read mark by mark") {
  struct Case {
    const char* text;
    const char* what;
    int index, parts, copies;
  };
  for (const Case& c :
       {Case{"gpu", "gpu", -1, 1, 1}, Case{"GPU", "gpu", -1, 1, 1}, Case{"cpu/2", "cpu", -1, 2, 1},
        Case{"any:3", "any", 3, 1, 1}, Case{"pocl:0*4", "pocl", 0, 1, 4},
        Case{"cpu:1/2*3", "cpu", 1, 2, 3}, Case{" rusticl : 0 ", "rusticl", 0, 1, 1},
        Case{"Portable Computing", "portable computing", -1, 1, 1},
        Case{"NVIDIA CUDA:2", "nvidia cuda", 2, 1, 1}}) {
    CAPTURE(c.text);
    const auto selectors = parseDeviceList(c.text);
    REQUIRE(selectors.size() == 1);
    CHECK(selectors[0].what == c.what);
    CHECK(selectors[0].index == c.index);
    CHECK(selectors[0].parts == c.parts);
    CHECK(selectors[0].copies == c.copies);
  }
}

TEST_CASE("the entries of a device list are separated by commas") {
  const auto selectors = parseDeviceList("pocl:0, rusticl:0,cpu/2");
  REQUIRE(selectors.size() == 3);
  CHECK(selectors[0].text == "pocl:0");
  CHECK(selectors[1].text == "rusticl:0");
  CHECK(selectors[2].parts == 2);
}

TEST_CASE("a malformed device list is reported with the entry and the grammar") {
  struct Case {
    const char* list;
    const char* entry;
    const char* reason;
  };
  for (const Case& c :
       {Case{"gpu,", "", "does not say which device"},
        Case{",gpu", "", "does not say which device"},
        Case{":0", ":0", "does not say which device"},
        Case{"cpu/x", "cpu/x", "needs a whole number of at least 1 after '/', not \"x\""},
        Case{"cpu/0", "cpu/0", "needs a whole number of at least 1 after '/', not \"0\""},
        Case{"cpu/", "cpu/", "needs a whole number of at least 1 after '/', not \"\""},
        Case{"cpu:-1", "cpu:-1", "needs a whole number of at least 0 after ':', not \"-1\""},
        Case{"gpu,cpu*1.5", "cpu*1.5", "needs a whole number of at least 1 after '*', not \"1.5\""},
        Case{"cpu:99999999999", "cpu:99999999999", "needs a whole number of at least 0 after ':'"},
        Case{"cpu*2/2", "cpu*2/2", "has its marks in the wrong order or twice"},
        Case{"cpu:1:2", "cpu:1:2", "has its marks in the wrong order or twice"}}) {
    CAPTURE(c.list);
    std::string message;
    try {
      parseDeviceList(c.list);
    } catch (const SettingsError& error) {
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find(std::string("HPL_DEVICES=") + c.list + ": the entry \"" + c.entry + "\"") !=
          std::string::npos);
    CHECK(message.find(c.reason) != std::string::npos);
    CHECK(message.find("what[:n][/k][*k]") != std::string::npos);
  }
}

}  // namespace device_list_tests
