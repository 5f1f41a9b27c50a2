// SPDX-License-Identifier: Apache-2.0
// Exceptions that the library uses by itself stay inside, whichever door a program comes in by:
// launches give numbers or an hpl::Error. Stencils: tests/stencil_templates/mixed_faces_tests.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"
#include "tests/messages.h"

namespace doors_tests {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::messageOf;

namespace {

constexpr int kCells = 96;

/// Sets the strategy for a scope.
class WithStrategy {
 public:
  explicit WithStrategy(runtime::Strategy strategy) : before_(runtime::settings()) {
    runtime::Settings wanted = before_;
    wanted.strategy = strategy;
    runtime::overrideSettings(wanted);
  }
  ~WithStrategy() { runtime::overrideSettings(before_); }

 private:
  runtime::Settings before_;
};

/// An index of 2^13 terms, more than strategies care to follow.
Expr<unsigned> longIndex(const Expr<unsigned>& from) {
  Expr<unsigned> sum = from;
  for (int doubled = 0; doubled < 13; ++doubled) sum = sum + sum;
  return sum;
}

void gather(Array<int, 1> out, const Array<int, 1>& in) {
  out[idx] = in[longIndex(cast<unsigned>(idx)) % static_cast<unsigned>(kCells)] +
             in[min(cast<unsigned>(idx) + 1u, kCells - 1u)];
}
void gatherThrough(Array<int, 1> out, const Array<int, 1>& in) {
  Uint place = longIndex(cast<unsigned>(idx)) % static_cast<unsigned>(kCells);
  out[idx] = in[place] + in[min(cast<unsigned>(idx) + 1u, kCells - 1u)];
}

/// A way to launch a kernel of (out, in).
struct Door {
  const char* name;
  std::function<void(void (*)(Array<int, 1>, const Array<int, 1>&), Array<int, 1>&, Array<int, 1>&)>
      open;
};

std::vector<Door> doors() {
  return {{"eval", [](auto kernel, auto& out, auto& in) { eval(kernel)(out, in); }},
          {"run",
           [](auto kernel, auto& out, auto& in) {
             FRunner launch = eval(kernel)(out, in);
             out = 0;
             launch.run();
             launch.wait();
           }},
          {"reeval", [](auto kernel, auto& out, auto& in) { reeval(kernel)(out, in); }},
          {"several devices",
           [](auto kernel, auto& out, auto& in) {
             eval(kernel).devices(getDeviceNumber(defaultDevice().type()))(out, in);
           }},
          {"tune",
           [](auto kernel, auto& out, auto& in) {
             TuneOptions briefly;
             briefly.seconds = 0.02;
             eval(kernel).tuning(briefly).tune(out, in);
             eval(kernel)(out, in);
           }},
          {"interpret", [](auto kernel, auto& out, auto& in) { eval(kernel).interpret(out, in); }}};
}

}  // namespace

TEST_CASE("doors: an index that is too long to be followed is an index like any other") {
  using runtime::Strategy;
  const auto all = doors();
  int which = 0;
  for (const Strategy strategy : {Strategy::Rows, Strategy::Auto, Strategy::Tile, Strategy::Stream,
                                  Strategy::Columns, Strategy::Direct}) {
    const WithStrategy asked(strategy);
    for (const auto kernel : {gather, gatherThrough}) {
      // Kernels of such an index compile slowly: each door for some of them.
      const Door& door = all[static_cast<std::size_t>(which++) % all.size()];
      CAPTURE(door.name);
      CAPTURE(static_cast<int>(strategy));
      Array<int, 1> in(kCells), out(kCells);
      for (int i = 0; i < kCells; ++i) in(i) = 3 * i + 1;
      out = 0;
      try {
        door.open(kernel, out, in);
      } catch (const Error& error) {
        FAIL_CHECK(std::string(error.what()));
      } catch (...) {
        FAIL_CHECK("no exception of the library");
      }
      for (int i = 0; i < kCells; ++i)
        REQUIRE(out(i) == in(i * 8192 % kCells) + in(std::min(i + 1, kCells - 1)));
    }
  }
}

TEST_CASE("doors: a kernel that is not there is refused") {
  Array<int, 1> a(4);
  using Kernel = void (*)(Array<int, 1>);
  const std::function<void(Array<int, 1>)> empty;
  const Kernel none = nullptr;
  for (const std::string& message : {messageOf<KernelError>([&] { eval(empty)(a); }),
                                     messageOf<KernelError>([&] { eval(none)(a); }),
                                     messageOf<KernelError>([&] { reeval(empty)(a); }),
                                     messageOf<KernelError>([&] { eval(empty).interpret(a); }),
                                     messageOf<KernelError>([&] { eval(none).tune(a); })})
    CHECK(contains(message, "the function pointer is null or the std::function empty"));
}

}  // namespace doors_tests
