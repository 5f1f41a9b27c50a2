# SPDX-License-Identifier: Apache-2.0
"""Runs every sample with arguments that make no sense, and with files that are none.

Usage: hostile_arguments.py FOLDER_OF_PROGRAMS [PROGRAM...]

Every run must end by itself, within two minutes and in less than a gigabyte, with a sentence on stderr
and an exit code that is neither 0 nor a signal's. --help must end with 0 and say something.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time

# Values that are no numbers, and numbers that an option does not take.
HUGE = "99999999999999999999"
NO_NUMBERS = ["", "nan", "-nan", "inf", "-inf", "1e999", "x", "1x", "--", "0x"]
NO_COUNTS = NO_NUMBERS + [HUGE, "-1", "1.5", "nan(7)"]
NO_POSITIVE = NO_COUNTS + ["0"]

# Per program: options and the values that each must refuse. None: the argument without a name.
DEVICES = {"--devices": NO_POSITIVE, "--weights": NO_NUMBERS + ["0", "-1", "1,", ",", "1,nan", "1,-1", "1,0"],
           "-n": NO_COUNTS,
           "--device": ["", "x", "-1", "99", "1x", "99999999999999999999"]}
SIZES = NO_POSITIVE + ["1", "100000000", "10x", "x10", "10x10x10", "10x0", "-5x5", "1000000000x1000000000"]
TABLE = {
    "saxpy": {None: NO_POSITIVE + ["3", "2000000000"]},
    "matmul": {None: NO_POSITIVE + ["17", "48", "2000000000", "-32"]},
    "reduction": {None: NO_POSITIVE + ["1000", "63", "2000000000", "-64"]},
    "native_kernel": {},
    "pattern_kernel": {"--name": [""]},
    "mandelbrot": {"--width": NO_POSITIVE + ["30001"], "--height": NO_POSITIVE + ["30001"],
                   "--x": NO_NUMBERS + [HUGE], "--y": NO_NUMBERS + [HUGE],
                   "--across": NO_NUMBERS + [HUGE, "0", "-1"],
                   "-n": NO_POSITIVE + ["60001"], "--png": [""], "--device": DEVICES["--device"]},
    "heat2d": {"--size": NO_POSITIVE + ["2", "32769"], "-n": NO_COUNTS, "--time-tile": NO_COUNTS,
               "--devices": NO_POSITIVE + ["1025"], "--png": [""], "--device": DEVICES["--device"]},
    "epsilod": {"--size": SIZES[1:] + ["4"], "-n": NO_COUNTS, "--stencil": ["", "2d7", "/"],
                "--kernel": ["", "x"], "--blocks": ["", "2", "x2", "2x", "0x1", "2x2x2", "-1x1", "3x1"],
                "--weights": NO_NUMBERS + ["0", "-1", "1,", ",", "1,nan", "1,1,1,1,1,1,1"], "--png": [""],
                "--csv": [""], "--devices": NO_POSITIVE + ["1025"], "--device": DEVICES["--device"]},
    "fdtd2d": {"--size": NO_POSITIVE + ["7", "16385"], "-n": NO_POSITIVE, "--time-tile": NO_COUNTS,
               "--devices": NO_POSITIVE + ["1025"], "--png": [""], "--device": DEVICES["--device"]},
    "acoustic": {"--size": NO_POSITIVE + ["63", "16385"], "-n": NO_POSITIVE,
                 "--drift": NO_NUMBERS + [HUGE, "11"], "--time-tile": NO_COUNTS,
                 "--devices": NO_POSITIVE + ["1025"], "--png": [""], "--traces": [""],
                 "--device": DEVICES["--device"]},
    "cg": {"--size": NO_POSITIVE + ["7", "4097"], "-n": NO_POSITIVE,
           "--tolerance": NO_NUMBERS + ["0", "-1", "1e-15", "0.2"], "--png": [""], "--device": DEVICES["--device"]},
    "grayscott": {"--size": NO_POSITIVE + ["2", "16385"], "-n": NO_COUNTS, "--pattern": ["", "nan", "x"],
                  "--png": [""], "--device": DEVICES["--device"]},
    "ising": {"--size": NO_POSITIVE + ["1", "17", "16385"], "-n": NO_COUNTS,
              "--temperature": NO_NUMBERS + [HUGE, "0", "-1"], "--seed": ["", "nan", "x", "-1", "1.5"],
              "--devices": NO_POSITIVE + ["1025"],
              "--png": [""], "--device": DEVICES["--device"]},
    "kmeans": {"--size": NO_POSITIVE + ["7", "3001"], "-n": NO_POSITIVE, "--colours": NO_POSITIVE + ["65"],
               "--input": [""], "--png": [""], "--device": DEVICES["--device"]},
    "lbm": {"--size": NO_POSITIVE + ["15", "4097"], "-n": NO_COUNTS,
            "--reynolds": NO_NUMBERS + [HUGE, "0", "-1"], "--devices": NO_POSITIVE + ["1025"],
            "--png": [""], "--device": DEVICES["--device"]},
    "multigrid": {"--size": NO_POSITIVE + ["1", "24", "16384"], "-n": NO_POSITIVE + ["1001"],
                  "--devices": NO_POSITIVE + ["1025"],
                  "--png": [""], "--device": DEVICES["--device"]},
    "nbody": {"--bodies": NO_POSITIVE + ["63", "100", "1048577"], "-n": NO_COUNTS,
              "--dt": NO_NUMBERS + [HUGE, "0", "-1"], "--png": [""], "--device": DEVICES["--device"]},
    "canny": {"--size": SIZES, "--low": NO_POSITIVE, "--high": NO_POSITIVE, "--png": [""],
              "--input": [""], **DEVICES},
    "gauss": {"--size": SIZES, "--sigma": NO_NUMBERS + [HUGE, "0", "-1", "1e9"], "--png": [""],
              "--input": [""], **DEVICES},
    "jacobi3d": {"--size": SIZES, "--points": NO_POSITIVE + ["8"], "--boundary": ["", "x"],
                 "--tolerance": NO_NUMBERS + ["-1"], "--every": NO_POSITIVE, "--png": [""],
                 **DEVICES},
    "shwa": {"--size": SIZES, "--scenario": ["", "x"], "--courant": NO_NUMBERS + [HUGE, "0", "-1", "1"],
             "--every": NO_POSITIVE, "--delay": NO_POSITIVE + ["65536"], "--png": [""], "--gif": [""],
             **DEVICES},
    "life": {"--size": NO_POSITIVE + ["100001"], "--width": NO_POSITIVE, "--height": NO_POSITIVE,
             "--random": NO_NUMBERS + [HUGE, "-0.1", "1.1"], "--seed": ["", "nan", "x", "-1"],
             "--rule": ["", "nan", "B9", "B3", ":T5", "B3/S23:T", "B3/S23:T-1,5"],
             "--edges": ["", "x"], "--every": NO_POSITIVE, "--delay": NO_POSITIVE + ["65536"],
             "--cell": NO_POSITIVE + ["65"], "--block": NO_POSITIVE + ["4097"],
             "--pattern": ["", "nonesuch", "/nonesuch/x.rle"], "--png": [""], "--gif": [""],
             **DEVICES},
}
# A second option makes these small when a value is accepted by mistake.
SMALL = {"saxpy": [], "matmul": [], "reduction": [], "native_kernel": [], "pattern_kernel": [],
         "mandelbrot": ["--width", "8", "--height", "8"], "heat2d": ["--size", "16", "-n", "1"],
         "acoustic": ["--size", "64", "-n", "1"],
         "cg": ["--size", "8", "-n", "1"], "grayscott": ["--size", "16", "-n", "1"],
         "ising": ["--size", "16", "-n", "1"], "kmeans": ["--size", "8", "-n", "1"],
         "lbm": ["--size", "16", "-n", "1"], "multigrid": ["--size", "8", "-n", "1"],
         "nbody": ["--bodies", "64", "-n", "1"],
         "epsilod": ["--size", "16", "-n", "1"],
         "fdtd2d": ["--size", "16", "-n", "1"], "canny": ["--size", "16"], "gauss": ["--size", "16"],
         "jacobi3d": ["--size", "8", "-n", "1"], "shwa": ["--size", "16", "-n", "1"],
         "life": ["-n", "1"]}

# Programs that read a file, and the option that names it; then those that write one.
READERS = {"epsilod": ["--stencil"], "canny": ["--input"], "gauss": ["--input"], "kmeans": ["--input"], "life": ["--pattern"], "pattern_kernel": []}
WRITERS = {"acoustic": ["--png"], "epsilod": ["--png"], "cg": ["--png"], "grayscott": ["--png"], "ising": ["--png"], "kmeans": ["--png"],
           "lbm": ["--png"], "multigrid": ["--png"], "nbody": ["--png"], "mandelbrot": ["--png"], "heat2d": ["--png"], "canny": ["--png"], "life": ["--gif"],
           "shwa": ["--gif"]}


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def run(program, arguments):
    """Exit code, stdout, stderr and largest memory in bytes of one run."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([program] + arguments, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err, preexec_fn=limit)
        end = time.monotonic() + 120
        while True:
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > end:
                child.kill()
                os.wait4(child.pid, 0)
                return None, "", "", 0
            time.sleep(0.002)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return (child.returncode, out.read().decode(errors="replace"),
                err.read().decode(errors="replace"), usage.ru_maxrss * 1024)


class Sweep:
    def __init__(self, folder):
        self.folder = folder
        self.runs = 0
        self.failures = []

    def fail(self, name, arguments, why):
        self.failures.append(f"{name} {' '.join(map(repr, arguments))}: {why}")

    def refused(self, name, arguments, mentions=""):
        code, _, errors, memory = run(os.path.join(self.folder, name), arguments)
        self.runs += 1
        if code is None:
            self.fail(name, arguments, "did not end")
        elif code <= 0:
            self.fail(name, arguments, f"exit code {code}; {errors[:200]}")
        elif not errors.strip() or "terminate called" in errors or "bad_alloc" in errors:
            self.fail(name, arguments, f"says {errors[:200]!r}")
        elif mentions not in errors:
            self.fail(name, arguments, f"does not mention {mentions!r}: {errors[:300]!r}")
        elif memory > 1 << 30:
            self.fail(name, arguments, f"took {memory >> 20} MiB")

    def helps(self, name):
        code, out, errors, _ = run(os.path.join(self.folder, name), ["--help"])
        self.runs += 1
        if code != 0 or not out.strip() or errors:
            self.fail(name, ["--help"], f"exit code {code}, {out[:80]!r}, {errors[:200]!r}")


def strange_files(folder):
    """Files that are none, with what the message must mention besides their name."""
    def path(name):
        return os.path.join(folder, name)
    os.mkfifo(path("pipe"))
    os.mkdir(path("directory"))
    open(path("empty"), "w").close()
    with open(path("garbage"), "wb") as file:
        file.write(bytes(range(256)) * 16)
    with open(path("rows0.pgm"), "wb") as file:
        file.write(b"P5 10 0 255\n")
    with open(path("huge.pgm"), "wb") as file:
        file.write(b"P5 1000000 1000000 255\n")
    with open(path("huge.rle"), "w") as file:
        file.write("x = 1000000000, y = 1000000000\no!\n")
    with open(path("board.rle"), "w") as file:
        file.write("x = 1, y = 1, rule = B3/S23:T1000000000\no!\n")
    with open(path("wide.rle"), "w") as file:
        file.write("x = 90000, y = 90000\no!\n")
    return [path(name) for name in ("pipe", "directory", "empty", "garbage", "rows0.pgm", "huge.pgm",
                                    "huge.rle", "board.rle", "wide.rle", "nonesuch.rle")] + ["/dev/zero"]


def main():
    sweep = Sweep(sys.argv[1])
    wanted = sys.argv[2:] or list(TABLE)
    for name, options in TABLE.items():
        if name not in wanted:
            continue
        sweep.helps(name)
        for option, values in options.items():
            for value in values:
                # As one word, so that a value that begins with "-" is taken for one.
                named = [value] if option is None else (
                    [f"{option}={value}"] if option.startswith("--") and value else [option, value])
                size = [word for pair in zip(*[iter(SMALL[name])] * 2) if option not in pair
                        and not (name == "life" and option == "-n") for word in pair]
                sweep.refused(name, size + named)
        if options:
            sweep.refused(name, ["--nonesuch"])
            sweep.refused(name, ["--png"] if "--png" in options else ["a", "b"])
    with tempfile.TemporaryDirectory() as folder:
        for file in strange_files(folder):
            for name, option in READERS.items():
                if name in wanted:
                    sweep.refused(name, option + [file], os.path.basename(file))
        for name, option in WRITERS.items():
            if name not in wanted:
                continue
            for file in (os.path.join(folder, "pipe"), os.path.join(folder, "directory"),
                         "/nonesuch/file", "/dev/full"):
                sweep.refused(name, SMALL[name] + option + [file], file)
    for failure in sweep.failures:
        print(failure)
    print(f"{sweep.runs} runs, {len(sweep.failures)} failures")
    return 1 if sweep.failures or sweep.runs < 20 * len(wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
