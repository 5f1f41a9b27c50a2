// SPDX-License-Identifier: Apache-2.0
// Requests are laid out without a launch: what comes back is a compiled kernel, and no array was
// touched.
#include "hpl/layout/layout.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "hpl/error.h"
#include "hpl/hpl.h"
#include "hpl/launch/detail/kernel_entry.h"
#include "hpl/memory/root.h"
#include "hpl/runtime/device_state.h"
#include "hpl/runtime/settings.h"
#include "tests/messages.h"

namespace layout_tests {

namespace {

using namespace hpl;
using hpl_tests::contains;
using hpl_tests::messageOf;
using Grid = Array<float, 2>;
using Kind = codegen::Slot::Kind;

void blur(Grid out, const Grid& in, Float weight) {
  if_(idx > 0 && idx + 1 < szx) {
    out[idy][idx] = weight * (in[idy][idx - 1] + in[idy][idx + 1]);
  }
}
void beyond(Grid out, const Grid& in) { out[idy][idx] = in[idy][idx + 1]; }
void transpose(Grid out, const Grid& in) { out[idy][idx] = in[idx][idy]; }
void transposeOut(Grid out, const Grid& in) { out[idx][idy] = in[idy][idx]; }
void scaled(InOut<Grid> /*a*/, Float /*factor*/) {}

/// A request of a kernel on the default device.
template <class F>
layout::LaunchRequest requestFor(F kernel, const std::vector<launch::Argument>& arguments) {
  layout::LaunchRequest request;
  request.device = &defaultDevice().state();
  request.version = launch::entryOf<F>(kernel).entry->version(*request.device, {});
  request.arguments = arguments;
  request.fp = STRICT;
  return request;
}

std::size_t product(const std::size_t* sizes) { return sizes[0] * sizes[1] * sizes[2]; }

}  // namespace

TEST_CASE("a laid-out kernel is compiled, and its slots name every argument") {
  Grid out(40, 30), in(40, 30);
  const std::vector<launch::Argument> arguments{launch::makeArgument(out), launch::makeArgument(in),
                                                launch::makeArgument(0.5f)};
  const layout::LaidOut laidOut = layout::layOut(requestFor(&blur, arguments));
  REQUIRE(laidOut.program != nullptr);
  CHECK(laidOut.kernel() != nullptr);
  CHECK(laidOut.shape.dims == 2);
  CHECK(laidOut.shape.size[0] == 30);
  CHECK(laidOut.shape.size[1] == 40);
  std::vector<int> buffers;
  bool hasWeight = false;
  for (const codegen::Slot& slot : laidOut.emitted.slots) {
    if (slot.kind == Kind::Buffer) buffers.push_back(slot.param);
    hasWeight = hasWeight || (slot.kind == Kind::Scalar && slot.param == 2);
  }
  CHECK(buffers == std::vector<int>{0, 1});
  CHECK(hasWeight);
  CHECK(contains(laidOut.emitted.source, laidOut.emitted.name));
  CHECK(!laidOut.layout.choice.empty());
}

TEST_CASE("laying out touches no array and launches nothing") {
  Grid out(16, 16), in(16, 16);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      in(i, j) = static_cast<float>(i * j);
      out(i, j) = -1.0f;
    }
  const std::vector<launch::Argument> arguments{launch::makeArgument(out), launch::makeArgument(in),
                                                launch::makeArgument(0.5f)};
  const auto epochs = [&] {
    return std::vector<std::uint64_t>{arguments[0].view->root().epoch(),
                                      arguments[1].view->root().epoch()};
  };
  const auto before = epochs();
  for (int n = 0; n < 3; ++n) static_cast<void>(layout::layOut(requestFor(&blur, arguments)));
  CHECK(epochs() == before);
  CHECK(out(3, 4) == -1.0f);
}

TEST_CASE("a transposition runs in squares on a CPU, which use the lines of both arrays whole") {
  if (defaultDevice().type() != CPU) return;
  Grid out(160, 96), in(96, 160);
  for (const auto& [kernel, to, from] :
       {std::tuple{&transpose, &out, &in}, std::tuple{&transposeOut, &in, &out}}) {
    const std::vector<launch::Argument> arguments{launch::makeArgument(*to),
                                                  launch::makeArgument(*from)};
    layout::LaunchRequest request = requestFor(kernel, arguments);
    request.domains.global = Domain(96, 160);
    const layout::Shape shape = layout::layOut(request).layout.shape;
    CHECK(shape.local[0] == 16);
    CHECK(shape.local[1] == 16);
    // Neighbours write side by side.
    CHECK(shape.axes[0] == (kernel == &transpose ? 0 : 1));
  }
}

TEST_CASE("the domains of random requests cover what was asked for, in groups that fit") {
  constexpr unsigned kSeed = 20261;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  const auto upTo = [&](int most) {
    return static_cast<std::size_t>(std::uniform_int_distribution<int>(1, most)(random));
  };
  const std::size_t limit = defaultDevice().getProperties().maxWorkGroupSize;
  for (int n = 0; n < 12; ++n) {
    const std::size_t rows = upTo(90), columns = upTo(200);
    Grid out(rows, columns), in(rows, columns);
    const std::vector<launch::Argument> arguments{
        launch::makeArgument(out), launch::makeArgument(in), launch::makeArgument(0.5f)};
    layout::LaunchRequest request = requestFor(&blur, arguments);
    const bool hasLocal = n % 2 == 0;
    if (hasLocal) request.domains.local = Domain(upTo(8), upTo(4));
    CAPTURE(rows);
    CAPTURE(columns);
    const layout::LaidOut laidOut = layout::layOut(request);
    const layout::Shape& shape = laidOut.shape;
    CHECK(shape.size[0] == columns);
    CHECK(shape.size[1] == rows);
    for (int d = 0; d < 3; ++d) {
      CHECK(shape.first[d] == 0);
      CHECK(shape.whole[d] == shape.size[d]);
      const layout::Shape& launched = laidOut.layout.shape;
      CHECK(launched.global[d] % launched.local[d] == 0);
      if (!laidOut.layout.isRewritten) CHECK(launched.global[d] >= shape.size[d]);
    }
    CHECK(product(laidOut.layout.shape.local) <= limit);
    if (hasLocal) {
      CHECK(!laidOut.layout.isRewritten);
      CHECK(laidOut.layout.shape.local[0] == request.domains.local.size[0]);
      CHECK(laidOut.layout.shape.local[1] == request.domains.local.size[1]);
    }
    // A value: the same request is laid out alike.
    const layout::LaidOut again = layout::layOut(request);
    CHECK(again.emitted.source == laidOut.emitted.source);
    CHECK(again.layout.hidden == laidOut.layout.hidden);
    CHECK(again.layout.choice == laidOut.layout.choice);
  }
}

TEST_CASE("a slice keeps its place in the whole domain") {
  Grid out(64, 32), in(64, 32);
  const std::vector<launch::Argument> arguments{launch::makeArgument(out), launch::makeArgument(in),
                                                launch::makeArgument(0.5f)};
  layout::LaunchRequest request = requestFor(&blur, arguments);
  request.domains.global = Domain(32, 16);
  request.slice = layout::SliceOfDomain{{0, 48, 0}, {32, 64, 1}};
  const layout::LaidOut laidOut = layout::layOut(request);
  CHECK(laidOut.shape.size[1] == 16);
  CHECK(laidOut.shape.first[1] == 48);
  CHECK(laidOut.shape.whole[1] == 64);
}

TEST_CASE("what is wrong with a request is said before anything is compiled") {
  Grid out(8, 8), in(8, 8);
  const std::vector<launch::Argument> two{launch::makeArgument(out), launch::makeArgument(in)};
  CHECK(contains(messageOf<ArgumentError>([&] { layout::layOut(requestFor(&blur, two)); }),
                 "takes 3 arguments, but 2 were given"));
  CHECK(contains(messageOf<LaunchError>([&] { layout::layOut(requestFor(&beyond, two)); }),
                 "outside of argument 2"));
  layout::LaunchRequest request = requestFor(&beyond, two);
  request.domains.global = Domain(7, 0);
  CHECK(contains(messageOf<LaunchError>([&] { layout::layOut(request); }),
                 "is empty in dimension 2"));
}

TEST_CASE("a variant that does not apply is refused, and the default one is the usual layout") {
  if (defaultDevice().type() != CPU || runtime::settings().strategy != runtime::Strategy::Auto)
    return;
  Grid out(40, 30), in(40, 30);
  const std::vector<launch::Argument> arguments{launch::makeArgument(out), launch::makeArgument(in),
                                                launch::makeArgument(0.5f)};
  layout::LaunchRequest request = requestFor(&blur, arguments);
  const layout::Variant usual;
  const layout::Variant direct{.strategy = runtime::Strategy::Direct};
  CHECK(!layout::layOut(request, &direct).layout.isRewritten);
  CHECK(layout::layOut(request, &usual).emitted.source == layout::layOut(request).emitted.source);
  request.domains.local = Domain(8, 2);
  const layout::Variant rows{.strategy = runtime::Strategy::Rows};
  CHECK(contains(messageOf<LaunchError>([&] { layout::layOut(request, &rows); }),
                 "cannot be laid out as asked: the launch chose its local domain"));
}

TEST_CASE("OpenCL C of the program is compiled as it is, with a slot for each parameter") {
  nativeHandle(&scaled, "scaled",
               "kernel void scaled(global float* a, float f) { a[get_global_id(0)] *= f; }");
  Grid a(8, 8);
  const std::vector<launch::Argument> arguments{launch::makeArgument(a),
                                                launch::makeArgument(2.0f)};
  const layout::LaidOut laidOut = layout::layOut(requestFor(&scaled, arguments));
  REQUIRE(laidOut.emitted.slots.size() == 2);
  CHECK(laidOut.emitted.slots[0].kind == Kind::Buffer);
  CHECK(laidOut.emitted.slots[1].kind == Kind::Scalar);
  CHECK(laidOut.layout.shape.global[0] % laidOut.layout.shape.local[0] == 0);
}

}  // namespace layout_tests
