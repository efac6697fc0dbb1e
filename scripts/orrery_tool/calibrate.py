# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery calibrate: a description of this machine, as measured through the library."""
import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from orrery_tool import calibrate_costs, calibrate_job, calibrate_programs, steady
from orrery_tool.load import Load, cores_usable, warn_if_busy
from orrery_tool.calibrate_programs import KERNELS, NETWORK
from orrery_tool.platform_command import writer_of
from orrery_tool.platform_describe import Library
from orrery_tool.words import Parser, Refusal, write_text

CHANGED = 1.15            # a figure that differs by more
PASSES = 5                # of making the simulation agree
MOST_SLOPE = 10           # of what is simulated by what a figure says
SIMULATED = 8             # repetitions, which differ little
LAUNCHES = 5              # messages take other times in each, on some machines by half
APART = 3                 # how often the smallest a figure's largest is at most, in its launches
BUSY = "; the machine is busy: repeat it when nobody else uses it"
SMALL = 64                # bytes of a message whose time is that of its ends
LEAST_HOP_S = 1e-8        # as machines have
LARGE = 65536             # bytes; no wait for a thread matters
CROSSING = 2.5            # 1.6 where nothing disturbs: each core copies half of the time
HEAD = """# Measured by "orrery calibrate" on %(date)s: %(words)s.
# Simulated beside measured: median difference %(median).1f %%, at most %(most).1f %% (%(worst)s);
# sizes left out of the fit: median %(left).1f %%, at most %(left_most).1f %%.
%(load)sabout = "%(words)s, calibrated"
nodes = %(nodes)d
network = "switch"
latency = "%(latency).9g us"    # of the smallest message, half of a ping-pong
hop_latency = "%(hop).9g us"      # fitted
message_cost = "%(cost).9g us"    # of a message for its sender, and for its receiver: many at once
bandwidth = "%(bandwidth).9g GB/s"    # of the largest message, alone
bandwidth_factors = "%(factors)s" # parts of it that smaller messages reach, fitted by size
latency_factors = "%(delays)s" # times those of the hops, fitted by size: what many messages at once share
[node]
cpu_model = "%(name)s"
workers = %(cores)d                 # cores that this process may use
%(shared)s%(costs)s"""
# Two ranks on one machine: nobody but a worker copies what comes.
SHARED = """spare_cores = 0             # none for submission and communication, where workers have all
copies_messages = 1         # a core of the receiver moves the bytes
"""


def calibrate_parser():
    parser = Parser(
        prog="orrery calibrate", allow_abbrev=False,
        description="Measures what the library takes for a task, a wake-up and a message, what messages of "
        "all sizes take between two ranks, and kernels where OpenBLAS was there when Orrery was built, and writes a description, a platform "
        "and models of this machine.",
        epilog="With --hostfile the two ranks run on the first two hosts that it names; started by mpirun, on "
        "the first two hosts of the job.  Where the "
        "directory has earlier measurements, the new ones are compared with them.",
        formatter_class=argparse.HelpFormatter)
    parser.add_argument("-o", "--output", metavar="DIR", default="calibration",
                        help="where everything is written (calibration)")
    parser.add_argument("--name", default=re.sub(r"[^\w-]", "-", os.uname().nodename.partition(".")[0]),
                        help="of the machine, under which models are looked up")
    parser.add_argument("--nodes", type=int, default=2, help="in the platform (2)")
    parser.add_argument("--hostfile", metavar="FILE", help="hosts of the two ranks")
    parser.add_argument("--repetitions", type=int, default=2000, metavar="N",
                        help="of a small message, in %d launches; of a large one an eighth (2000)" % LAUNCHES)
    parser.add_argument("--rounds", type=int, default=60, metavar="N",
                        help="of what the library itself takes; 0: not measured (60)")
    parser.add_argument("--tiles", type=int, default=512, metavar="N",
                        help="the largest tile of kernels; 0: no kernels (512)")
    parser.add_argument("--patience", type=int, default=steady.LONGEST_S, metavar="SECONDS",
                        help="waited at most, in all, for the state of the machine that was there at first, "
                        "where a host moves its cores (%d)" % steady.LONGEST_S)
    return parser


def say(words):
    """What takes its time just now."""
    print("[orrery] calibrate: " + words, file=sys.stderr, flush=True)


class Machine:
    """What is written of a machine, from figures in seconds and bytes per second; costs: lines by
    what the bytes of a size take, which the fit finds."""

    def __init__(self, args, real, costs=calibrate_costs.nothing):
        self.args, self.real, self.costs = args, real, costs
        self.sizes = sorted(size for case, size in real if case == "alone")
        smallest, largest = self.sizes[0], self.sizes[-1]
        self.latency_s = real["alone", smallest]
        self.bandwidth = largest / real["alone", largest]
        self.share()
        self.seconds = {size: size / self.bandwidth for size in self.sizes}
        self.tried = {size: [] for size in self.sizes}  # [(seconds, simulated)]
        # Of a message that waits while others move: its sender copies, or its receiver.
        self.delays = {size: 0 for case, size in real if case == "flood" and size > SMALL
                       and real["flood", size] < real.get(("alone", size), 0)}

    def share(self):
        """What of the smallest message's time its ends have, and what the hops."""
        self.cost_s = min(self.real["flood", SMALL], max(self.latency_s / 2 - LEAST_HOP_S,
                                                         self.latency_s / 4))
        self.hop_s = (self.latency_s - 2 * self.cost_s) / 2

    @staticmethod
    def pieces(values):
        """By size; boundaries lie between sizes."""
        sizes = sorted(values)
        return ";".join("%d:%.5g" % (math.sqrt(sizes[i - 1] * size) if i else 0, values[size])
                        for i, size in enumerate(sizes))

    def latency_factors(self):
        """Times the latency of two hops."""
        return self.pieces({size: 1 + self.delays.get(size, 0) / (2 * self.hop_s)
                            for size in self.sizes})

    def factors(self, without=None):
        """Parts of the bandwidth by size; boundaries lie between sizes."""
        return self.pieces({size: size / self.bandwidth / self.seconds[size]
                            for size in self.sizes if size != without})

    def text(self, **words):
        values = dict(
            date=time.strftime("%Y-%m-%d"), words="messages between two ranks",
            nodes=self.args.nodes, latency=self.latency_s * 1e6, hop=self.hop_s * 1e6,
            cost=self.cost_s * 1e6, bandwidth=self.bandwidth / 1e9, factors=self.factors(),
            delays=self.latency_factors(),
            name=self.args.name, cores=len(os.sched_getaffinity(0)),
            shared="" if self.args.hostfile else SHARED,
            costs=self.costs(lambda size: self.seconds.get(size, 0)), median=0, most=0,
            worst="", left=0, left_most=0, load="")
        values.update(words)
        return HEAD % values

    def learn(self, simulated):
        """Let each size take so much longer as it was simulated too fast."""
        self.latency_s += self.real["alone", self.sizes[0]] - simulated["alone", self.sizes[0]]
        # What the program's thread is charged for (ORRERY_POST_COST) may leave little.
        self.latency_s = max(self.latency_s, self.real["alone", self.sizes[0]] / 10)
        self.share()
        for size in self.sizes:
            missing = self.real["alone", size] - simulated["alone", size]
            # Never faster than a hundred times the bandwidth of the largest.
            least_s = size / self.bandwidth / 100
            if size in self.delays:
                before_s = self.seconds[size]
                least_s = max(least_s, self.real["flood", size] / 4)
                self.seconds[size] = max(before_s + self.real["flood", size]
                                         - simulated["flood", size], least_s)
                delay_s = self.delays[size] + missing + before_s - self.seconds[size]
                self.delays[size] = max(delay_s, 0)
                # One alone goes first.
                self.seconds[size] = max(self.seconds[size] + min(delay_s, 0), least_s)
            else:
                self.tried[size].append((self.seconds[size], simulated["alone", size]))
                self.seconds[size] = max(self.seconds[size] + missing / self.slope(size), least_s)

    def slope(self, size):
        """What a second more of the bytes makes in simulation: more than one where caches stretch it, or a
        thread falls asleep meanwhile.  Without it corrections of twice the error never end."""
        if len(self.tried[size]) < 2:
            return 1
        (a, before), (b, now) = self.tried[size][-2:]
        return min(max((now - before) / (b - a), 1), MOST_SLOPE) if a != b else 1

    def settle(self):
        """What came nearest: where a thread falls asleep, none may be right."""
        for size, tried in self.tried.items():
            if tried:
                self.seconds[size] = min(tried, key=lambda pair: abs(pair[1] - self.real["alone", size]))[0]


def run(place, args, repetitions, simulated=None):
    """{(case, bytes): (seconds where nothing disturbs, median, mean)}"""
    options = ["--sim", simulated] if simulated else \
        ["--hostfile", args.hostfile] if args.hostfile else []
    out = calibrate_programs.run(place, 2, options, NETWORK + "-sim" * bool(simulated),
                                 [repetitions])
    found = re.findall(r"^network,(\w+) (\d+),s,([^,]+),([^,]+),(\S+)$", out, re.M)
    return {(case, int(size)): tuple(map(float, seconds)) for case, size, *seconds in found}


def measure(place, args, beside=lambda: None, launch=lambda action: action()):
    """As run(), of several launches: the median of each figure, but the mean of the means;
    and a sentence.  beside() is called between them: a machine that is slow for some seconds is
    not so in all."""
    launches, start_s = [], time.monotonic()
    for number in range(LAUNCHES):
        left_s = (time.monotonic() - start_s) * (LAUNCHES - number) / max(number, 1)
        say("messages between two ranks, launch %d of %d%s" % (
            number + 1, LAUNCHES, "; about %.0f min left" % max(left_s / 60, 1) if number else ""))
        launches.append(launch(lambda: run(place, args, -(-args.repetitions // LAUNCHES))))
        beside()
    measured = {key: (*(statistics.median(launch[key][i] for launch in launches)
                        for i in (0, 1)),
                      calibrate_costs.mean([launch[key][2] for launch in launches]))
                for key in launches[0]}
    return measured, spread(launches)


def spread(launches):
    """A sentence on how far they are apart."""
    most = statistics.median(
        max(launch[key][0] for launch in launches) / min(launch[key][0] for launch in launches)
        for key in launches[0])
    return "launches: of %d a figure's largest is %.0f %% above its smallest%s" % (
        len(launches), 100 * (most - 1), BUSY if most > APART else "")


def means(measured):
    """What programs pay, whose time is a sum: machines have fast and slow phases."""
    return {key: values[2] for key, values in measured.items()}


def risen(real):
    """A message is never faster than a smaller one of its case: what is was disturbed."""
    result, last = {}, {}
    for case, size in sorted(real, reverse=True):
        last[case] = min(real[case, size], last.get(case, math.inf))
        result[case, size] = last[case]
    return {key: result[key] for key in real}


def noise(measured):
    """A sentence on how sure the figures are."""
    ratios = sorted(values[1] / values[0] for values in measured.values())
    middle = statistics.median(ratios)
    words = "noise: the median of a figure is %.0f %% above its quiet tenth, at most %.0f %%" % (
        100 * (middle - 1), 100 * (ratios[-1] - 1))
    return words + (BUSY if ratios[len(ratios) * 3 // 4] > 1.5 else "")


def phase(real):
    """A warning: hosts of virtual machines have phases of seconds in which a value that moves
    alone is slow and two that cross are not.  Programs then run at other times."""
    ratios = [real["alone", size] / real["both", size] for case, size in real
              if case == "alone" and size >= LARGE and ("both", size) in real]
    if not ratios or statistics.median(ratios) <= CROSSING:
        return ""
    return "messages: those of %d bytes and more took %.1f times as long alone as two that cross, " \
        "expected up to %.1f times: the machine was in a slow phase; wait for a minute and calibrate " \
        "again, into the same directory" % (LARGE, statistics.median(ratios), CROSSING)


def differences(real, simulated):
    """{(case, bytes): relative difference}"""
    return {key: simulated[key] / real[key] - 1 for key in real if key in simulated}


def left_out(machine):
    """What each size but the outermost would take if its neighbours alone were known."""
    errors = []
    for before, size, after in zip(machine.sizes, machine.sizes[1:], machine.sizes[2:]):
        part = math.log(size / before) / math.log(after / before)
        times = [machine.real["alone", n] for n in (before, size, after)]
        expected = math.exp((1 - part) * math.log(times[0]) + part * math.log(times[2]))
        errors.append(abs(expected / times[1] - 1))
    return errors


def fit(place, args, real, costs=calibrate_costs.nothing, load=""):
    """A machine whose simulation agrees with what was measured, and the differences; load: who else used
    it, in words."""
    machine, library = Machine(args, real, costs), Library(place.share)
    path = os.path.join(args.output, args.name + ".toml")
    draft = os.path.join(args.output, args.name + ".draft.toml") # an earlier one stays what it is
    try:
        for turn in range(PASSES + 1):
            write_text(draft, machine.text())
            simulated = means(run(place, args, SIMULATED, draft))
            best = differences(real, simulated)
            if turn < PASSES:
                machine.learn(simulated)
            if turn == PASSES - 1:
                machine.settle()
    finally:
        if os.path.exists(draft):
            os.remove(draft)
    absolute = {key: abs(value) for key, value in best.items()}
    worst = max(absolute, key=absolute.get)
    errors = left_out(machine)
    write_text(path, machine.text(
        median=100 * statistics.median(absolute.values()), most=100 * absolute[worst],
        worst="%s, %d bytes" % worst, left=100 * statistics.median(errors),
        left_most=100 * max(errors), load=load and "# Load: %s.\n" % load))
    write_text(path[:-5] + ".xml", writer_of(library, path, []).text())
    return simulated


def measure_kernels(place, args):
    """Models in DIR/codelets/45; a sentence."""
    if not args.tiles:
        return "kernels: not asked for"
    why = calibrate_programs.trouble(place, KERNELS)
    if why:
        return "kernels: none measured: " + why
    models = os.path.join(args.output, "codelets", "45")
    os.makedirs(models, exist_ok=True)
    say("kernels of Cholesky with tiles up to %d, on one core" % args.tiles)
    out = subprocess.run([place.helper(KERNELS), models, args.name, os.uname().machine,
                          str(args.tiles)], text=True, capture_output=True, check=False,
                         env=calibrate_programs.environment(place))
    if out.returncode:
        raise Refusal("calibrate: %s: %s" % (place.helper(KERNELS), out.stderr.strip()))
    return tell_kernels(os.path.join(args.output, "kernels.csv"), out.stdout)


def tell_kernels(path, text):
    """A sentence on the table that the program has printed, and on an earlier one."""
    earlier = kernel_times(path)
    write_text(path, text)
    rows = [line.split(",") for line in text.split("\n")[1:]]
    spread = [float(row[3]) / float(row[2]) for row in rows if len(row) == 6]
    if not spread:
        return "kernels: no tile is as small as --tiles"
    words = "kernels: %d sizes, median deviation %.1f %%" % (
        len(spread), 100 * statistics.median(spread))
    now = kernel_times(path)
    ratios = {key: now[key] / earlier[key] for key in now if key in earlier}
    if not ratios:
        return words
    far, middle, worst = calibrate_costs.drift(ratios, CHANGED)
    return words + "\nkernels %s: %d of %d differ by more than %.0f %%, median ratio %.3f" % (
        "as before" if worst is None else "have changed", len(far), len(ratios),
        100 * (CHANGED - 1), middle) + ("" if worst is None else "; %s of %s: %.2f times what it "
                                        "was" % (*worst, far[worst]))


def kernel_times(path):
    """{(symbol, tile): median} of a table that was written."""
    try:
        with open(path, encoding="ascii") as f:
            rows = [line.strip().split(",") for line in f][1:]
        return {(row[0], row[1]): float(row[2]) for row in rows if float(row[2]) > 0}
    except (OSError, ValueError, IndexError):
        return {}


def read_earlier(path):
    try:
        with open(path, encoding="ascii") as f:
            rows = [line.strip().split(",") for line in f][1:]
        return {(row[0], int(row[1])): float(row[2]) for row in rows}
    except (OSError, ValueError, IndexError):
        return None


def compare(earlier, real):
    ratios = {key: real[key] / earlier[key] for key in real if key in earlier}
    far, middle, worst = calibrate_costs.drift(ratios, CHANGED)
    if worst is None:
        return "as before: median ratio %.3f, %d of %d figures differ by more than %.0f %%" % (
            middle, len(far), len(ratios), 100 * (CHANGED - 1))
    return "the machine has changed: %d of %d figures differ by more than %.0f %%, median " \
        "ratio %.3f; %s of %d bytes: %.3g times what it was" % (
            len(far), len(ratios), 100 * (CHANGED - 1), middle, *worst, far[worst])


def check_arguments(args):
    if not re.fullmatch(r"\w[\w-]*", args.name):
        raise Refusal("calibrate: --name is \"%s\", expected letters, digits, - and _"
                      % args.name)
    for option, value, least in (("--nodes", args.nodes, 2),
                                 ("--repetitions", args.repetitions, 1),
                                 ("--rounds", args.rounds, 0),
                                 ("--patience", args.patience, 0),
                                 ("--tiles", args.tiles, 0)):
        if value < least:
            raise Refusal("calibrate: %s is %d, expected %d or more" % (option, value, least))
    try:
        os.makedirs(args.output, exist_ok=True)
    except OSError as error:
        raise Refusal("calibrate: %s cannot be made: %s" % (args.output, error.strerror)) from None
    try: # before minutes are spent
        with tempfile.TemporaryFile(dir=args.output):
            pass
    except OSError as error:
        raise Refusal("calibrate: nothing can be written in %s: %s; choose another directory with -o"
                      % (args.output, error.strerror)) from None


def command_calibrate(place, argv):
    args = calibrate_parser().parse_args(argv)
    check_arguments(args)
    calibrate_programs.check(place, args.rounds)
    if not calibrate_job.join(args):
        return 0
    if not args.hostfile:
        warn_if_busy(say)
    load = Load()
    # Of two machines it is not this one alone that matters.
    state = steady.Steady(lambda: None if args.hostfile else calibrate_costs.look(place),
                          longest_s=args.patience)
    passes = calibrate_costs.Passes(place, args, say, state)
    measured, launches = measure(place, args, passes.one_more, state.launch)
    real = risen(means(measured))
    costs = calibrate_costs.calibrate(args, passes)
    # What the simulations take that follow is nobody's affair.
    loaded = "" if args.hostfile else load.words() + load.advice()
    table = os.path.join(args.output, "measured.csv")
    earlier = read_earlier(table)
    say("simulating the same, until both agree")
    simulated = fit(place, args, real, costs, loaded)
    rows = ["%s,%d,%.9g,%.9g,%.2f" % (*key, real[key], simulated[key],
                                     100 * (simulated[key] / real[key] - 1)) for key in real]
    write_text(table, "\n".join(["case,bytes,measured_s,simulated_s,difference_percent"] + rows)
               + "\n")
    for row in rows:
        print("%-6s %8s bytes  measured %10.3f us  simulated %10.3f us  %+6.1f %%" % (
            *row.split(",")[:2], *(1e6 * float(x) for x in row.split(",")[2:4]),
            float(row.split(",")[4])))
    print(noise(measured))
    print(launches)
    for words in (loaded and "load: " + loaded, few_cores(args)):
        if words:
            print(words)
    if state.words():
        print(state.words())
    if phase(real):
        print(phase(real))
    if earlier:
        print(compare(earlier, real))
    print(measure_kernels(place, args))
    print(last_words(args))
    return 0


def few_cores(args):
    """What is missing, or is of another machine, where there are no two cores; or ""."""
    if args.hostfile or len(cores_usable()) > 1:
        return ""
    return "cores: this process may use one: what a line of the cache takes from core to core is not measured, " \
        "and messages, wake-ups and what lies between kernels are those of ranks and threads that share it; " \
        "calibrate where it may use two or more (taskset, the cpuset of a container) for machines that have them"


def last_words(args):
    """What can be done with it now."""
    short = os.uname().nodename.partition(".")[0]
    return "this machine is described in %(path)s, and models are found beside it:\n" \
        "  orrery cc --sim app.c -o app-sim && orrery run --sim %(path)s -n %(nodes)d ./app-sim\n" \
        "kernels of your own are measured by real runs, ten times for each size or more:\n" \
        "  %(name)sSTARPU_CALIBRATE=1 orrery run -n 1 ./app" % {
            "path": os.path.join(args.output, args.name + ".toml"), "nodes": args.nodes,
            "name": "" if args.name == short else "STARPU_HOSTNAME=%s " % args.name}
