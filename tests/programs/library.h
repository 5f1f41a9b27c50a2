// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "hpl/hpl.h"
#include "program.h"

/// The operations of random programs, as calls of the library.
namespace programs {

/// All devices that launches use.
std::vector<hpl::Device> allDevices();

template <int N>
hpl::Array<int, N>& viewOf(hpl::Array<int, N>& array, const Box& whole, const Box& box) {
  using hpl::Range;
  if (box == whole) return array;
  const auto range = [&](std::size_t d) { return Range(box.lo[d], box.hi[d] - 1); };
  if constexpr (N == 1) {
    return array(range(2));
  } else if constexpr (N == 2) {
    return array(range(1), range(2));
  } else {
    return array(range(0), range(1), range(2));
  }
}

template <int N>
auto element(hpl::Array<int, N>& array, const Point& p) -> decltype(auto) {
  if constexpr (N == 1) {
    return array(p[2]);
  } else if constexpr (N == 2) {
    return array(p[1], p[2]);
  } else {
    return array(p[0], p[1], p[2]);
  }
}

template <int N>
auto annotated(const hpl::Array<int, N>& a, const std::vector<Cut>& cuts, bool autoSync) {
  const hpl::SyncMode sync = autoSync ? hpl::AUTO_SYNC : hpl::MANUAL_SYNC;
  const auto dim = [&](std::size_t i) { return cuts[i].dim - (3 - N); };
  const auto r = [&](std::size_t i) { return cuts[i].before; };
  if (cuts.size() == 3) return hpl::PART123(a, r(0), r(1), r(2), sync);
  if (cuts.size() == 2) {
    if (dim(0) == 1) return hpl::PART23(a, r(0), r(1), sync);
    if (dim(1) == 1) return hpl::PART12(a, r(0), r(1), sync);
    return hpl::PART13(a, r(0), r(1), sync);
  }
  if (dim(0) == 0) return hpl::PART1(a, r(0), cuts[0].after, sync);
  if (dim(0) == 1) return hpl::PART2(a, r(0), cuts[0].after, sync);
  return hpl::PART3(a, r(0), cuts[0].after, sync);
}

/// Calls f with the argument that a scalar stands for.
template <int N, class F>
void withScalar(const Scalar& scalar, const hpl::Array<int, N>& out, F&& f) {
  if (scalar.extent > 0) {
    f(out.part(scalar.extent));
  } else if (!scalar.values.empty()) {
    f(scalar.values);
  } else {
    f(scalar.value);
  }
}

/// Sets devices and weights.
inline void choose(hpl::Launcher& launcher, const Op& op) {
  const std::vector<hpl::Device> all = allDevices();
  if (op.kind == Kind::OnOne) {
    launcher.device(all[static_cast<std::size_t>(op.devices.front())]);
    return;
  }
  if (op.listed) {
    std::vector<hpl::Device> list;
    for (const int i : op.devices) list.push_back(all[static_cast<std::size_t>(i)]);
    launcher.devices(list);
  } else {
    launcher.devices(static_cast<int>(op.devices.size()));
  }
  if (!op.weights.empty())
    launcher.weights(std::vector<double>(op.weights.begin(), op.weights.end()));
}

/// Launches the kernel of an operation. Out and In: arrays, views or annotated arrays.
template <int N, class Out, class In>
void launch(const Op& op, const hpl::Array<int, N>& shape, const Out& out, const In& in) {
  const hpl::Domain one = N == 1   ? hpl::Domain(1)
                          : N == 2 ? hpl::Domain(1, 1)
                                   : hpl::Domain(1, 1, 1);
  withScalar(op.c, shape, [&](const auto& c) {
    withScalar(op.d, shape, [&](const auto& d) {
      if (hasInput(op.work)) {
        hpl::Launcher launcher = hpl::eval(mappingKernel<N>(op.work));
        choose(launcher.local(one), op);
        launcher(out, in, c, d);
      } else {
        hpl::Launcher launcher = hpl::eval(inPlaceKernel<N>(op.work));
        choose(launcher.local(one), op);
        launcher(out, c, d);
      }
    });
  });
}

}  // namespace programs
