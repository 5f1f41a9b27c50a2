// SPDX-License-Identifier: Apache-2.0

// Headers that programs include besides the library: functions that a wrong call could be meant
// for, whose candidates then make messages long.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "hpl/hpl.h"
#include "stencil_templates/stencil_templates.h"
