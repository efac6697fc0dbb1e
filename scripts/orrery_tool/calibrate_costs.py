# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery calibrate: what the library itself takes on this machine; see doc/decisions/081."""
import csv
import math
import os
import re
import statistics

from orrery_tool import calibrate_programs, steady
from orrery_tool.words import write_text

POLICIES = ("eager", "lws", "dmda")
DEFAULT = "lws"
PASSES = 3                # of all programs, in turns
CHANGED = 1.5             # a figure that differs by more
MIB = 1 << 20
SMALL = 1 << 16           # bytes of the values of a small set
LONE = "lone "            # begins cases of receivers that their senders do not help
STATE = "core_to_core"    # of the machine, see steady.py
# In a description: (name, words on its origin)
WORDS = (
    ("submit_cost", "of a task for its submitter, beside its data: of thousands in a row"),
    ("submit_datum_cost", "of each of its data: a third of what three take longer"),
    ("insert_cost", "of an insertion of three data that runs elsewhere"),
    ("post_cost", "of a receive, for the program's thread"),
    ("exchange_cost", "of a value that an insertion sends or receives, for the program's thread"),
    ("push_cost", "of a task for its worker: taken, begun, ended"),
    ("push_costs", "the same by policy, seconds"),
    ("fetch_cost", "of each of its data, for the worker"),
    ("wake_cost", "until a worker runs that has slept"),
    ("main_wake_cost", "until a main goes on that has waited 2 ms"),
    ("switch_cost", "of a thread on a core"),
    ("page_cost", "of a page of 4 KiB that nobody has touched, when a message fills it"),
    ("poll_wait", "of a message beside tasks on all cores: median less that without tasks"),
    ("copy_factors", "parts of the bandwidth, by bytes moved since a value came last"),
    ("small_copy_factors", "the same of values of 64 KiB"),
    ("lone_copy", "the part of the bandwidth that a receiver reaches alone, while the sender computes"),
    ("cold_costs", "of a task for its worker, seconds, beside the former, by bytes of its data: all cores work"),
)


def run(place, ranks, words, **env):
    """{case: (seconds where nothing disturbs, median, mean)}"""
    out = calibrate_programs.run(place, ranks, [], calibrate_programs.COSTS, words,
                                 **{"STARPU_NCPU": "1", "STARPU_SILENT": "1", **env})
    found = re.findall(r"^costs,([\w ]+),s,([^,]+),([^,]+),(\S+)$", out, re.M)
    return {case: tuple(map(float, seconds)) for case, *seconds in found}


def mean(values):
    """Of what programs pay in several launches; those above twice the median were disturbed, or
    in a slow phase that programs seldom meet."""
    middle = statistics.median(values)
    return statistics.mean(value for value in values if value <= 2 * middle)


def look(place):
    """What a line of the cache takes from core to core."""
    return steady.core_to_core_s(calibrate_programs.said(place, ["cores", steady.ROUNDS]))


def measure(place, rounds, shared, launch):
    """The same of all cases, once; those of a policy begin with its name."""
    def run_once(ranks, words, **env):
        return launch(lambda: run(place, ranks, words, **env))
    found = {}
    for policy in POLICIES:
        for case, values in run_once(1, ["tasks", rounds], STARPU_SCHED=policy).items():
            found["%s %s" % (policy, case)] = values
    found.update(run_once(1, ["gaps", -(-rounds // 4)], STARPU_SCHED=DEFAULT,
                          STARPU_NCPU=str(len(os.sched_getaffinity(0)))))
    found.update(run_once(1, ["insert", rounds], STARPU_MPI_FAKE_SIZE="2",
                          STARPU_MPI_FAKE_RANK="0"))
    if shared:
        found.update(run_once(2, ["messages", rounds]))
        found.update(run_once(2, ["exchanges", rounds]))
        found.update({LONE + case: values for case, values in run_once(
            2, ["messages", -(-rounds // 4)], ORRERY_MPI_DIRECT="1").items()
            if case.split()[0] in ("set", "small")})
    return found


class Passes:
    """Several, as many as are asked for."""

    def __init__(self, place, args, say=lambda words: None, state=None):
        self.place, self.args, self.say, self.found = place, args, say, []
        self.state = state or steady.Steady(lambda: None)

    def one_more(self):
        if self.args.rounds and len(self.found) < PASSES:
            self.say("what the library itself takes, pass %d of %d" % (len(self.found) + 1, PASSES))
            self.found.append(measure(self.place, self.args.rounds, not self.args.hostfile,
                                      self.state.launch))

    def together(self):
        """Quiet rounds and medians of the pass that was disturbed least; the mean of all means."""
        while len(self.found) < PASSES:
            self.one_more()
        together = {case: (*(min(found[case][i] for found in self.found) for i in (0, 1)),
                           mean([found[case][2] for found in self.found]))
                    for case in self.found[0]}
        if self.state.wanted_s is not None:
            together[STATE] = (self.state.wanted_s,) * 3
        return together


def waits(measured, case):
    """Seconds until who sleeps goes on: the mean of the policies' medians, since what a wake-up
    takes is the host's affair, and differs between launches as it does between runs."""
    return statistics.mean(measured["%s %s" % (policy, case)][1] for policy in POLICIES
                           if "%s %s" % (policy, case) in measured)


def cold_costs(measured, charged_s):
    """What lies between two kernels of a worker besides charged_s, by the bytes of the data of
    three; boundaries lie between the sizes that were measured.  More bytes cost no less."""
    gaps = sorted((int(case[4:]), values[2]) for case, values in measured.items()
                  if case.startswith("gap "))
    pieces, last_s = [], 0
    for i, (size, seconds) in enumerate(gaps):
        last_s = max(last_s, seconds - charged_s)
        pieces.append("%d:%.3g" % (math.sqrt(gaps[i - 1][0] * size) if i else 0, last_s))
    return ";".join(pieces)


def sets_of(measured, word="set"):
    """[(MiB, seconds of a value)]: more bytes are never faster."""
    rows, last = [], 0
    for size in sorted(int(case.split()[1]) for case in measured if case.startswith(word + " ")):
        last = max(last, measured["%s %d" % (word, size)][2])
        rows.append((size, last))
    return rows


def factors(rows, bytes_s):
    """Parts of the bandwidth that the description has for the bytes of one value, which take bytes_s there;
    0: what a value of the smallest set takes.  Boundaries lie between the sets that were measured."""
    pieces, base_s = ["0:1"], bytes_s or rows[0][1]
    for (before, _), (size, seconds) in zip(rows, rows[1:]):
        pieces.append("%d:%.4g" % (math.sqrt(before * size) * MIB, min(1, base_s / seconds)))
    return ";".join(pieces)


def lone_copy(measured):
    """The geometric mean of all sets; a receiver that is helped is not slower."""
    parts = [measured[case[len(LONE):]][2] / values[2] for case, values in measured.items()
             if case.startswith(LONE) and measured.get(case[len(LONE):])]
    return min(1, statistics.geometric_mean(parts)) if parts else None


def figures(measured, bytes_s=lambda size: 0):
    """{name in a description: seconds, or a text}; bytes_s: of a size, what its bytes take there"""
    def paid(case):
        return measured[case][2]

    def more(large, small):
        return max(large - small, 0)
    submit_s, push_s = paid(DEFAULT + " submit_0"), paid(DEFAULT + " task_0")
    found = {
        "submit_cost": submit_s,
        "submit_datum_cost": more(paid(DEFAULT + " submit_3"), submit_s) / 3,
        "insert_cost": paid("insert_foreign_3"),
        "push_cost": push_s,
        "push_costs": ";".join("%s:%.3g" % (policy, paid(policy + " task_0"))
                               for policy in POLICIES),
        "fetch_cost": more(paid(DEFAULT + " task_3"), push_s) / 3,
        "wake_cost": more(waits(measured, "wake"), submit_s + push_s / 2),
        "main_wake_cost": more(waits(measured, "main_wake"), push_s / 2),
        "switch_cost": paid(DEFAULT + " switch"),
    }
    if "submit_new" in measured:
        found["submit_cost"] = max(
            submit_s, paid("submit_new") - 3 * found["submit_datum_cost"])
    if "page" in measured:
        found["page_cost"] = paid("page")
    found["cold_costs"] = cold_costs(measured, push_s + 3 * found["fetch_cost"])
    if "message_busy" in measured:
        found["post_cost"] = paid("post")
        wait_s = more(measured["message_busy"][1], measured["message_idle"][1])
        # In less time no thread was given the core: who found the message had it.
        found["poll_wait"] = wait_s if wait_s > found["switch_cost"] else 0
        found["copy_factors"] = factors(sets_of(measured), bytes_s(MIB))
    if "exchange_send" in measured:
        found["exchange_cost"] = max(0, paid("exchange_send") + paid("exchange_receive")) / 2
    alone = lone_copy(measured)
    if alone:
        found["lone_copy"] = "%.3g" % alone
    if "small 1" in measured:
        found["small_copy_factors"] = factors(sets_of(measured, "small"), bytes_s(SMALL))
    return found


def text(found):
    """Lines of a description."""
    lines = []
    for name, words in WORDS:
        value = found.get(name)
        if value is not None:
            lines.append(('%s = %s # %s' if name == "lone_copy" else '%s = "%s" # %s') % (
                name, value if isinstance(value, str) else "%.4g us" % (1e6 * value), words))
    return "".join(line + "\n" for line in lines)


def left_out(rows):
    """What each set but the outermost would take if its neighbours alone were known."""
    errors = []
    for (a, left_s), (b, seconds), (c, right_s) in zip(rows, rows[1:], rows[2:]):
        part = math.log(b / a) / math.log(c / a)
        errors.append(abs(math.exp((1 - part) * math.log(left_s) + part * math.log(right_s))
                          / seconds - 1))
    return errors


def tell(measured):
    for case, (least, median, paid) in measured.items():
        print("cost   %-18s quiet %10.3f us  median %10.3f us  mean %10.3f us  %+6.1f %%" % (
            case, 1e6 * least, 1e6 * median, 1e6 * paid, 100 * (median / least - 1)))
    errors = left_out(sets_of(measured))
    if errors:
        print("sets of values left out: median %.1f %%, at most %.1f %%" % (
            100 * statistics.median(errors), 100 * max(errors)))


def read_earlier(path):
    try:
        with open(path, newline="", encoding="ascii") as f:
            return {row["case"]: float(row["quiet_s"]) for row in csv.DictReader(f)}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def drift(ratios, limit):
    """(ratios beyond the limit, the median of all, what differs most or None: a quarter at
    most is beyond it)"""
    far = {key: ratio for key, ratio in ratios.items() if not 1 / limit < ratio < limit}
    worst = max(far, key=lambda key: abs(math.log(far[key]))) if len(far) > len(ratios) / 4 \
        else None
    return far, statistics.median(ratios.values()), worst


def compare(earlier, measured):
    ratios = {case: values[0] / earlier[case] for case, values in measured.items()
              if earlier.get(case, 0) > 0 and values[0] > 0}
    if not ratios:
        return "costs: nothing to compare with"
    far, middle, worst = drift(ratios, CHANGED)
    if not steady.is_near(ratios.get(STATE), 1):
        return "costs are of another state of the machine: %s, %.0f before; median ratio %.3f; " \
            "runs are to be compared with predictions of their state" % (
                steady.in_words(measured[STATE][0]), 1e9 * earlier[STATE], middle)
    if worst is None:
        return "costs as before: median ratio %.3f, %d of %d differ by more than %.0f %%" % (
            middle, len(far), len(ratios), 100 * (CHANGED - 1))
    return "costs have changed: %d of %d differ by more than %.0f %%, median ratio %.3f; %s: " \
        "%.3g times what it was" % (len(far), len(ratios), 100 * (CHANGED - 1), middle, worst,
                                    far[worst])


def nothing(_):
    """Lines of a description without costs."""
    return ""


def calibrate(args, passes):
    """Lines of the description, by what the bytes of a size take there; says what was measured, and how it differs from before."""
    if not args.rounds:
        print("costs: not asked for")
        return nothing
    table = os.path.join(args.output, "costs.csv")
    earlier = read_earlier(table)
    measured = passes.together()
    write_text(table, "".join(["case,quiet_s,median_s,mean_s\n"] + [
        "%s,%.6g,%.6g,%.6g\n" % (case, *values) for case, values in measured.items()]))
    tell(measured)
    if earlier:
        print(compare(earlier, measured))
    return lambda bytes_s: text(figures(measured, bytes_s))
