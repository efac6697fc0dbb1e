# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery run, simulated: the start."""
import os
import sys

from orrery_tool.app import App, environment, preload
from orrery_tool.child import launch, tell_wishes
from orrery_tool.limits import check_maps, check_resources, choose_tmpdir
from orrery_tool.mapping import has_rules, map_of_run
from orrery_tool.platform import choose_hosts
from orrery_tool.platform_simgrid import Smpi, check_platform
from orrery_tool.private import PrivateDirectory
from orrery_tool.speech import SimgridSpeech, speech_of
from orrery_tool.statics import sanitized_warning, statics_warning
from orrery_tool.summary import Summary
from orrery_tool.words import Refusal


def simulation_environment(place, args, app, smpi, libraries):
    env = smpi.search_path(environment(place, app, args.machine))
    env["SMPI_GLOBAL_SIZE"] = str(args.n)
    env.setdefault("MALLOC_ARENA_MAX", "2")
    if args.no_privatize and app.uses("liborrery-sim"):
        # Programs find our versions of SMPI's functions first; see doc/decisions/024.
        ours = place.library("liborrery-sim")
        if not ours:
            raise Refusal("run: liborrery-sim.so is not there; build it with make")
        libraries = libraries + [ours]
    if libraries:
        env["LD_PRELOAD"] = ":".join(libraries + env.get("LD_PRELOAD", "").split())
    if args.transport:
        env["ORRERY_TRANSPORT"] = args.transport
    if args.execute:
        env["ORRERY_EXECUTE"] = "1"
    tell_wishes(args, env)
    return env


# Of the application's own collectives: in SMPI's default for these one rank talks to all
# others, and each message costs a walk over all that are on their way.
COLLECTIVES = {"reduce": "binomial", "gather": "ompi_binomial", "barrier": "ompi_bruck",
               "allgather": "bruck"}


def simulation_command(args, app, smpi, private):
    """What smpirun would start.  SimGrid takes no option after "--"."""
    command = args.wrapper + [smpi.main, app.path] + smpi.options
    command += ["--cfg=smpi/privatization:" + ("no" if args.no_privatize else "dlopen"),
                "--cfg=smpi/np:%d" % args.n, "--cfg=smpi/hostfile:%s/hosts" % private,
                "--cfg=smpi/tmpdir:" + private, "--cfg=smpi/simulate-computation:no"]
    command += ["--cfg=smpi/%s:%s" % shape for shape in COLLECTIVES.items()]
    if not args.verbose:
        command.append("--log=root.thresh:warning")
    if (args.transport or os.environ.get("ORRERY_TRANSPORT")) in ("flows", "mpi"):
        # Else flows that begin together may load a link beyond its bandwidth: decision 011.
        command.append("--cfg=network/optim:Full")
    if preload(app): # sanitizers cannot follow contexts made by hand
        command.append("--cfg=contexts/factory:thread")
    return command + [os.path.abspath(args.sim), "--"] + args.app[1:]


def run_sim(place, args, app):
    if not app.elf or app.uses("liborrery") or not app.is_simulated():
        raise Refusal("%s was not built for the simulation; build it with \"orrery cc --sim\", "
                      "or start it without --sim" % args.app[0])
    if args.transport == "ucx":
        raise Refusal("--transport ucx is for real machines; choose another, or leave out --sim")
    if "--" in args.app[1:]:
        raise Refusal("SimGrid takes each argument \"--\" for itself, and the program would not "
                      "receive it; leave it out")
    smpi = Smpi()
    names = map_of_run(place, args, "hostfile").split() if has_rules(args) else choose_hosts(args)
    libraries = preload(app)
    warning_of = statics_warning if args.n > 1 and not args.no_privatize else None
    if libraries: # nor several copies of a program
        warning_of = warning_of and sanitized_warning
        args.no_privatize = True
    check_maps(args, app)
    check_resources(args)
    base = choose_tmpdir(args, app)
    env = simulation_environment(place, args, app, smpi, libraries)
    speech = speech_of(args, SimgridSpeech)
    if args.show:
        return launch(simulation_command(args, app, smpi, base + "/PRIVATE"), args, env, speech)
    check_platform(args, smpi, names)
    shared = warning_of(app) if warning_of else ""
    if shared:
        print("[orrery] run: " + shared, file=sys.stderr, flush=True)
    with PrivateDirectory(base) as private:
        with open(os.path.join(private, "hosts"), "w", encoding="utf-8") as f:
            f.write("".join(name + "\n" for name in names))
        summary = Summary(env, private)
        status = launch(simulation_command(args, app, smpi, private), args, env, speech)
        if env.get("ORRERY_EVENTS"):
            summary.keep(env["ORRERY_EVENTS"])
        if not args.quiet:
            summary.show()
        return status
