// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hpl::memory::detail {

/// Registers, once, what the engine does when the process ends while the drivers still work: user
/// memory is brought up to date and every buffer and event is given back, so that arrays with
/// static lifetime can die later without calling the driver.
void registerShutdown();

}  // namespace hpl::memory::detail
