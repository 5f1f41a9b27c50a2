// SPDX-License-Identifier: Apache-2.0
// probe("x", value): what it prints, for which work-items, and how much of it.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "tests/messages.h"
#include "tests/printed.h"

namespace probe_tests {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::countOf;
using hpl_tests::printed;

namespace {

/// Settings of a test, undone at its end.
struct Changed {
  template <class F>
  explicit Changed(F change) {
    runtime::Settings wanted = before;
    change(wanted);
    runtime::overrideSettings(wanted);
  }
  ~Changed() { runtime::overrideSettings(before); }
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;
  runtime::Settings before = runtime::settings();
};

void probed(Array<int, 1> a) {
  a[idx] = cast<int>(idx) * 2;
  if_(idx == 3 || idx == 5) {
    probe("twice", a[idx]);
    probe("half", cast<float>(idx) / 2.0f);
  }
}

void ofEveryType(Array<int, 1> a) {
  if_(idx == 1) {
    probe("char", cast<signed char>(-5));
    probe("uchar", cast<unsigned char>(idx + 249));
    probe("short", cast<short>(idx) - 300);
    probe("uint", cast<unsigned>(idx) + 4000000000u);
    probe("long", cast<long>(idx) - (1l << 40));
    probe("ulong", cast<unsigned long>(idx) + (1ul << 63));
    probe("float", cast<float>(idx) / 8.0f);
    probe("bool", cast<bool>(idx));
    probe("constant", 7);
    Half h = cast<half>(1.5f);
    probe("Half", h);
  }
  a[idx] = 1;
}

Int traced(Int x) {
  probe("x", x);
  return_(x + 1);
  return x;
}
void callsTraced(Array<int, 1> a) {
  if_(idx == 2) {
    a[idx] = call(traced)(7);
  }
}

}  // namespace

TEST_CASE("a probe prints label, value, position, kernel, device, file and line") {
  Array<int, 1> a(8);
  const std::string text = printed([&] { eval(probed)(a); });
  CAPTURE(text);
  CHECK(contains(text, "hpl: probe twice = 6 at (3), kernel 'probed' on "));
  CHECK(contains(text, ", probe_tests.cpp:"));
  CHECK(contains(text, "hpl: probe half = 1.5 at (3), "));
  CHECK(contains(text, "hpl: probe twice = 10 at (5), "));
  CHECK(countOf("hpl: probe", text) == 4);
  CHECK(text.find("twice = 6") < text.find("half = 1.5"));
  CHECK(text.find("half = 1.5") < text.find("twice = 10"));
  for (int i = 0; i < 8; ++i) CHECK(a(i).value() == 2 * i);
}

TEST_CASE("every launch of a kernel with a probe prints, also repeated ones and the interpreter") {
  Array<int, 1> a(8);
  FRunner runner;
  CHECK(countOf("hpl: probe", printed([&] { runner = eval(probed)(a); })) == 4);
  CHECK(countOf("hpl: probe", printed([&] { eval(probed)(a); })) == 4);
  CHECK(countOf("hpl: probe", printed([&] { runner.run(); })) == 4);
  const std::string text = printed([&] { eval(probed).interpret(a); });
  CAPTURE(text);
  CHECK(countOf("hpl: probe", text) == 4);
  CHECK(contains(text, "hpl: probe half = 2.5 at (5), kernel 'probed' in the interpreter, "));
}

TEST_CASE("a probe shows numbers of every type") {
  Array<int, 1> a(4);
  for (const bool interpreted : {false, true}) {
    const std::string text = printed([&] {
      if (interpreted) {
        eval(ofEveryType).interpret(a);
      } else {
        eval(ofEveryType)(a);
      }
    });
    CAPTURE(text);
    for (const char* line : {"char = -5 ", "uchar = 250 ", "short = -299 ", "uint = 4000000001 ",
                             "long = -1099511627775 ", "ulong = 9223372036854775809 ",
                             "float = 0.125 ", "bool = true ", "constant = 7 ", "Half = 1.5 "})
      CHECK(contains(text, std::string("hpl: probe ") + line));
  }
}

TEST_CASE("the position of a probe is that in the whole array") {
  Array<int, 2> a(20, 30);
  a = 0;
  const auto kernel = [](Array<int, 2> m) {
    m[idy][idx] = 1;
    if_(idx == 2 && idy == 1) {
      probe("here", m[idy][idx]);
    }
  };
  const std::string text = printed([&] { eval(kernel)(a(Range(5, 10), Range(10, 19))); });
  CAPTURE(text);
  CHECK(contains(text, "hpl: probe here = 1 at (12, 6), kernel "));
}

TEST_CASE("parts of several devices: probes print each device's, with positions in the array") {
  const auto list = devices(defaultDevice().type());
  const auto n = static_cast<int>(list.size());
  Array<int, 1> a(10 * n);
  const auto kernel = [](Array<int, 1> x) {
    x[idx] = cast<int>(gridx);
    if_(gridx % 10 == 4) {
      probe("x", x[idx]);
    }
  };
  for (const bool annotated : {true, false}) {
    CAPTURE(annotated);
    const std::string text = printed([&] {
      if (annotated) {
        eval(kernel).devices(list)(PART1(a));
      } else {
        eval(kernel).devices(list)(a);
      }
    });
    CAPTURE(text);
    CHECK(countOf("hpl: probe x = ", text) == static_cast<std::size_t>(n));
    for (int d = 0; d < n; ++d) {
      const std::string place = std::to_string(10 * d + 4);
      CHECK(contains(text, "hpl: probe x = " + place + " at (" + place + "), kernel "));
    }
  }
}

TEST_CASE("probes in functions, behind barriers, and of work-items inside the domain only") {
  Array<int, 1> a(8);
  a = 0;
  CHECK(contains(printed([&] { eval(callsTraced)(a); }), "hpl: probe x = 7 at (2), "));
  CHECK(a(2).value() == 8);
  Array<int, 1> b(11);
  const auto kernel = [](Array<int, 1> x) {
    Array<int, 1, Local> tile(8);
    tile[lidx] = cast<int>(idx);
    barrier(LOCAL);
    probe("tile", tile[lidx]);
    x[idx] = tile[lidx];
  };
  CHECK(countOf("hpl: probe tile", printed([&] { eval(kernel).local(8)(b); })) == 11);
}

TEST_CASE("HPL_PROBE_LINES limits what a launch prints; the others are counted") {
  Array<int, 1> a(1000);
  const auto kernel = [](Array<int, 1> x) {
    x[idx] = 1;
    probe("x", x[idx]);
  };
  {
    const Changed few([](runtime::Settings& s) { s.probeLines = 3; });
    const std::string text = printed([&] { eval(kernel)(a); });
    CAPTURE(text);
    CHECK(countOf("hpl: probe x = 1 at (", text) == 3);
    CHECK(contains(text, "at (0), "));
    CHECK(contains(text, "at (1), "));
    CHECK(contains(text, "at (2), "));
    CHECK(contains(text, "hpl: probe: 997 more values of this launch of kernel "));
    CHECK(contains(text, "HPL_PROBE_LINES=n shows n"));
  }
  const Changed none([](runtime::Settings& s) { s.probeLines = 0; });
  CHECK(printed([&] { eval(kernel)(a); }).empty());
  CHECK(a(999).value() == 1);
}

TEST_CASE("more values than there is room for are counted") {
  Array<int, 1> a(40000);
  const Changed few([](runtime::Settings& s) { s.probeLines = 3; });
  const std::string text = printed([&] {
    eval([](Array<int, 1> x) {
      x[idx] = 1;
      probe("x", x[idx]);
    })(a);
  });
  CAPTURE(text);
  CHECK(contains(text, "hpl: probe: 39997 more values"));
}

TEST_CASE("a kernel with a probe runs as written in every strategy") {
  for (const runtime::Strategy strategy : {runtime::Strategy::Rows, runtime::Strategy::Tile,
                                           runtime::Strategy::Stream, runtime::Strategy::Columns}) {
    const Changed changed([&](runtime::Settings& s) {
      s.strategy = strategy;
      s.explain = true;
    });
    Array<float, 2> in(20, 20), out(20, 20);
    in = 1.0f;
    const std::string text = printed([&] {
      eval([](Array<float, 2> o, const Array<float, 2>& i) {
        if_(idx > 0 && idx + 1 < szx) {
          o[idy][idx] = i[idy][idx - 1] + i[idy][idx + 1];
          if_(idx == 4 && idy == 9) {
            probe("sum", o[idy][idx]);
          }
        }
      })(out, in);
    });
    CAPTURE(text);
    CHECK(countOf("hpl: probe sum = 2 at (4, 9), ", text) == 1);
    // Said once for all launches alike.
    if (strategy == runtime::Strategy::Rows) CHECK(contains(text, "it has a probe"));
  }
}

TEST_CASE("a program prints 50 times as many lines as a launch may, and says when it stops") {
  Array<int, 1> a(10);
  const Changed few([](runtime::Settings& s) { s.probeLines = 4; });
  const auto kernel = [](Array<int, 1> x) {
    x[idx] = 1;
    probe("x", x[idx]);
  };
  const std::string text = printed([&] {
    for (int launch = 0; launch < 60; ++launch) eval(kernel)(a);
  });
  CHECK(countOf("hpl: probes: these were 200 lines", text) == 1);
  CHECK(countOf("hpl: probe x = ", text) <= 200);
  CHECK(printed([&] { eval(kernel)(a); }).empty());
}

TEST_CASE("probe outside of a kernel is refused") { CHECK_THROWS_AS(probe("x", 3), KernelError); }

}  // namespace probe_tests
