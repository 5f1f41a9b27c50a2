// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace hpl::ranks {

class Courier;

/// Courier::send() and receive(), and a wait for their end. Throw RankError.
void sendAndWait(Courier& courier, int to, std::span<const std::byte> bytes);
void receiveAndWait(Courier& courier, int from, std::span<std::byte> bytes);

}  // namespace hpl::ranks
