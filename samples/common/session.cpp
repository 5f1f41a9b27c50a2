// SPDX-License-Identifier: Apache-2.0
#include "samples/common/session.h"

#include <cstdio>
#include <stdexcept>

#include "hpl/hpl.h"
#ifdef HPL_SAMPLES_MPI
#include "hpl/mpi.h"
#endif

namespace samples {
namespace {

#ifdef HPL_SAMPLES_MPI
using LibrarySession = hpl::mpi::Session;
#else
using LibrarySession = hpl::ranks::Session;
#endif

constexpr const char* kNowhere = "/dev/null";

}  // namespace

Session::Session(int argc, char** argv) : session_(std::make_unique<LibrarySession>(argc, argv)) {
  if (!isFirst() && std::freopen(kNowhere, "w", stdout) == nullptr)
    throw std::runtime_error(std::string(kNowhere) + " cannot be opened");
}

Session::~Session() = default;

bool Session::isFirst() const { return session_->rank() == 0; }

std::string Session::file(const std::string& name) const {
  return isFirst() || name.empty() ? name : kNowhere;
}

}  // namespace samples
