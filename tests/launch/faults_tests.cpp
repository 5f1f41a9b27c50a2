// SPDX-License-Identifier: Apache-2.0
// What goes wrong at run time: accesses out of bounds, memory that runs out, several devices.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "hpl/runtime/settings.h"

using namespace hpl;

namespace {

void shiftLeft(Array<int, 1> out, const Array<int, 1>& in) { out[idx] = in[idx + 1]; }
void writeBelow(Array<int, 2> out) { out[idy - 1][idx] = 1; }
void addOne(Array<float, 1> a) { a[idx] += 1.0f; }

/// Changes settings for a scope.
class Override {
 public:
  template <class F>
  explicit Override(F change) : saved_(runtime::settings()) {
    runtime::Settings values = saved_;
    change(values);
    runtime::overrideSettings(values);
  }
  ~Override() { runtime::overrideSettings(saved_); }

 private:
  runtime::Settings saved_;
};

template <class E, class F>
std::string messageOf(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing thrown";
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("HPL_CHECK=bounds reports array, index, extent and line; the interpreter does too") {
  Array<int, 1> in(10), out(10);
  in.label("source");
  in = 3;
  out = 0;
  {
    const Override checked([](runtime::Settings& s) { s.checkBounds = true; });
    const std::string message = messageOf<BoundsError>([&] { eval(shiftLeft)(out, in); });
    INFO(message);
    CHECK(contains(message, "source"));
    CHECK(contains(message, "index 10"));
    CHECK(contains(message, "10"));
    CHECK(contains(message, "faults_tests.cpp:16"));
    CHECK_NOTHROW(eval(shiftLeft).global(9)(out, in));
    Array<int, 2> square(4, 4);
    square = 0;
    const std::string below = messageOf<BoundsError>([&] { eval(writeBelow)(square); });
    INFO(below);
    CHECK(contains(below, "index -1"));
  }
  CHECK(out(8).value() == 3);
  const std::string interpreted =
      messageOf<BoundsError>([&] { eval(shiftLeft).interpret(out, in); });
  INFO(interpreted);
  CHECK(contains(interpreted, "source"));
  CHECK(contains(interpreted, "faults_tests.cpp:16"));
}

TEST_CASE("a device that is full evicts clean arrays, then says which arrays fill it") {
  const Override limited([](runtime::Settings& s) {
    s.deviceMemory = 4u << 20;
    s.zeroCopy = runtime::ZeroCopy::Off;
  });
  constexpr int kElements = 1 << 18;
  std::vector<std::unique_ptr<Array<float, 1>>> arrays;
  for (int i = 0; i < 10; ++i) {
    arrays.push_back(std::make_unique<Array<float, 1>>(kElements));
    *arrays.back() = static_cast<float>(i);
    eval(addOne)(*arrays.back());
  }
  for (int i = 0; i < 10; ++i) {
    INFO("array " << i);
    CHECK((*arrays[static_cast<std::size_t>(i)])(kElements - 1).value() == static_cast<float>(i + 1));
  }
}

TEST_CASE("a kernel operator outside of a kernel is refused") {
  Array<int, 1> a(4);
  CHECK(contains(messageOf<KernelError>([&] { (void)(idx + 1); }), "outside of a kernel"));
  CHECK(contains(messageOf<KernelError>([&] { a[0] = 1; }), "outside of a kernel"));
}

TEST_CASE("misuse inside kernels says what to do instead") {
  Array<int, 1> a(4), other(4);
  other.label("other");
  other = 1;
  const auto messageIn = [&](auto kernel) {
    return messageOf<KernelError>([&] { eval(kernel)(a); });
  };
  CHECK(contains(messageIn([](Array<int, 1> x) { x(0) = 1; }), "host access"));
  CHECK(contains(messageIn([](Array<int, 1> x) { x.data(); }), "host access"));
  CHECK(contains(messageIn([](Array<int, 1> x) {
                   x[idx] = 0;
                   else_ { x[idx] = 1; }
                 }),
                 "else_"));
  CHECK(contains(messageIn([](Array<int, 1> x) {
                   x[idx] = 0;
                   break_;
                 }),
                 "break_ outside"));
  CHECK(contains(messageIn([](Array<int, 1>) { continue_; }), "continue_ outside"));
  CHECK(contains(messageIn([](Array<int, 1>) { return_(3); }), "call(f)"));
  CHECK(contains(messageIn([&other](Array<int, 1> x) { x[idx] = other[idx]; }), "other"));
  const Int hostScalar = 5;
  a = 0;
  eval([&hostScalar](Array<int, 1> x) { x[idx] = hostScalar; })(a);
  CHECK(a(3).value() == 5);
}
