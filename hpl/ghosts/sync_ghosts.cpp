// SPDX-License-Identifier: Apache-2.0
#include "hpl/array/detail/array_base.h"
#include "hpl/memory/detail/execution.h"
#include "hpl/memory/detail/host_access.h"
#include "hpl/memory/root.h"

namespace hpl::detail {

void syncGhosts(memory::View& view) {
  refuseInKernel("syncGhosts()");
  memory::detail::requireReachable(view.root());
  memory::detail::Lock lock(memory::detail::coherenceMutex());
  memory::detail::exchangeGhosts(lock, view.root().state());
}

}  // namespace hpl::detail
