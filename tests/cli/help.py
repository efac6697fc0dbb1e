#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""orrery help, the manual page and the completions say what the command and doc/ say."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from run import ORRERY, SRC, Suite

MAKE = os.path.join(SRC, "scripts", "make-cli-files")
COMPLETE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_orrery
echo "${COMPREPLY[@]}"
"""


def doc(name):
    with open(os.path.join(SRC, "doc", name), encoding="utf-8") as f:
        return f.read()


def made(kind):
    return subprocess.run([sys.executable, MAKE, kind], capture_output=True, text=True,
                          check=True).stdout


def pages(suite):
    status, text = suite.orrery("help")
    topics = re.findall(r"^  (\w+) {2,}\w", text.split("topics of")[-1], re.M)
    bad = [topic for topic in topics if suite.orrery("help", topic)[0] != 0]
    suite.verdict("each_topic_has_a_page", status == 0 and len(topics) > 10 and not bad,
                  "%s, bad: %s" % (topics, bad))
    for topic, name in (("sim", "simulation.md"), ("knobs", "knobs.md")):
        suite.verdict("help_%s_is_the_document" % topic,
                      suite.orrery("help", topic)[1].rstrip() == doc(name).rstrip(), "it differs")
    section = suite.orrery("help", "models")[1].rstrip()
    suite.verdict("help_models_is_a_section", section.startswith("## How long a task takes") and
                  section in doc("simulation.md") and section.count("\n## ") == 0, section)
    for variable in ("STARPU_SCHED", "orrery_transport"):
        row = re.search(r"\| %s \|.*\| (.*) \|" % variable.upper(), doc("knobs.md")).group(1)
        suite.succeeds("help_" + variable, "help", variable, says=row)
    for variable, says in (("STARPU_NHIP", "devices other than CUDA's"),
                           ("starpu_darts_x", "STARPU_DARTS_X (effect: none, said at start)")):
        suite.succeeds("help_" + variable, "help", variable, says=says)
    for command in ("run", "map", "study", "report", "compare", "platform", "calibrate", "cc",
                    "doctor"):
        suite.verdict("help_%s_is_its_own" % command, suite.orrery("help", command)
                      == suite.orrery(command, "--help"), "it differs")
    suite.refuses("unknown_topic", "help", "shceduler", says=["did you mean schedulers"])
    suite.refuses("unknown_variable", "help", "STARPU_SCHEDD", says=["did you mean STARPU_SCHED"])
    suite.refuses("misspelt_command", "rnu", says=["no command rnu", "did you mean run"])
    suite.refuses("misspelt_option", "run", "-n", "2", "--simm", "x", "./a",
                  says=["--simm", "did you mean --sim", "orrery run --help"])
    suite.refuses("misspelt_option_of_another", "report", "--tex", "x",
                  says=["--tex", "did you mean --text", "orrery report --help"])
    suite.refuses("no_number_of_ranks", "run", "./a", says=["how many ranks", "-n N"])


def manual(suite):
    page = made("man").replace("\\-", "-")
    options = [word for command in ("run", "map", "study", "report", "compare", "platform",
                                       "calibrate")
               for word in re.findall(r"--[a-z-]+", suite.orrery(command, "--help")[1])]
    variables = re.findall(r"^\| ([A-Z_0-9]+) \|(?! none)", doc("knobs.md"), re.M)
    missing = [word for word in options + variables if word not in page]
    suite.verdict("manual_has_all_options_and_variables", not missing and len(variables) > 50,
                  missing)
    out = subprocess.run(["man", "--warnings", "-l", "-"], input=made("man"), text=True,
                         capture_output=True, env=dict(os.environ, MANPAGER="cat", LC_ALL="C"))
    suite.verdict("manual_is_a_manual_page", out.returncode == 0 and not out.stderr
                  and "SYNOPSIS" in out.stdout, out.stderr) if has("man") else None


def has(command):
    return any(os.access(os.path.join(path, command), os.X_OK)
               for path in os.environ["PATH"].split(":"))


def completion(suite):
    path = suite.write("bash-completion", made("bash"))

    def complete(*words):
        return subprocess.run(["bash", "-c", COMPLETE, "-", path, *words], text=True,
                              capture_output=True, cwd=suite.directory).stdout.split()

    # Not what the explanations behind them name.
    columns = re.findall(r"^  -.*?(?:  |$)", suite.orrery("run", "--help")[1], re.M)
    options = set(re.findall(r"--[a-z-]+", " ".join(columns)))
    for claim, words, expected in (
            ("commands", ("orrery", "r"), {"run", "report"}),
            ("options", ("orrery", "run", "--"), options),
            ("platforms", ("orrery", "run", "--sim", "gpu"), {"gpu64", "gpu1024"}),
            ("levels", ("orrery", "map", "--bind-to", "n"), {"numa", "node", "nic"}),
            ("prints", ("orrery", "map", "--print", "b"), {"bindings"}),
            ("transports", ("orrery", "run", "--transport", ""),
             {"mpi", "routes", "flows", "none", "ucx"}),
            ("topics", ("orrery", "help", "sc"), {"schedulers", "scale"}),
            ("nothing_for_files", ("orrery", "cc", "he"), set())):
        found = complete(*words)
        suite.verdict("bash_completes_" + claim, set(found) == expected,
                      "%s, expected %s" % (found, expected))
    missing = [option for option in options if "'%s[" % option not in made("zsh")]
    suite.verdict("zsh_knows_the_options", not missing, missing)


def unread(suite):
    """Output that nobody reads any more, as with "| head", and that has no room."""
    for claim, place, status, said in (("to_nobody", None, 128 + signal.SIGPIPE, ""),
                                       ("to_a_full_disk", "/dev/full", 1,
                                        "[orrery] the output cannot be written: No space left "
                                        "on device\n")):
        read, write = os.pipe()
        os.close(read)
        if place:
            os.close(write)
            write = os.open(place, os.O_WRONLY)
        for words in ("help", "knobs"), ("--help",):
            out = subprocess.run([sys.executable, ORRERY, *words], stdout=write, text=True,
                                 stderr=subprocess.PIPE, timeout=100)
            suite.verdict("%s_%s" % (words[-1].strip("-"), claim), (out.returncode, out.stderr) ==
                          (status, said), (out.returncode, out.stderr))
        os.close(write)


def main():
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        pages(suite)
        manual(suite)
        completion(suite)
        unread(suite)
        status, output = suite.orrery("--version")
        suite.verdict("version", status == 0 and re.fullmatch(r"orrery \d+\.\d+\.\d+\n", output),
                      output)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
