// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace hpl::ranks {

/// Why a session is over.
struct Failure {
  /// Where it began; -1: the session has ended as it should.
  int rank = -1;
  std::string operation;
  std::string text;

  /// The RankError that says so.
  std::exception_ptr toException() const;
  [[noreturn]] void raise() const;
};

/// The failure of calls after a session's end.
Failure sessionEnded();

}  // namespace hpl::ranks
