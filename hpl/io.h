// SPDX-License-Identifier: Apache-2.0
#pragma once

// hpl::io: arrays as files and pictures, and the progress of long loops. A library of its own: link
// hpl::io.

#include "hpl/io/color_map.h"
#include "hpl/io/file_error.h"
#include "hpl/io/gif.h"
#include "hpl/io/hdf5.h"
#include "hpl/io/image.h"
#include "hpl/io/npy.h"
#include "hpl/io/png.h"
#include "hpl/io/progress.h"
#include "hpl/io/raw.h"
#include "hpl/io/vti.h"
