#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery map: what it prints and refuses, and that Open MPI maps alike where it can."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from run import SMALL, SRC, Suite, configured

GPUS = os.path.join(SRC, "tests", "map", "gpus.xml")
TWO = "pack:2 core:4 pu:2"
MPI_ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
DEEP = "pack:2 l3:2 l2:2 core:2 pu:2"
NUMA = "pack:2 numa:2 core:3 pu:1"
# What Open MPI 4.1 maps, and how we say the same where its words mean something else here:
# (topology, nodes, slots of each, ranks, its rules, ours or "": the same words)
ALIKE = [
    (TWO, 1, 8, 8, "--map-by socket --bind-to core", ""),
    (NUMA, 1, 12, 8, "--map-by numa --bind-to core", ""),
    ("pack:2 l3:2 core:4 pu:1", 1, 16, 8, "--map-by l3cache --bind-to core", ""),
    (TWO, 1, 8, 8, "--map-by core --bind-to socket", ""),
    (TWO, 1, 8, 8, "--map-by socket --bind-to core --rank-by slot", ""),
    ("pack:1 core:4 pu:4", 1, 4, 4, "--map-by slot --bind-to core", ""),
    (TWO, 2, 8, 12, "--map-by core --bind-to core", ""),
    (TWO, 2, 8, 12, "--map-by core --bind-to core --rank-by node", ""),
    (TWO, 2, 8, 12, "--map-by core --bind-to core --rank-by socket", ""),
    (TWO, 1, 8, 7, "--map-by socket --bind-to core --rank-by core", ""),
    (DEEP, 1, 16, 15, "--map-by l2cache --bind-to l3cache --rank-by node", ""),
    (DEEP, 1, 16, 15, "--map-by core --bind-to core --rank-by l3cache", ""),
    (TWO, 1, 16, 11, "--use-hwthread-cpus --map-by hwthread --bind-to hwthread",
     "--map-by hwthread --bind-to hwthread"),
    (TWO, 2, 8, 11, "--map-by socket --bind-to core", "--map sbcnh --bind 1c"),
    (NUMA, 3, 12, 35, "--map-by numa --bind-to core", "--map Nsbcnh --bind 1c"),
    (DEEP, 2, 16, 31, "--map-by l3cache --bind-to core", "--map L3sbcnh --bind 1c"),
    (DEEP, 2, 16, 31, "--map-by l2cache --bind-to core", "--map L2L3sbcnh --bind 1c"),
    (TWO, 3, 8, 20, "--map-by node --bind-to core", "--map ncsbh --bind 1c"),
    (TWO, 2, 8, 12, "--map-by slot --bind-to socket", "--map sbcnh --bind 1s"),
]

def printed(suite):
    for claim, words, text in (
            ("map_of_described_nodes",
             ("-n", "6", "--topology", "2*pack:2 core:2 pu:1", "--map-by", "node"),
             "node0 [0 4][2 .]\nnode1 [1 5][3 .]\n"),
            ("map_of_different_nodes",
             ("-n", "10", "--topology", "pack:2 core:4 pu:1", "--topology", "pack:1 core:2 pu:1"),
             "node0 [0 1 2 3][4 5 6 7]\nnode1 [8 9]\n"),
            ("map_of_simulated_hosts", ("--sim", "small4", "-n", "5", "--map-by", "node"),
             "node-0 [0 4 . .]\nnode-1 [1 . . .]\nnode-2 [2 . . .]\nnode-3 [3 . . .]\n"),
            ("hostfile_for_smpi",
             ("--sim", SMALL, "-n", "3", "--map", "cnsbh", "--print", "hostfile", "--mppr", "2:n",
              "--bind", "1c"),
             "node-0\nnode-0\nnode-1\n"),
            ("bindings", ("-n", "2", "--topology", TWO, "--bind", "2c", "--print", "bindings"),
             "rank 0 node0 [BB/BB/../..][../../../..]\nrank 1 node0 [../../BB/BB][../../../..]\n"),
            ("near_gpus", ("--topology", GPUS, "--map-by", "gpu", "--bind", "1g", "--mppr",
                           "1:g", "--print", "table"),
             "rank,node,socket,core,thread,cpus\n0,node0,0,0,0,\"0-1\"\n"
             "1,node0,0,2,2,\"2-3\"\n2,node0,1,4,4,\"4-7\"\n"),
            ("cpuset_of_one_node",
             ("-n", "3", "--topology", "2*pack:1 core:4 pu:1", "--cpuset", "node0=2,3"),
             "node0 [. . 0 1]\nnode1 [2 . . .]\n"),
            ("as_many_as_fit", ("--topology", TWO, "--bind-to", "core"),
             "node0 [0 1 2 3][4 5 6 7]\n"),
            ("applications_go_on", ("-n", "2,1", "--topology", TWO, "--map-by", "socket"),
             "node0 [0 2 . .][1 . . .]\n")):
        status, output = suite.orrery("map", *words)
        suite.verdict(claim, status == 0 and output == text, "%d %r" % (status, output))


def files(suite):
    path = suite.write("hosts", "# two\naa slots=8\nbb slots=8\n")
    words = ("--topology", TWO, "--hostfile", path, "-n", "3", "--map-by", "socket", "--bind", "2h")
    status, output = suite.orrery("map", *words, "--print", "arguments", "-o", "ranks")
    suite.verdict("arguments_of_mpirun", (status, output) == (0, "-n 3 --rankfile ranks\n"), output)
    with open(os.path.join(suite.directory, "ranks"), encoding="utf-8") as f:
        text = f.read()
    expected = "rank 0=aa slot=0\nrank 1=aa slot=4\nrank 2=bb slot=0\n"
    suite.verdict("rankfile_of_open_mpi", text == expected, text)
    status, output = suite.orrery("map", "--topology", TWO, "--hostfile", path, "--rankfile",
                                  "ranks", "--print", "rankfile")
    suite.verdict("rankfile_is_read", (status, output) == (0, expected), output)
    suite.succeeds("warning_of_shared_cores", "map", "-n", "3", "--topology", "core:2 pu:1",
                   "--bind-to", "core", "--oversubscribe", says="1 of 3 processes share")


def pictures(suite):
    words = ("--topology", "2*pack:2 core:2 pu:1", "--bind-to", "core", "--map-by", "node")
    status, output = suite.orrery("map", *words, "-n", "5", "--draw", "five.svg")
    path = os.path.join(suite.directory, "five.svg")
    root = ElementTree.parse(path).getroot() if status == 0 else []
    texts = [element.text for element in root if element.tag.endswith("text")]
    fills = [element.get("fill") for element in root if element.tag.endswith("rect")]
    suite.verdict("svg_names_nodes_and_ranks", {"5 ranks on 2 nodes", "node0", "node1", "0",
                                                "1", "2", "3", "4"} <= set(texts), output)
    suite.verdict("svg_shows_unused_cores", fills.count("#ececec") == 3, fills)
    for number, is_pale in ((2, True), (5, False)):
        status, output = suite.orrery("map", *words[:2], "--map-by", "node", "--bind-to", "none",
                                      "-n", str(number), "--draw", "whole.svg")
        with open(os.path.join(suite.directory, "whole.svg"), encoding="utf-8") as f:
            text = f.read()
        suite.verdict("%d_ranks_on_whole_nodes" % number,
                      (">pale: " in text) == is_pale and
                      text.count('"#ececec"') == (0 if is_pale else 8 - number), output)
    status, output = suite.orrery("map", "--sim", "gpu1024", "-n", "1024", "--map-by", "node",
                                  "--draw", "many.svg", "-o", "many.txt")
    text = open(os.path.join(suite.directory, "many.svg"), encoding="utf-8").read()
    suite.verdict("svg_of_1024_nodes", status == 0 and ">1023</text>" in text and
                  len(text) < 2000000, "%d, %d bytes" % (status, len(text)))
    status, output = suite.orrery("map", *words, "--draw", "five.png")
    if status == 2 and "python3-matplotlib" in output:
        return
    with open(os.path.join(suite.directory, "five.png"), "rb") as f:
        suite.verdict("png_is_a_picture", status == 0 and f.read(8) == b"\x89PNG\r\n\x1a\n",
                      output)


def refusals(suite):
    suite.write("damaged.xml", open(GPUS, encoding="utf-8").read()[:1500])
    suite.write("bad.rank", "rank 0=node0 slot=9\n")
    for claim, words, says in (
            ("letter_twice", ("--map", "csnhc"), ["letter c", "position 1", "position 5"]),
            ("unknown_letter", ("--map", "cxnh"), ["'x'", "position 2", "expected"]),
            ("level_that_lacks", ("--topology", TWO, "--bind-to", "l3cache"),
             ["L3 cache", "no node"]),
            ("too_many_ranks", ("--topology", "core:2 pu:1", "-n", "3"),
             ["mapped 2 of 3", "--oversubscribe"]),
            ("damaged_topology", ("--topology", "damaged.xml"), ["damaged.xml", "damaged", "lstopo"]),
            ("no_topology", ("--topology", "nowhere.xml"), ["nowhere.xml", "No such file"]),
            ("strange_topology", ("--topology", "pack:2 cor:2"), ["pack:2 cor:2", "such as"]),
            ("strange_cpuset", ("--topology", TWO, "--cpuset", "0-x"), ["\"0-x\"", "such as 0-3,8"]),
            ("cpuset_too_large", ("--topology", TWO, "--cpuset", "0-99"), ["16 of its 100"]),
            ("cpuset_of_nobody", ("--topology", TWO, "--cpuset", "x=0"), ["no node x"]),
            ("no_ranks", ("-n", "0"), ["-n is \"0\"", "expected"]),
            ("too_large_a_number", ("-n", "99999999999"), ["expected a number of ranks"]),
            ("bad_rankfile", ("--topology", TWO, "--rankfile", "bad.rank"),
             ["bad.rank:1", "slot 9", "0 to 7"]),
            ("platform_and_topology", ("--sim", "small4", "--topology", TWO), ["exclude"]),
            ("arguments_without_file", ("--print", "arguments"), ["-o FILE"]),
            ("no_directory", ("-o", "nowhere/x"), ["nowhere/x", "cannot be written"]),
            ("strange_picture", ("--draw", "x.gif"), ["x.gif", ".svg or .png"]),
            ("misspelt", ("--mapby", "core"), ["--mapby", "orrery map --help"])):
        suite.refuses(claim, "map", *words, says=says)


def mpirun(suite, *words):
    out = subprocess.run(["mpirun", *words], capture_output=True, text=True, env=MPI_ENV,
                         cwd=suite.directory, timeout=60, check=False)
    return out.stdout + out.stderr


def bindings_of(text, pattern):
    return {int(rank): bound for rank, bound in re.findall(pattern, text)}


def our_bindings(suite, *words):
    return bindings_of(suite.orrery("map", *words, "--print", "bindings")[1],
                       r"rank (\d+) \S+ (\[.*)")


def export_xml(suite):
    """A program that writes hwloc's XML of a description; None: it cannot be compiled."""
    source = suite.write("export.c", "#include <hwloc.h>\nint main(int c, char **v) { "
                         "hwloc_topology_t t; return c < 3 || hwloc_topology_init(&t) || "
                         "hwloc_topology_set_synthetic(t, v[1]) || hwloc_topology_load(t) || "
                         "hwloc_topology_export_xml(t, v[2], 0); }\n")
    out = subprocess.run(["sh", "-c", "cc %s -o export $(pkg-config --cflags --libs hwloc)"
                          % source], cwd=suite.directory, capture_output=True, check=False)
    return os.path.join(suite.directory, "export") if out.returncode == 0 else None


def devel_map(text, everything):
    """Node and binding of each rank.  Open MPI leaves a rank that is bound where it was
    mapped to that place, and shows nothing for one that may use the whole node."""
    found = {}
    for node, ranks in re.findall(r"Data for node: nodeA(\d+)(.*?)(?=Data for node:|\Z)", text,
                                  re.S):
        for rank, place, bound in re.findall(
                r"Data for proc: \[\[\d+,\d+\],(\d+)\].*?Locale:\s*(\S.*?)\s*\n"
                r"\s*Binding:([^\n]*)\n", ranks, re.S):
            bound = place if bound.strip() == "UNBOUND" else bound.strip()
            found[int(rank)] = (int(node), everything if bound in ("", "NODE") else bound)
    return found


def alike_on_described_nodes(suite):
    """Open MPI's simulated allocation maps on a topology from a file, and starts nothing."""
    export = export_xml(suite)
    if not export:
        return
    for topology, nnodes, nslots, nranks, rules, our_rules in ALIKE:
        path = os.path.join(suite.directory, "topology.xml")
        subprocess.run([export, topology, path], check=True)
        hosts = ",".join("nodeA%d:%d" % (node, nslots) for node in range(nnodes))
        text = mpirun(suite, "--mca", "plm", "rsh", "--mca", "ras_simulator_num_nodes", str(nnodes),
                      "--mca", "ras_simulator_topo_files", path, "-host", hosts,
                      "--do-not-launch", "--display-devel-map", "-n", str(nranks),
                      *rules.split(), "/bin/true")
        words = ("--topology", "%d*%s" % (nnodes, topology), "-n", str(nranks),
                 *(our_rules or rules).split(), "--print", "bindings")
        output = suite.orrery("map", *words)[1]
        ours = {int(rank): (int(node), bound) for rank, node, bound in
                re.findall(r"rank (\d+) node(\d+) (\[.*)", output)}
        everything = ours[0][1].replace(".", "B") if ours else ""
        theirs = devel_map(text, everything)
        if len(theirs) != nranks:
            continue # this version does not tell
        suite.verdict("open_mpi_maps_alike_" + re.sub(r"\W+", "_", "%d %s %s" % (
            nnodes, topology, rules)), ours == theirs, "%s, Open MPI: %s" % (
                ours or output, theirs))


def alike_on_this_machine(suite):
    """Open MPI binds the ranks of our rankfile where we say."""
    ncores = len(our_bindings(suite, "--bind-to", "core"))
    for nranks, rules in ((1, "--bind-to core"), (ncores, "--bind-to core --order s"),
                          (ncores, "--map-by socket --bind 1c")):
        words = ("-n", str(nranks), *rules.split())
        status, output = suite.orrery("map", *words, "--print", "arguments", "-o", "ranks")
        if status != 0:
            suite.verdict("rankfile_of_this_machine", False, output)
            continue
        text = mpirun(suite, "--report-bindings", *output.split(), "/bin/true")
        theirs = bindings_of(text, r"MCW rank (\d+) bound to .*: (\[.*)")
        ours = our_bindings(suite, *words)
        for rank in re.findall(r"MCW rank (\d+) is not bound \(or bound to all", text):
            theirs[int(rank)] = ours[int(rank)].replace(".", "B")
        suite.verdict("mpirun_binds_as_%s" % re.sub(r"\W+", "_", rules), ours == theirs,
                      "%s, Open MPI: %s" % (ours, text))


PLACES = """
#include <mpi.h>
#include <stdio.h>
#include <starpu_mpi.h>
int main(int argc, char **argv)
{
	char host[MPI_MAX_PROCESSOR_NAME];
	int rank, length;
	starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Get_processor_name(host, &length);
	printf("rank %d: host %s, %u workers, the first on %d\\n", rank, host,
	       starpu_worker_get_count(), starpu_get_pu_os_index(starpu_worker_get_bindid(0)));
	starpu_mpi_shutdown();
	return 0;
}
"""


def runs_for_real(suite):
    suite.write("places.c", PLACES)
    status, output = suite.orrery("cc", "places.c", "-o", "places")
    ncores = len(our_bindings(suite, "--bind-to", "core"))
    if status != 0 or ncores < 2:
        suite.verdict("places_is_built", status == 0, output)
        return
    cpus = [row.split('"')[1] for row in suite.orrery(
        "map", "-n", "2", "--bind-to", "core", "--print", "table")[1].split("\n")[1:3]]
    suite.write("reverse", "rank 0=+n0 slot=1\nrank 1=+n0 slot=0\n")
    for claim, rules, order in (("map", ["--map", "csbnh", "--bind", "1c"], cpus),
                                ("rankfile", ["--rankfile", "reverse"], cpus[::-1])):
        status, output = suite.orrery("run", "-n", "2", *rules, "./places")
        found = dict(re.findall(r"rank (\d): .* 1 workers, the first on (\d+)", output))
        suite.verdict("workers_follow_the_%s" % claim, status == 0 and all(
            found.get(str(rank)) == cpu.split(",")[0].split("-")[0]
            for rank, cpu in enumerate(order)), "%s, expected %s" % (output, order))
    suite.refuses("other_number_of_ranks", "run", "-n", "3", "--rankfile", "reverse", "./places",
                  says=["reverse maps 2 ranks", "-n asks for 3"])
    suite.refuses("run_refuses_a_bad_map", "run", "-n", "2", "--map", "csx", "./places",
                  says=["'x'", "position 3"])
    suite.succeeds("run_shows_the_rankfile", "run", "--show", "-n", "2", "--map-by", "core",
                   "./places", says="--rankfile RANKFILE")


def matrix_of_a_real_run(suite):
    suite.write("pairs.c", RING)
    suite.orrery("cc", "pairs.c", "-o", "pairs")
    status, output = suite.orrery("run", "-n", "2", "--comm-matrix", "real.csv", "./pairs")
    suite.verdict("matrix_of_a_real_run", status == 0 and matrix_of(suite, "real.csv").endswith(
        "\nfrom,to,bytes\n0,1,%d\n1,0,%d\n" % (5 << 20, 5 << 20)), output)
    status, output = suite.orrery("run", "-n", "2", "--comm-matrix", "real.svg", "./pairs")
    picture = matrix_of(suite, "real.svg")
    suite.verdict("picture_of_a_matrix", status == 0 and all(
        text in picture for text in (">What 2 ranks send to each other<", ">10 MiB in 10 messages; ",
                                     ">5 MiB<", ">bytes<", ">messages<")), output + picture)
    os.environ["STARPU_MPI_COMM"] = "1"
    status, output = suite.orrery("run", "-n", "2", "./pairs")
    del os.environ["STARPU_MPI_COMM"]
    suite.verdict("messages_are_told", status == 0 and len(re.findall(
        r"\[starpu_mpi_comm\]\[[01]\] [\d.]+ s: (?:send to|receive from) rank [01], tag \d+, "
        r"1048576 bytes, priority 0", output)) == 20, output)
    status, output = suite.orrery("run", "-n", "2", "--comm-matrix", "none.csv", "true")
    suite.verdict("no_matrix_of_other_programs", status == 2 and "none.csv is not written"
                  in output, output)


def runs_in_simulation(suite):
    suite.write("places.c", PLACES)
    status, output = suite.orrery("cc", "--sim", "places.c", "-o", "places-sim")
    hosts = "node-2\nnode-0\n"
    for claim, rules, expected in (
            ("map", ("--map-by", "node"), {0: 0, 1: 1, 2: 2, 3: 3, 4: 0, 5: 1}),
            ("limit", ("--mppr", "2:n", "--bind-to", "core"), {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2}),
            ("hosts", ("--map-by", "node", "--hostfile", suite.write("two", hosts)),
             {0: 2, 1: 0, 2: 2, 3: 0, 4: 2, 5: 0})):
        status, output = suite.orrery("run", "--sim", SMALL, "-n", "6", *rules, "./places-sim")
        found = {int(rank): int(host) for rank, host in
                 re.findall(r"rank (\d): host node-(\d)", output)}
        suite.verdict("simulation_follows_the_" + claim, found == expected, output)


RING = """
#include <starpu_mpi.h>
static void add_cpu(void *buffers[], void *arg)
{
	(void)buffers, (void)arg;
}
static struct starpu_codelet add = {.cpu_funcs = {add_cpu}, .nbuffers = 2, .name = "add",
				    .modes = {STARPU_R, STARPU_RW},
				    .model = &starpu_perfmodel_nop};
int main(int argc, char **argv)
{
	starpu_data_handle_t x[64];
	static char mine[1 << 20];
	int rank, size, far;
	starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	far = size / 2;
	for (int i = 0; i < size; i++) {
		starpu_vector_data_register(&x[i], rank == i ? STARPU_MAIN_RAM : -1,
					    (uintptr_t)(rank == i ? mine : NULL),
					    sizeof mine, 1);
		starpu_mpi_data_register(x[i], i, i);
	}
	for (int k = 0; k < 5; k++) /* rank i and rank i + size / 2 */
		for (int i = 0; i < size; i++)
			starpu_mpi_task_insert(MPI_COMM_WORLD, &add, STARPU_R, x[i], STARPU_RW,
					       x[(i + far) % size], 0);
	for (int i = 0; i < size; i++)
		starpu_data_unregister(x[i]);
	starpu_mpi_shutdown();
	return 0;
}
"""


def matrix_of(suite, name):
    try:
        with open(os.path.join(suite.directory, name), encoding="utf-8") as f:
            return f.read()
    except OSError as error:
        return str(error)


def optimises(suite):
    """Ranks i and i + 4 talk; by core, no two of them are on one host."""
    suite.write("pairs.c", RING)
    suite.orrery("cc", "--sim", "pairs.c", "-o", "pairs-sim")
    words = ("--sim", SMALL, "-n", "8", "--map", "cnh", "--bind", "1c", "--mppr", "2:n")
    status, output = suite.orrery("run", *words, "--comm-matrix", "m.csv", "./pairs-sim")
    text = "# bytes sent by starpu_mpi, 8 ranks\nfrom,to,bytes\n" + "".join(
        "%d,%d,%d\n" % (i, (i + 4) % 8, 5 << 20) for i in range(8))
    suite.verdict("matrix_of_a_simulated_run", status == 0 and matrix_of(suite, "m.csv") == text,
                  output + matrix_of(suite, "m.csv"))
    status, output = suite.orrery("map", *words, "--optimise", "--matrix", "m.csv",
                                  "--print", "hostfile", "-o", "better")
    hosts = matrix_of(suite, "better").split()
    suite.verdict("pairs_share_a_host", status == 0 and hosts[:4] == hosts[4:]
                  and len(set(hosts)) == 4 and "100.0 % less" not in output, output)
    found = shutil.which("scotch_gmap") or shutil.which("gmap")
    suite.verdict("scotch_is_asked_or_missed", ("begins with an order of SCOTCH" if found else
                  "SCOTCH was not found") in output, output)
    status, output = suite.orrery("map", *words, "--optimise", "./pairs-sim")
    dates = re.search(r"simulated time (\S+) s before, (\S+) s after: [\d.]+ % less", output)
    suite.verdict("gain_is_simulated", status == 0 and dates
                  and float(dates.group(2)) < 0.7 * float(dates.group(1)), output)
    suite.refuses("optimise_without_matrix", "map", *words, "--optimise", says=["--matrix"])
    status, output = suite.orrery("map", "--topology", "2049*pu:128", "-n", "262272", "--map", "hn",
                                  "--optimise", "--matrix", "m.csv")
    suite.verdict("too_many_to_optimise", status == 2 and "262272 ranks" in output and
                  "at most 262144: optimise a smaller map" in output, (status, output))
    suite.refuses("matrix_without_optimise", "map", *words, "--matrix", "m.csv",
                  says=["--optimise"])
    suite.refuses("no_matrix", "map", *words, "--optimise", "--matrix", "no.csv",
                  says=["no.csv", "cannot be read"])
    suite.refuses("damaged_matrix", "map", *words, "--optimise", "--matrix",
                  suite.write("bad.csv", "from,to,bytes\n0,9,1\n"), says=["bad.csv:2", "0 to 7"])
    suite.refuses("program_for_nothing", "map", *words, "./pairs-sim", says=["orrery run"])
    suite.refuses("program_that_is_real", "map", "-n", "2", "--optimise", "./pairs-sim",
                  says=["--sim"])


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        printed(suite)
        files(suite)
        pictures(suite)
        refusals(suite)
        if configured("mpi"):
            alike_on_described_nodes(suite)
            alike_on_this_machine(suite)
            runs_for_real(suite)
            matrix_of_a_real_run(suite)
        if configured("sim"):
            runs_in_simulation(suite)
            optimises(suite)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
