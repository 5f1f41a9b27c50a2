// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hpl/io.h"

/// The parts of hpl::io that the samples use, under the samples' own name: pictures, animations,
/// progress.
namespace samples {

using hpl::io::Color;
using hpl::io::FileError;
using hpl::io::GifWriter;
using hpl::io::Image;
using hpl::io::Progress;
using hpl::io::writePng;

}  // namespace samples
