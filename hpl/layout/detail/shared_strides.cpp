// SPDX-License-Identifier: Apache-2.0
#include "hpl/layout/detail/shared_strides.h"

#include "hpl/memory/root.h"

namespace hpl::layout {
namespace {

bool isWhole(const Argument& argument) {
  return argument.kind == Argument::Kind::Array && argument.view == &argument.view->root().whole();
}

}  // namespace

std::vector<int> stridesShared(Arguments arguments) {
  std::vector<int> shared(arguments.size(), -1);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!isWhole(arguments[i])) continue;
    for (std::size_t j = 0; j < i && shared[i] < 0; ++j)
      if (isWhole(arguments[j]) && arguments[j].view->extents == arguments[i].view->extents)
        shared[i] = static_cast<int>(j);
  }
  return shared;
}

}  // namespace hpl::layout
