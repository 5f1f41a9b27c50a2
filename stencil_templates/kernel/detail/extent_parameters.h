// SPDX-License-Identifier: Apache-2.0
#pragma once

// The extents of each rank, as template parameters and as template arguments, in the order of the
// paper.
#define HPL_EXTENT_PARAMETERS_1 int Left, int Right
#define HPL_EXTENT_PARAMETERS_2 int Up, int Down, int Left, int Right
#define HPL_EXTENT_PARAMETERS_3 int Front, int Back, int Up, int Down, int Left, int Right
#define HPL_EXTENTS_1 Left, Right
#define HPL_EXTENTS_2 Up, Down, Left, Right
#define HPL_EXTENTS_3 Front, Back, Up, Down, Left, Right
