// SPDX-License-Identifier: Apache-2.0
#include "hpl/launch/detail/shared_strides.h"

#include "hpl/memory/root.h"

namespace hpl::launch {
namespace {

bool isWhole(const Argument& argument) {
  return argument.kind == Argument::Kind::Array && argument.view == &argument.view->root().whole();
}

}  // namespace

std::vector<int> stridesShared(const Argument* arguments, std::size_t count) {
  std::vector<int> shared(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    if (!isWhole(arguments[i])) continue;
    for (std::size_t j = 0; j < i && shared[i] < 0; ++j)
      if (isWhole(arguments[j]) && arguments[j].view->extents == arguments[i].view->extents)
        shared[i] = static_cast<int>(j);
  }
  return shared;
}

}  // namespace hpl::launch
