// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl {

namespace memory {
class View;
}

namespace launch {

/// Stands, as an argument of a distributed launch, for the size of each device's part of an array;
/// made by Array::part().
struct PartExtent {
  memory::View* view;
  int dim;  ///< counted from 0
};

}  // namespace launch
}  // namespace hpl
