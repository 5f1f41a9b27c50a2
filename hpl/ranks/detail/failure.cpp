// SPDX-License-Identifier: Apache-2.0
#include "hpl/ranks/detail/failure.h"

#include <fmt/format.h>

#include "hpl/error.h"

namespace hpl::ranks {
namespace {

RankError errorOf(const Failure& failure) {
  if (failure.rank < 0) return RankError(failure.text, failure.rank, failure.operation);
  std::string message = fmt::format("Rank {} has failed", failure.rank);
  if (!failure.operation.empty()) message += fmt::format(" in its {}", failure.operation);
  return RankError(
      fmt::format("{}, and with it the session of all ranks: {}", message, failure.text),
      failure.rank, failure.operation);
}

}  // namespace

std::exception_ptr Failure::toException() const { return std::make_exception_ptr(errorOf(*this)); }

void Failure::raise() const { throw errorOf(*this); }

Failure sessionEnded() {
  return {-1, "",
          "The session of ranks has ended: arrays of several ranks are out of reach after it. "
          "Declare the Session before them, as the first line of main"};
}

}  // namespace hpl::ranks
