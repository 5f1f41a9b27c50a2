// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stand-ins for the OpenCL functions that the library calls. Each counts its calls and hands them
/// on to the loader; one of them can be made to fail. Compiled into the test program, and as a
/// shared library that LD_PRELOAD puts before any other program:
///
///     LD_PRELOAD=libhpl_opencl_faults.so HPL_FAULT=clFlush:3:-5 ./life
///
/// HPL_FAULT=function:use:code[:times] fails the calls from the use-th (counted from 1) on, once or
/// `times` times; a code above 0 is the signal that then ends the process. HPL_FAULT_COUNTS=1
/// prints at the end how often each function was called.
extern "C" {

/// Starts counting anew; from the use-th call of `function` on, `times` calls fail with `code`, or
/// the signal `code` is raised there. False: there is no stand-in of this name.
bool hpl_faults_arm(const char* function, long use, int code, long times);
/// No call fails any more. Returns how many have failed since the stand-ins were armed.
long hpl_faults_disarm();
/// Starts counting anew, without a fault.
void hpl_faults_reset();
/// Calls since counting began; -1 for a function without a stand-in.
long hpl_faults_calls(const char* function);
/// The names of the functions with a stand-in, by number; null behind the last one.
const char* hpl_faults_name(int number);
}
