// SPDX-License-Identifier: Apache-2.0
// What belongs to the host and stands in a kernel, and functors that look at variables of the host.
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "tests/messages.h"

namespace inside_kernel_tests {

using namespace hpl;

namespace {

using hpl_tests::contains;
using hpl_tests::messageOf;

void addOne(Array<float, 1> a) { a[idx] += 1.0f; }

/// The message of a kernel that does `action` to the host while it is recorded.
template <class Action>
std::string inKernel(const Action& action) {
  Array<float, 1> a(8);
  a = 0.0f;
  const std::string message = messageOf<KernelError>([&] {
    eval([&action](Array<float, 1> x) {
      x[idx] = 1.0f;
      action();
    })(a);
  });
  CHECK(a(0).value() == 0.0f);
  return message;
}

float valueOf(const Array<float, 1>& a) { return static_cast<float>(a(0)); }

struct Simulation {
  float step = 1.0f;
  void fill(Array<float, 1>& a) const {
    eval([this](Array<float, 1> x) { x[idx] = step; })(a);
  }
};

struct WithReference {
  const float& value;
  void operator()(Array<float, 1> x) const { x[idx] = value; }
};

struct WithPointer {
  int before;
  const float* value;
  void operator()(Array<float, 1> x) const { x[idx] = *value + static_cast<float>(before); }
};

Float doubled(Float v) { return v + v; }
Float squared(Float v) { return v * v; }

struct WithFunction {
  Float (*function)(Float);
  double scale;
  void operator()(Array<float, 1> x) const {
    x[idx] = function(x[idx]) * static_cast<float>(scale);
  }
};

float frozenGlobal = 1.0f;

}  // namespace

TEST_CASE("launches inside a kernel are errors, whichever way they are made") {
  Array<float, 1> host(8);
  host = 0.0f;
  FRunner runner = eval(addOne)(host);
  const std::string message = inKernel([&] { eval(addOne)(host); });
  CHECK_MESSAGE(
      contains(message, "eval(f)(arguments) stands inside kernel 'inside_kernel_tests.cpp:31'"),
      message);
  CHECK_MESSAGE(contains(message,
                         "would happen once, while the kernel is recorded, and not when it "
                         "runs; do it before or after the launch of the kernel"),
                message);
  CHECK(contains(inKernel([&] { reeval(addOne)(host); }), "eval(f)(arguments) stands inside"));
  CHECK(contains(inKernel([&] { runner.run(); }), "FRunner::run() stands inside"));
  CHECK(contains(inKernel([&] { eval(addOne).interpret(host); }), "interpret(arguments) stands"));
  CHECK(contains(inKernel([&] { eval(addOne).tune(host); }), "tune(arguments) stands inside"));
  CHECK(contains(inKernel([&] { eval(addOne)(PART1(host)); }), "eval(f)(arguments) stands inside"));
  CHECK(host(3).value() == 1.0f);
}

TEST_CASE("a kernel that launches itself is an error, not a deadlock") {
  static Array<float, 1>* other = nullptr;
  Array<float, 1> mine(4);
  other = &mine;
  struct Recursive {
    static void kernel(Array<float, 1> a) {
      a[idx] = 1.0f;
      eval(kernel)(*other);
    }
  };
  Array<float, 1> a(4);
  CHECK(contains(messageOf<KernelError>([&] { eval(Recursive::kernel)(a); }),
                 "eval(f)(arguments) stands inside kernel '"));
}

TEST_CASE("assignments to host arrays and exchanges inside a kernel are errors") {
  Array<float, 1> host(8), other(8);
  host = 2.0f;
  other = 3.0f;
  CHECK(contains(inKernel([&] { host = 1.0f; }), "an assignment to a host array stands inside"));
  CHECK(contains(inKernel([&] { host = other; }), "an assignment to a host array stands inside"));
  CHECK(contains(inKernel([&] { host(Range(0, 3)) = 1.0f; }), "an assignment to a host array"));
  CHECK(contains(inKernel([&] { host(Range(0, 3)) = other(Range(0, 3)); }), "an assignment"));
  CHECK(contains(inKernel([&] { host.syncGhosts(); }), "syncGhosts() stands inside"));
  CHECK(host(0).value() == 2.0f);
}

TEST_CASE("elements of host arrays that a kernel reads become constants") {
  Array<float, 1> table(4), a(8);
  for (int i = 0; i < 4; ++i) table(i) = static_cast<float>(i + 1);
  eval([&table](Array<float, 1> x) {
    x[idx] = table(1) + table.data(HPL_RD)[3];
    const Array<float, 1>& constant = table;
    x[idx] += constant(0);
  })(a);
  CHECK(a(7).value() == 7.0f);
}

TEST_CASE("lambdas see the present values of what they captured by reference") {
  Array<float, 1> a(8);
  float k = 1.0f;
  int n = 2;
  const auto kernel = [&k, &n](Array<float, 1> x) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += k;
    x[idx] = sum;
  };
  eval(kernel)(a);
  CHECK(valueOf(a) == 2.0f);
  k = 5.0f;
  eval(kernel)(a);
  CHECK(valueOf(a) == 10.0f);
  n = 3;
  eval(kernel)(a);
  CHECK(valueOf(a) == 15.0f);
  for (int step = 0; step < 4; ++step) {
    eval([&](Array<float, 1> x) { x[idx] = static_cast<float>(step); })(a);
    CHECK(valueOf(a) == static_cast<float>(step));
  }
}

TEST_CASE("so do functors with references, pointers to the heap, and lambdas that captured this") {
  Array<float, 1> a(8);
  Simulation simulation;
  auto onHeap = std::make_unique<float>(1.0f);
  static float inData = 1.0f;
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    simulation.step = value;
    simulation.fill(a);
    CHECK(valueOf(a) == value);
    *onHeap = value;
    eval(WithReference{*onHeap})(a);
    CHECK(valueOf(a) == value);
    eval(WithPointer{10, onHeap.get()})(a);
    CHECK(valueOf(a) == 10.0f + value);
    inData = value;
    eval(WithPointer{20, &inData})(a);
    CHECK(valueOf(a) == 20.0f + value);
  }
}

TEST_CASE("functors of values are recorded once for each value, and so are those of functions") {
  const auto entry = [](const auto& f) { return launch::entryOf(f).entry; };
  const auto withValue = [](float k, double d, std::size_t n) {
    return [k, d, n](Array<float, 1> x) {
      x[idx] = k + static_cast<float>(d) + static_cast<float>(n);
    };
  };
  CHECK(entry(withValue(1.0f, 2.0, 3)) == entry(withValue(1.0f, 2.0, 3)));
  CHECK(entry(withValue(1.0f, 2.0, 3)) != entry(withValue(2.0f, 2.0, 3)));
  CHECK(entry(withValue(1.0f, 2.5, 3)) != entry(withValue(1.0f, 2.0, 3)));
  CHECK(entry(WithFunction{doubled, 0.5}) == entry(WithFunction{doubled, 0.5}));
  CHECK(entry(WithFunction{doubled, 0.5}) != entry(WithFunction{squared, 0.5}));
  const NativeFunction<Float(Float)> half("half_of_it",
                                          "float half_of_it(float x) { return x / 2; }");
  const auto calling = [half](Array<float, 1> x) { x[idx] = half(x[idx]); };
  CHECK(entry(calling) == entry(calling));
  const char* const text = "constant";
  const auto labelled = [text](Array<float, 1> x) {
    Float v(1.0f);
    v.label(text);
    x[idx] = v;
  };
  CHECK(entry(labelled) == entry(labelled));
  float k = 1.0f;
  const auto byReference = [&k](Array<float, 1> x) { x[idx] = k; };
  const auto first = launch::entryOf(byReference);
  CHECK(first.entry != launch::entryOf(byReference).entry);

  Array<float, 1> a(4);
  a = 3.0f;
  eval(WithFunction{doubled, 0.5})(a);
  CHECK(valueOf(a) == 3.0f);
  eval(WithFunction{squared, 2.0})(a);
  CHECK(valueOf(a) == 18.0f);
}

TEST_CASE("values of globals stay frozen until reeval, as documented") {
  Array<float, 1> a(4);
  const auto kernel = [](Array<float, 1> x) { x[idx] = frozenGlobal; };
  frozenGlobal = 1.0f;
  eval(kernel)(a);
  frozenGlobal = 2.0f;
  eval(kernel)(a);
  CHECK(valueOf(a) == 1.0f);
  reeval(kernel)(a);
  CHECK(valueOf(a) == 2.0f);
}

}  // namespace inside_kernel_tests
