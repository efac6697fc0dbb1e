# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery calibrate as a job of mpirun: its ranks say where they run, and the first measures."""
import os
import shutil
import time

from orrery_tool.words import Refusal, write_text

PATIENCE_S = 60           # for the other ranks to say where they are
# What mpirun tells its processes; another mpirun refuses to start where it finds it.  What
# users set, as OMPI_MCA_btl, is kept.
OF_MPIRUN = ("OMPI_APP_CTX", "OMPI_ARGV", "OMPI_COMMAND", "OMPI_COMM_WORLD_",
             "OMPI_FILE_LOCATION", "OMPI_FIRST_RANKS", "OMPI_LOCAL", "OMPI_NUM_APP_CTX",
             "OMPI_UNIVERSE_SIZE", "OMPI_MCA_ess", "OMPI_MCA_initial_wdir",
             "OMPI_MCA_mpi_oversubscribe", "OMPI_MCA_orte_", "OMPI_MCA_pmix",
             "OMPI_MCA_shmem_RUNTIME_QUERY_hint", "PMIX_", "PRTE_")


def hosts_told(directory, size, patience_s):
    """Where each rank runs, as they have written it."""
    hosts, until = {}, time.monotonic() + patience_s
    while len(hosts) < size:
        for rank in range(size):
            try:
                with open(os.path.join(directory, str(rank)), encoding="utf-8") as f:
                    hosts[rank] = f.read().strip()
            except OSError:
                continue
        if len(hosts) < size and time.monotonic() > until:
            missing = next(rank for rank in range(size) if rank not in hosts)
            raise Refusal("calibrate: rank %d of the job has not said within %g s where it runs, "
                          "in %s; all hosts must see that directory: give a shared one with -o"
                          % (missing, patience_s, directory))
        time.sleep(0.02)
    return [hosts[rank] for rank in range(size)]


def two_of(hosts):
    """The first host and the next other one; one where there is no other."""
    return hosts[:1] + [host for host in hosts if host != hosts[0]][:1]


def leave_mpirun(env):
    """What is started from here is no process of the job that this is one of."""
    if env.get("OMPI_MCA_orte_bound_at_launch") == "1":
        os.sched_setaffinity(0, range(os.cpu_count()))
    for name in [name for name in env if name.startswith(OF_MPIRUN)]:
        del env[name]


def join(args, env=os.environ, patience_s=PATIENCE_S):
    """0 where another process of the job measures.  Otherwise 1, and args.hostfile names the
    first two hosts of the job, if it has two and the user named none."""
    if "OMPI_COMM_WORLD_RANK" not in env:
        return 1
    rank, size = int(env["OMPI_COMM_WORLD_RANK"]), int(env["OMPI_COMM_WORLD_SIZE"])
    job = env.get("PMIX_NAMESPACE", env.get("OMPI_MCA_ess_base_jobid", "0"))
    directory = os.path.join(args.output, "job-%s" % job)
    os.makedirs(directory, exist_ok=True)
    # A name that is there has all of its text.
    write_text(os.path.join(directory, "%d.new" % rank), os.uname().nodename + "\n")
    os.replace(os.path.join(directory, "%d.new" % rank), os.path.join(directory, str(rank)))
    if rank > 0:
        return 0
    try:
        hosts = two_of(hosts_told(directory, size, patience_s))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    leave_mpirun(env)
    if len(hosts) == 2 and not args.hostfile:
        args.hostfile = os.path.join(args.output, "hosts")
        write_text(args.hostfile, "".join(host + "\n" for host in hosts))
    return 1
