# SPDX-License-Identifier: Apache-2.0
"""With HPL_OVERLAP=on an exchange begins before the interior has been computed, and says so.

Usage: check_borders_first.py BIN, the folder of the samples. Bands, time tiles and blocks run on
devices that have no common memory; the time stamps of their events, as HPL_TRACE writes them, are
compared. What is asserted is an order of events, never how long something takes.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Name: devices, pieces of each device's share, sample and arguments.
RUNS = {
    "bands": (2, 2, ["heat2d", "--size", "1200", "-n", "40", "--time-tile", "1"]),
    "time tiles": (2, 2, ["heat2d", "--size", "1200", "-n", "40", "--time-tile", "3"]),
    "blocks": (4, 3, ["epsilod", "--size", "600", "-n", "40", "--blocks", "2x2", "--no-progress"]),
}
FORCED = "borders first, in {} pieces: HPL_OVERLAP says so"
# Left to itself, the library judges copies of a CPU by whether each has a core.
JUDGED = "copies of a CPU wait about", "all cells at once: copies take a core from the kernel"


def run(folder: Path, devices: int, arguments: list[str], overlap: str) -> tuple[dict, str]:
    """The timeline of a run, by device: (kernels, begins of transfers); and what was explained."""
    trace = folder / "timeline.json"
    environment = dict(os.environ, HPL_OVERLAP=overlap, HPL_ZERO_COPY="off", HPL_EXPLAIN="1",
                       HPL_LOG="error", HPL_DEVICES=f"cpu:0*{devices}", HPL_TRACE=str(trace))
    ended = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=300)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} ended with {ended.returncode}:\n"
                         f"{ended.stdout}{ended.stderr}")
    kernels, transfers = collections.defaultdict(list), collections.defaultdict(list)
    for event in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]:
        if event.get("cat") == "kernel":
            kernels[event["pid"]].append((event["ts"], event["ts"] + event["dur"]))
        elif event.get("cat") == "device to device":
            transfers[event["pid"]].append(event["ts"])
    return {device: (sorted(spans), transfers[device]) for device, spans in kernels.items()}, ended.stderr


def count_early(kernels: list, transfers: list, pieces: int) -> int:
    """Launches during which a transfer began after the first border and before the interior's end."""
    early = 0
    for first in range(0, len(kernels), pieces):
        border, interior = kernels[first], kernels[first + pieces - 1]
        early += any(border[1] <= begin <= interior[1] for begin in transfers)
    return early


def check(name: str, bin_folder: Path, folder: Path) -> list[str]:
    devices, pieces, (sample, *arguments) = RUNS[name]
    command = [str(bin_folder / sample), *arguments, "--devices", str(devices)]
    whole, _ = run(folder, devices, command, "off")
    cut, explained_cut = run(folder, devices, command, "on")
    _, explained = run(folder, devices, command, "auto")
    errors = []
    if not any(reason in explained for reason in JUDGED):
        errors.append(f"{name}: HPL_EXPLAIN says none of {JUDGED}:\n{explained}")
    if FORCED.format(pieces) not in explained_cut:
        errors.append(f"{name}: HPL_EXPLAIN does not say '{FORCED.format(pieces)}':\n{explained_cut}")
    if len(cut) != devices:
        errors.append(f"{name}: {len(cut)} devices instead of {devices} ran kernels")
    for device, (kernels, transfers) in cut.items():
        launches = len(whole[device][0])
        if len(kernels) != pieces * launches:
            errors.append(f"{name}: device {device} ran {len(kernels)} kernels for {launches} launches "
                          f"in {pieces} pieces each")
            continue
        early = count_early(kernels, transfers, pieces)
        print(f"{name}, device {device}: in {early} of {launches} launches an exchange began before "
              "the interior ended")
        # The last launch of a run exchanges nothing, and a busy machine may hold back some others.
        if early < launches // 4:
            errors.append(f"{name}: on device {device} an exchange began before the interior ended in "
                          f"{early} of {launches} launches only")
    return errors


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        errors = [e for name in RUNS for e in check(name, Path(sys.argv[1]), Path(folder))]
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
