// SPDX-License-Identifier: Apache-2.0
#pragma once

// hpl::mpi: the same program on several nodes. A library of its own: link hpl::mpi.

#include "hpl/mpi/session.h"
