#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""A simulation that outgrows its memory is ended with a reason, before the machine stands still."""
import os
import sys
import tempfile

from run import SRC, Suite, configured

sys.path.insert(0, os.path.join(SRC, "scripts"))
from orrery_tool import memory  # pylint: disable=wrong-import-position

GIB = 1 << 30
GROWS = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>

int main(int argc, char **argv)
{
    starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
    for (long i = atol(argv[1]); i > 0; i--)
        memset(malloc(1 << 20), 1, 1 << 20);
    puts("grown");
    starpu_mpi_shutdown();
    return 0;
}
"""
RUN = ["run", "--sim", "small4", "-n", "1", "--quiet"]


def of_a_run(suite):
    suite.write("grows.c", GROWS)
    status, output = suite.orrery("cc", "--sim", "grows.c", "-o", "grows")
    suite.verdict("program_is_built", status == 0, output)
    status, output = suite.orrery(*RUN, "--memory", "200 MiB", "./grows", "1500")
    suite.verdict("who_has_more_is_ended", status == 137 and output.count("\n") == 1 and all(
        words in output for words in ("[orrery] the simulation was ended: it has 0.",
                                      "may have 0.20 (--memory)", "use fewer ranks",
                                      "STARPU_LIMIT_MAX_SUBMITTED_TASKS")), output)
    for claim, words in (("who_has_less_is_not", ["--memory", "2GB"]), ("nor_without_limit", []),
                         ("nor_with_all", ["--memory", "all"])):
        status, output = suite.orrery(*RUN, *words, "./grows", "300")
        suite.verdict(claim, (status, output) == (0, "grown\n"), output)
    for claim, words in (("a_bare_number_is_refused", "8"), ("so_is_nothing", "0GiB"),
                         ("so_are_words", "much")):
        suite.refuses(claim, *RUN, "--memory", words, "./grows", "1",
                      says=["--memory is \"%s\"" % words, "such as 8GiB, or \"all\""])


class Machine:
    """What a guard sees of one."""

    def __init__(self, all_gib, left_gib, ours_gib, swap_gib=0):
        info = {"MemTotal": all_gib, "MemAvailable": left_gib, "SwapFree": swap_gib}
        memory.meminfo_bytes = lambda name: int(info[name] * GIB)
        memory.resident_bytes = lambda pid: int(ours_gib * GIB)

    @staticmethod
    def looks(limit=None):
        return memory.Guard(limit).look(1)


def of_a_machine(suite):
    memory.groups = lambda: iter(())
    why, again_s = Machine(16, 0.2, 15).looks()
    suite.verdict("of_a_full_machine_the_largest_is_ended", again_s is None and
                  "it has 15.0 GiB of memory, and of the 16.0 here 0.2 are left" in why, why)
    suite.verdict("but_not_with_all", Machine(16, 0.2, 15).looks(0) == ("", None), "it is")
    for claim, machine in (("nor_where_others_have_it", (16, 0.2, 6)),
                           ("nor_with_room", (16, 0.5, 15)),
                           ("nor_with_room_on_disk", (16, 0.1, 15, 4))):
        why, again_s = Machine(*machine).looks()
        suite.verdict(claim, not why and 0 < again_s <= 1, "%s, %s" % (why, again_s))
    memory.groups = lambda: iter([(8 * GIB, int(7.9 * GIB))])
    why = Machine(16, 8, 7.8, 4).looks()[0]
    suite.verdict("a_full_control_group_is_a_full_machine", "of the 8.0 here 0.1 are left" in why, why)
    memory.groups = lambda: iter(())
    suite.verdict("near_the_end_looks_are_frequent",
                  Machine(16, 0.6, 15).looks()[1] < 0.1 and Machine(16, 9, 6).looks()[1] == 1,
                  "they are not")


def of_control_groups(suite, groups):
    """Both versions of the kernel's files, a limit at the parent, none at the child."""
    memory.CGROUPS, memory.OF_US = suite.directory, os.path.join(suite.directory, "self")
    for version, (below, limit, used, spare), line in (
            (2, memory.VERSIONS[""], "0::/job/step\n"),
            (1, memory.VERSIONS["memory"], "9:cpu:/\n4:memory:/job/step\n")):
        suite.write("self", line)
        parent = suite.directory + below + "/job"
        os.makedirs(parent + "/step", exist_ok=True)
        for path, value in ((parent + "/" + limit, "%d\n" % (8 * GIB)),
                            (parent + "/" + used, "%d\n" % (7 * GIB)),
                            (parent + "/memory.stat", "anon 5\n%s %d\n" % (spare, 2 * GIB)),
                            (parent + "/step/" + limit, "max\n" if version == 2 else
                             "9223372036854771712\n")):
            suite.write(os.path.relpath(path, suite.directory), value)
        found = list(groups())
        suite.verdict("limits_of_control_groups_of_version_%d" % version,
                      found == [(8 * GIB, 5 * GIB)], str(found))
        for path in ("/self", "%s/job/%s" % (below, limit)):
            os.remove(suite.directory + path)


def main():
    if not configured("sim"):
        return 77
    groups = memory.groups
    with tempfile.TemporaryDirectory(prefix="orrery-memory-") as directory:
        suite = Suite(directory)
        of_a_run(suite)
        of_control_groups(suite, groups)
        of_a_machine(suite)
        return suite.nfailed > 0


if __name__ == "__main__":
    sys.exit(main())
