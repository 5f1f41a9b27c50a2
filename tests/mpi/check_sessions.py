#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of several ranks as users do, and checks what it prints and how it ends.

Usage: check_sessions.py forked|mpirun|nodes|topology PROGRAM [MPIRUN [MPIRUN of another MPI]]. 77: skipped, with the reason.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
HERE = Path(__file__).resolve().parent
FAILED = "Rank 1 has failed"
LEFT = "it has left the session"
WITH_SESSION = "and with it the session of all ranks"

# what: (argument, ranks, parts of the output with how often each stands there, accepted exit codes)
COMMON = [
    ("all ranks begin and end", "hello", 1, {"rank 0 of 1 on node 0 of 1": 1}, [0]),
    ("all ranks begin and end", "hello", 3, {"of 3 on node 0 of 1": 3}, [0]),
    ("messages of any size arrive", "exchange", 3, {"exchanged": 3, "wrong": 0, "failed": 0}, [0]),
    ("a message that is too long is an error", "surplus", 2,
     {"where 500 were expected: the ranks do not do the same": 1}, [0]),
    ("devices are dealt to the ranks", "devices", 2,
     {"rank 0 sees 0* 0* 1 1": 1, "rank 1 sees 0 0 1* 1*": 1}, [0]),
    ("a second Session is refused", "twice", 2, {"This program has a Session already": None}, [3, 4]),
    ("a Session after the first use of a device is refused", "late", 2,
     {"make the session in the first line of main()": None}, [4]),
    ("a rank that fails is named to all", "fail", 3,
     {FAILED + " in its launch of 'heat', " + WITH_SESSION + ": the device is lost": 2, "(late)": 0}, [3]),
    ("a rank that returns from main is named to all", "return", 3, {FAILED: 2, LEFT: 2, "(late)": 0}, [3]),
    # MPICH's launcher joins the bits of all exit codes.
    ("a rank that exits is named to all", "exit", 3, {FAILED: 2, LEFT: 2, "(late)": 0}, [3, 5, 7]),
]
FORKED = COMMON + [
    ("what was printed before the fork is printed once", "hello", 4, {"before": 1}, [0]),
    ("a rank that is killed is named to all", "kill", 3,
     {FAILED: 2, "its process was killed by signal 9 (Killed)": 2, "(late)": 0,
      "rank 1 was killed by signal 9 (Killed)": 1}, [3]),
    ("an exception that nobody catches is named to all", "throw", 3,
     {FAILED + " in its main program": 2, "the shape is wrong": None}, [3]),
    ("only rank 0 reads the standard input", "input", 3, {"rank 1 reads -1": 1, "rank 2 reads -1": 1}, [0]),
    ("HPL_RANKS=mpi is refused where there is no MPI", "hello", "mpi",
     {"declare an hpl::mpi::Session and link hpl::mpi": 1}, [4]),
    ("the exit code is that of the first rank that failed", "code", 4, {}, [9]),
]
MPIRUN = COMMON + [
    ("a rank that is killed ends the job", "kill", 3, {}, None),
    ("an exception that nobody catches ends the job", "throw", 3, {"the shape is wrong": None}, None),
    ("MPI with too low a thread level is refused", "single", 2,
     {"but a thread of the Session calls MPI, too: call MPI_Init_thread": 2}, [4]),
    ("MPI of the program's own is used", "multiple", 2, {"of 2 on node 0 of 1": 2}, [0]),
    ("MPI that is over is refused", "finalized", 2, {"The program has finalised MPI": 2}, [4]),
]


class Launcher:
    """The mpirun of Open MPI or of MPICH: what each calls the same things."""

    def __init__(self, path):
        self.path = path
        version = subprocess.run([path, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.is_open_mpi = "Open MPI" in version.stdout or "OpenRTE" in version.stdout

    def start(self, ranks, *command, export=(), at=()):
        """`export`: variables, with new values or with those that they have; `at`: more options."""
        return [self.path, *at, *self.part(ranks, *command, export=export)]

    def part(self, ranks, *command, export=()):
        """The ranks of one command, of which a job may have several."""
        words = ["-n", str(ranks)]
        for variable in export:
            if self.is_open_mpi:
                words += ["-x", variable]
            elif "=" in variable:  # others are exported in any case
                words += ["-env", *variable.split("=", 1)]
        return [*words, *command]

    def on_fake_nodes(self):
        """Options: two ranks on n0, one on n1 and on n2 each."""
        agent = str(HERE / "fake_node.sh")
        if self.is_open_mpi:
            return ["--mca", "plm_rsh_agent", agent, "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_if_include", "lo",
                    "--host", "n0:2,n1:1,n2:1"]
        return ["-launcher", "ssh", "-launcher-exec", agent, "-iface", "lo", "-hosts", "n0:2,n1:1,n2:1"]


def environment(more):
    env = dict(os.environ, HPL_DEVICES="cpu:0*4", OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
               OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_hwloc_base_binding_policy="none",
               OMPI_MCA_btl_vader_single_copy_mechanism="none")
    return env | more


def run(command, more):
    begin = time.monotonic()
    try:
        done = subprocess.run(command, env=environment(more), stdin=subprocess.DEVNULL, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(), 60
    return done.returncode, done.stdout, time.monotonic() - begin


def problems(output, code, parts, codes, most=False):
    """`most`: the counts of `parts` are the highest that are right, and 1 is the lowest."""
    if code is None:
        yield "it hangs"
    elif codes is None and code == 0:
        yield "exit code 0"
    elif codes is not None and code not in codes:
        yield f"exit code {code} in place of {codes}"
    for part, count in parts.items():
        times = output.count(part)
        if times < (1 if count is None or (most and count > 0) else count) or (count is not None and times > count):
            yield f'"{part}" stands there {times} times in place of {"at least 1" if count is None else count}'


def check(name, command, more, parts, codes, most=False):
    code, output, seconds = run(command, more)
    found = list(problems(output, code, parts, codes, most))
    print(f"{'FAILED' if found else 'passed'} ({seconds:.1f} s): {name}: {' '.join(command)}", flush=True)
    for problem in found:
        print(f"  {problem}")
    if found:
        print("  " + output.replace("\n", "\n  "))
    return not found


def names_in(events):
    return [event["args"]["name"] for event in events if event["name"] == "process_name"]


OUTGOING, INCOMING = ("packing", "reading", "waiting", "sending"), ("receiving", "writing", "unpacking")


def phases_in(events):
    """From the host processes: for each message its rank, its name, its bytes and [(phase, begin, end)]."""
    hosts = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    messages, begun = {}, {}
    for event in events:
        if event.get("cat") != "message":
            continue
        if event["id"] not in messages:
            rank = int(hosts[event["pid"]].split(":")[0].split()[1])
            messages[event["id"]] = (rank, event["name"], event["args"]["bytes"], [])
        elif event["ph"] == "b":
            begun[event["id"]] = event["ts"]
        elif event["name"] != messages[event["id"]][1]:
            messages[event["id"]][3].append((event["name"], begun[event["id"]], event["ts"]))
    return list(messages.values())


def messages_in(events):
    """(sender, receiver) -> [(begin, end, bytes)] of sending and of receiving, in the order in which they
    began, in which MPI matches them. They may end in any other order."""
    sent, received = {}, {}
    for own, name, size, phases in phases_in(events):
        direction, _, peer = name.split()
        pair = (own, int(peer)) if direction == "to" else (int(peer), own)
        for phase, begin, end in phases:
            if phase in ("sending", "receiving"):
                (sent if phase == "sending" else received).setdefault(pair, []).append((begin, end, size))
    for table in (sent, received):
        for messages in table.values():
            messages.sort(key=lambda message: message[0])
    return sent, received


def wrong_phases(events, wanted):
    """Phases come one after another, in their order; those that are wanted are there."""
    seen = set()
    for _, name, _, phases in phases_in(events):
        order = OUTGOING if name.startswith("to") else INCOMING
        names = [phase[0] for phase in phases]
        if names != [phase for phase in order if phase in names]:
            yield f"{name}: phases {names}"
        seen.update(names)
        for (_, _, end), (_, begin, _) in zip(phases, phases[1:]):
            if end > begin + 0.001:
                yield f"{name}: {phases} overlap"
    if not seen.issuperset(wanted):
        yield f"messages have the phases {seen}, not {wanted}"


def wrong_timeline(file, ranks, slack, phases):
    """What is wrong with a joint timeline of the program's "steps"; `slack`: of the clocks, in us; `phases`:
    those that messages must have."""
    events = json.loads(file.read_text())["traceEvents"]
    names = names_in(events)
    for rank in range(ranks):
        if sum(name.startswith(f"rank {rank}") and name.endswith("host") for name in names) != 1:
            yield f"the hosts are {names}"
    if len(names) != len(set(names)) or len(names) < 2 * ranks:
        yield f"the processes are {names}"
    yield from wrong_phases(events, phases)
    sent, received = messages_in(events)
    if sorted(sent) != sorted(received) or len(sent) < 2 * (ranks - 1):
        yield f"messages between {sorted(sent)}, {sorted(received)}"
    for pair, outgoing in sent.items():
        incoming = received.get(pair, [])
        if [message[2] for message in outgoing] != [message[2] for message in incoming]:
            yield f"{pair}: {len(outgoing)} messages sent, {len(incoming)} received"
        for at, (there, here) in enumerate(zip(outgoing, incoming)):
            if here[1] < there[0] - slack:
                yield f"{pair}: message {at} was received {there[0] - here[1]} us before it was sent"
                break
    if not any(event.get("cat") == "kernel" for event in events):
        yield "no kernels"


def timelines(start, ranks, more, slack=0.01):
    """`start`: the command that starts this many ranks with "steps"."""
    phases = ("reading", "sending", "receiving", "writing")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        cell = {"a cell is 1": ranks}
        yield check("all ranks write one timeline", start, {"HPL_TRACE": str(file)} | more, cell, [0])
        found = sorted(path.name for path in Path(folder).iterdir())
        wrong = [f"files {found}"] if found != ["run.json"] else list(wrong_timeline(file, ranks, slack, phases))
        print("\n".join(f"FAILED: {problem}" for problem in wrong) or "passed: it is right")
        yield not wrong
        each = {"HPL_TRACE": str(Path(folder) / "each%r.json")} | more
        yield check("each rank writes a timeline", start, each, cell, [0])
        yield len(list(Path(folder).glob("each*.json"))) == ranks
        nowhere = {"HPL_TRACE": str(Path(folder) / "none" / "run.json")} | more
        yield check("a timeline that cannot be written is said once, and nothing is lost", start, nowhere,
                    cell | {"HPL_TRACE: the timeline cannot be written to": 1}, [0])


def packed(program):
    """Parts that are columns, gathered and scattered by kernels."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        yield check("packed messages have a timeline", [program, "columns"],
                    {"HPL_RANKS": "2", "HPL_PACK": "on", "HPL_TRACE": str(file)}, {"a cell is 1": 2}, [0])
        wrong = list(wrong_timeline(file, 2, 0.01, OUTGOING[:2] + OUTGOING[3:] + INCOMING))
        print("\n".join(f"FAILED: {problem}" for problem in wrong) or "passed: it has all phases")
        yield not wrong


def left_over():
    """Folders of compiled kernels whose process is gone."""
    for folder in Path("/dev/shm").glob("hpl-builds-*"):
        if not Path("/proc", folder.name.split("-")[2]).exists():
            yield folder.name


def forked(program):
    for name, what, ranks, parts, codes in FORKED:
        yield check(name, [program, what], {"HPL_RANKS": str(ranks)}, parts, codes)
        if what == "kill":
            left = list(left_over())
            print(f"FAILED: {left} are left over" if left else "passed: nothing is left in shared memory")
            yield not left
    yield from timelines([program, "steps"], 3, {"HPL_RANKS": "3"})
    yield from packed(program)


def without_mpi(program):
    """The program where the file of MPI's library is none; None: this machine cannot be made so."""
    linked = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    library = re.search(r"libmpi(ch)?\.so[.0-9]* => (\S+)", linked)[2]
    own = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--mount", "--user", "--map-root-user"]
    hide = [*own, "sh", "-c", f'mount --bind /dev/null {library} && exec "$@"', "sh"]
    return [*hide, program, "hello"] if run([*hide, "true"], {})[0] == 0 else None


def missing(program, launcher, other):
    command = without_mpi(program)
    if command is None:
        print("left out: this machine lets no process hide a file from itself")
    else:
        yield check("a program without MPI's library does not start", command, {"HPL_RANKS": "2"},
                    {"error while loading shared libraries": 1, "libmpi": None}, [127])
    if other:
        yield check("mpirun of another MPI is refused", Launcher(other).start(2, program, "hello"), {},
                    {"has started this program 2 times, but to MPI each is alone": 2,
                     "is linked to \"Open MPI" if launcher.is_open_mpi else "is linked to \"MPICH": 2}, [4], most=True)


def mpirun(program, path, other=""):
    launcher = Launcher(path)
    # When the first rank ends with an error, the launcher may end the others before they have said theirs.
    for name, what, ranks, parts, codes in MPIRUN:
        yield check(name, launcher.start(ranks, program, what), {}, parts, codes, most=codes != [0])
    yield from timelines(launcher.start(2, program, "steps", export=["HPL_TRACE"]), 2, {})
    yield check("HPL_RANKS is not used under mpirun", launcher.start(2, program, "hello"),
                {"HPL_RANKS": "5"}, {"of 2 on node 0 of 1": 2, "HPL_RANKS=5 is not used": 2}, [0])
    yield check("settings that differ are refused by all",
                [*launcher.start(1, program, export=["HPL_FP=fast"]), ":", *launcher.part(1, program)], {},
                {'HPL_FP is not the same on all ranks: "fast" on rank 0, "strict" on rank 1': 2}, [4], most=True)
    yield check("a device that is not there is the same error on all ranks",
                launcher.start(2, program), {"HPL_DEVICES": "cpu:7"},
                {'rank 0: HPL_DEVICES: "cpu:7" asks for device number 7': 2}, [4], most=True)
    yield check("forked ranks need no mpirun", [program, "exchange"], {"HPL_RANKS": "3"},
                {"exchanged": 3}, [0])
    yield from missing(program, launcher, other)


def topology(program, launcher):
    two = {"4 ranks on 1 node, 4 devices": 1, "rank 3": 1, "Paths between devices": 1}
    yield check("forked ranks and their devices", [program], {"HPL_RANKS": "4"}, two | {" window": 13}, [0])
    yield check("forked ranks that exchange messages", [program], {"HPL_RANKS": "4", "HPL_TRANSPORT": "-window"},
                two | {" message": 13}, [0])
    if len(os.sched_getaffinity(0)) > 1:
        yield check("ranks of half of the cores each", [program], {"HPL_RANKS": "2", "HPL_DEVICES": "cpu:0/2"},
                    {"[part 1/2]": 1, "[part 2/2]": 1, "warning": 0}, [0])
        kept = {"HPL_RANKS": "2", "HPL_DEVICES": "cpu:0*2", "HPL_LOG": "info"}
        if len(os.sched_getaffinity(0)) == os.cpu_count():
            yield check("ranks of half of the cores each keep to them", [program], kept,
                        {"this rank keeps to ": 2, "warning": 0}, [0])
        for off in ({"HPL_RANKS_BIND": "off"}, {"HPL_RANKS_WAIT": "spin"}):
            yield check("ranks that may run on all cores", [program], kept | off, {"keeps to": 0, "warning": 0}, [0])
        yield check("ranks that are bound to fewer cores than they have units", ["taskset", "-c", "0", program],
                    {"HPL_RANKS": "2", "HPL_DEVICES": "cpu:0*2"},
                    {"rank 0 may run on 1 core of its node": 1, "mpirun --bind-to none, or --map-by slot:PE=": 1}, [0])
    yield check("one process", [program, "--measure"], {}, {"1 rank on 1 node, 4 devices": 1}, [0])
    yield check("a wrong option", [program, "--what"], {}, {"The following argument was not expected: --what": 1}, [2])
    yield check("a domain that is none", [program, "--domain", "5x"], {},
                {"--domain 5x: one to three numbers of cells joined by x": 1, "1 rank on 1 node": 0}, [1])
    node = {"HPL_TOPOLOGY": str(HERE.parent / "topology" / "odd_node.xml")}
    yield check("the links of a topology file, and a placement", [program, "--domain", "400x40"], node,
                {"GB/s from row to column (HPL_TOPOLOGY=": 1, "    20.0": 2, "4 devices each as 4 x 1": 1,
                 "ms on its links as placed": 1, "at worst (": 1}, [0])
    yield check("the same on ranks", [program, "--domain", "400x40"], node | {"HPL_RANKS": "2"},
                {"    20.0": 2, "ms on its links as placed": 1}, [0])
    yield check("a topology that cannot be read is named by all ranks", [program], {"HPL_TOPOLOGY": "/no/node.xml", "HPL_RANKS": "2"},
                {"rank 0: HPL_TOPOLOGY: /no/node.xml: there is no such file to read": 2}, [1])
    with tempfile.TemporaryDirectory() as folder:
        machine = Path(folder) / "machine.json"
        device = {"count": 4, "kind": "gpu", "name": "planned", "memory_GiB": 16, "gflops": 1000, "bandwidth_GBs": 100,
                  "launch_us": 5}
        machine.write_text(json.dumps({"name": "planned", "nodes": [{"count": 3, "devices": [device]}],
                                       "links": {"host": {"bandwidth_GBs": 10, "latency_us": 5},
                                                 "node": {"bandwidth_GBs": 10, "latency_us": 5},
                                                 "network": {"bandwidth_GBs": 5, "latency_us": 5}}}))
        yield check("a placement on nodes that are only planned", [program, "--domain", "1200x40"],
                    node | {"HPL_DRY_RUN": str(machine)},
                    {"A dry run of 12 devices on 3 nodes": 1, "Links between the devices of node 2": 1,
                     "3 nodes as 3 x 1, 4 devices each as 4 x 1": 1, "ms on its links as placed": 3}, [0])
    yield check("a window where one is asked for", [program], {"HPL_TRANSPORT": "window", "HPL_RANKS": "2"}, {" window": 9}, [0])
    if launcher:
        yield check("ranks of mpirun, measured", Launcher(launcher).start(3, program, "--measure"), {},
                    {"3 ranks on 1 node, 4 devices": 1, "0 - 1:": 1, "1 - 2:": 1, "GB/s for 1 MiB": 3, " window": 11,
                     "Links between this process's devices, measured now": 1}, [0])


def nodes(program, path):
    code, output, _ = run([str(HERE / "fake_node.sh"), "n0", "hostname"], {})
    if code != 0:
        print(f"skipped: no fake nodes on this machine: {output.strip()}")
        sys.exit(SKIPPED)
    launcher = Launcher(path)
    at = launcher.on_fake_nodes()
    parts = {"rank 0 of 4 on node 0 of 3 (n0)": 1, "rank 1 of 4 on node 0 of 3 (n0)": 1,
             "rank 2 of 4 on node 1 of 3 (n1)": 1, "rank 3 of 4 on node 2 of 3 (n2)": 1}
    yield check("ranks on three nodes know where they are", launcher.start(4, program, "hello", at=at), {}, parts, [0])
    yield check("messages pass between nodes", launcher.start(4, program, "exchange", at=at), {}, {"exchanged": 4}, [0])
    yield check("each node's devices are dealt to its ranks", launcher.start(4, program, "devices", at=at), {},
                {"rank 1 sees 0 0 1* 1* 2 2 2 2 3 3 3 3": 1}, [0])
    for name, value in (("HPL_MESSAGES", "ranks"), ("HPL_MESSAGES", "nodes"), ("HPL_TRANSPORT", "-inplace")):
        yield check(f"blocks pass between nodes with {name}={value}",
                    launcher.start(4, program, "blocks", export=[name], at=at), {name: value},
                    {"blocks are right": 4, "wrong": 0, "share no memory": 0}, [0])
    # These nodes have clocks that are one, which their ranks do not know.
    yield from timelines(launcher.start(4, program, "steps", export=["HPL_TRACE"], at=at), 4, {}, slack=5000)


def main():
    kind, arguments = sys.argv[1], sys.argv[2:]
    cases = {"forked": forked, "mpirun": mpirun, "nodes": nodes,
             "topology": lambda program, launcher="": topology(program, launcher)}[kind](*arguments)
    return 0 if all(list(cases)) else 1


if __name__ == "__main__":
    sys.exit(main())
