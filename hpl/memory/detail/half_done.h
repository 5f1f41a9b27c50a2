// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/error.h"

namespace hpl::memory::detail {

/// An operation of several commands failed after some of them had been given to the device: the
/// destination's cells are neither what they were nor what they should become. Nothing is under way
/// any more.
class HalfDoneError : public DeviceError {
 public:
  explicit HalfDoneError(const DeviceError& cause) : DeviceError(cause.what(), cause.code()) {}
};

/// Why cells are lost after such a failure (RootState::spoil).
inline constexpr const char* kHalfAssigned = "an assignment to them failed half-way";

}  // namespace hpl::memory::detail
