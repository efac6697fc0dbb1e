#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Files of models as editors, copies and other programs leave them: each is read right, or
refused with file, line, what was found, what was expected, and what to do."""
import os
import re
import sys
import tempfile

from run import SRC, Suite, configured

HEAD = """##################
# Performance Model Version
45
# number of combinations
1
# number of types devices
1
# device type (CPU - 0, CUDA - 1, OPENCL - 2)
0
# device id
0
# number of cores
1
# number of implementations
1
"""
# The 16th line is the first of these.
BODY = """# number of entries
2
# sumlnx sumlnx2 sumlny sumlnxlny alpha beta n minx maxx
0.0 0.0 0.0 0.0 nan nan 0 0 0
# a b c
nan nan nan
# not multiple-regression-base
0
# hash size flops mean (us) dev (us) sum sum2 n
00001234 99 0.0 7.0 0.0 70.0 490.0 10
%s 4 0.0 100.0 1.0 1000.0 100010.0 10
"""
ENTRY = "4 0.0 100.0 1.0 1000.0 100010.0 10"


def other(old, new):
    def change(text):
        assert text.count(old) == 1, (old, text.count(old))
        return text.replace(old, new)
    return change


def entry(new):
    return other(ENTRY, new)


# What is read as if nothing were wrong: 20 tasks of 100 us.
READ = {
    "as_it_is": lambda text: text,
    "a_byte_order_mark": lambda text: "\ufeff" + text,
    "ends_of_lines_of_windows": lambda text: text.replace("\n", "\r\n"),
    "both_of_these": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "no_end_of_the_last_line": lambda text: text.rstrip("\n"),
    "blank_lines_at_the_end": lambda text: text + "\n\n \t\n",
    "tabs_and_blanks": lambda text: text.replace(" ", " \t "),
    "a_comment_behind_a_number": other("45\n", "45 # the version\n"),
    "format_44": lambda text: other("\n45\n", "\n44\n")(other(
        "# not multiple-regression-base\n0\n", "")(text)),
    "entries_without_flops": lambda text: re.sub(r"^(\w{8} \d+) 0\.0 ", r"\1 ", text, flags=re.M),
    "the_same_without_the_last_end": lambda text: re.sub(
        r"^(\w{8} \d+) 0\.0 ", r"\1 ", text, flags=re.M).rstrip("\n"),
    "flops_that_differed": entry("4 nan 100.0 1.0 1000.0 100010.0 10"),
    "a_deviation_that_is_nan": entry("4 0.0 100.0 nan 1000.0 100010.0 10"),
    "nothing_measured_of_another_size": other("99 0.0 7.0 0.0 70.0 490.0 10",
                                              "99 0.0 nan nan nan nan 0"),
}
# What is refused: change, line, what is named as found, as expected.
REFUSED = {
    "mean_nan": (entry("4 0.0 nan 1.0 1000.0 100010.0 10"), 26, "nan", "a mean of 0 to 1e15 us"),
    "mean_negative": (entry("4 0.0 -100.0 1.0 1000.0 100010.0 10"), 26, "-100", "a mean of 0"),
    "mean_infinite": (entry("4 0.0 inf 1.0 1000.0 100010.0 10"), 26, "inf", "a mean of 0"),
    "mean_absurd": (entry("4 0.0 1e200 1.0 1e201 1e300 10"), 26, "1e\\+200", "1e15 us"),
    "deviation_negative": (entry("4 0.0 100.0 -1.0 1000.0 100010.0 10"), 26, "-1", "a deviation"),
    "sum_nan": (entry("4 0.0 100.0 1.0 nan 100010.0 10"), 26, "nan", "a sum of 0"),
    "sum2_negative": (entry("4 0.0 100.0 1.0 1000.0 -1 10"), 26, "-1", "a sum2 of 0"),
    "flops_negative": (entry("4 -2 100.0 1.0 1000.0 100010.0 10"), 26, "-2", "flops of 0"),
    "n_negative": (entry("4 0.0 100.0 1.0 1000.0 100010.0 -10"), 26, "-10", "sum2 n"),
    "n_beyond_32_bits": (entry("4 0.0 100.0 1.0 1000.0 100010.0 4294967306"), 26, "4294967306",
                         "32 bits"),
    "n_beyond_64_bits": (entry("4 0.0 100.0 1.0 1000.0 100010.0 99999999999999999999"), 26,
                         "99999999999999999999", "sum2 n"),
    "n_with_a_fraction": (entry("4 0.0 100.0 1.0 1000.0 100010.0 10.5"), 26, "10.5", "sum2 n"),
    "size_negative": (entry("-4 0.0 100.0 1.0 1000.0 100010.0 10"), 26, "-4", "footprint size"),
    "a_decimal_comma": (entry("4 0,0 100,0 1,0 1000,0 100010,0 10"), 26, "0,0", "footprint size"),
    "a_word_for_a_number": (entry("4 0.0 fast 1.0 1000.0 100010.0 10"), 26, "fast", "mean"),
    "a_ninth_number": (entry(ENTRY + " 11"), 26, "11", "sum2 n"),
    "too_few_numbers": (entry("4 0.0 100.0 1.0"), 26, "end of the line", "footprint size"),
    "a_footprint_beyond_32_bits": (other("00001234", "100001234"), 25, "100001234", "32 bits"),
    "a_footprint_that_is_none": (other("00001234", "0000xyz4"), 25, "0000xyz4", "footprint"),
    "truncated_in_a_line": (lambda text: text[:-20], 26, None, "sum2 n"),
    "truncated_in_the_last_number": (lambda text: text[:-2], None, None, "ends after line 26"),
    "truncated_before_a_line": (lambda text: text[:text.rindex("\n", 0, -1) + 1], None, None,
                                "ends after line 25.*truncated"),
    "truncated_in_the_head": (lambda text: text[:HEAD.index("# device id")], None, None,
                              "ends after line 9.*a device number"),
    "another_version": (other("\n45\n", "\n46\n"), 3, "46", "45, the version of the format"),
    "a_version_and_more": (other("\n45\n", "\n45 7\n"), 3, "7", "45, the version"),
    "no_model_at_all": (lambda text: "hello, world\n", 1, "hello,", "45, the version"),
    "markup": (lambda text: "<html>\n<body>404</body>\n", 1, "<html>", "45, the version"),
    "more_combinations_than_there_are": (other("combinations\n1\n", "combinations\n2\n"), None, None,
                                         "ends after line 26, expected a number of devices"),
    "negative_combinations": (other("combinations\n1\n", "combinations\n-1\n"), 5, "-1",
                              "the number of combinations"),
    "absurdly_many_combinations": (other("combinations\n1\n", "combinations\n99999999\n"), 5,
                                   "99999999", "the number of combinations"),
    "more_implementations": (other("implementations\n1\n", "implementations\n2\n"), None, None,
                             "ends after line 26, expected the number of entries"),
    "more_entries": (other("entries\n2\n", "entries\n3\n"), None, None, "ends after line 26"),
    "a_device_type_that_is_none": (other("OPENCL - 2)\n0\n", "OPENCL - 2)\n777\n"), 9, "777",
                                   "a device type"),
    "two_numbers_of_cores": (other("cores\n1\n", "cores\n1 1\n"), 13, "1", "a number of cores"),
    "ten_sums": (other("nan nan 0 0 0\n", "nan nan 0 0 0 0\n"), 19, "0", "sumlnx"),
    "eight_sums": (other("nan nan 0 0 0\n", "nan nan 0 0\n"), 19, "end of the line", "sumlnx"),
    "four_coefficients": (other("nan nan nan\n", "nan nan nan nan\n"), 21, "nan", "a b c"),
    "fewer_coefficients_than_it_says": (other("base\n0\n", "base\n2 1.0\n"), 23,
                                        "end of the line", "coefficients"),
    "more_coefficients_than_it_says": (other("base\n0\n", "base\n1 1.0 2.0\n"), 23, "2.0",
                                       "coefficients"),
}


# Of these what they announce is used, and the rest is spoken of: StarPU leaves such files.
LONGER = {
    "fewer_combinations_than_there_are": (other("combinations\n1\n", "combinations\n0\n"), 7),
    "fewer_implementations": (other("implementations\n1\n", "implementations\n0\n"), 17),
    "fewer_entries": (other("entries\n2\n", "entries\n1\n"), 26),
    "an_end_of_another_file": (lambda text: text + "e+00 12\n", 27),
}


class Models:
    def __init__(self, suite):
        self.suite = suite
        base = os.path.join(suite.directory, "sampling")
        os.makedirs(os.path.join(base, "codelets", "45"))
        self.path = os.path.join(base, "codelets", "45", "measured.here")
        os.environ["STARPU_PERF_MODEL_DIR"] = base
        suite.orrery("cc", "--sim", os.path.join(SRC, "tests", "cli", "measure.c"), "-o",
                     "measure-sim")
        suite.write("lab.toml", "nodes = 1\nlink = \"HDR\"\n[node]\ncores = 2\ncpu_model = \"here\"\n")
        footprint = re.search(r"for footprint (\w{8}),", self.run()[1])
        self.text = HEAD + BODY % footprint.group(1)

    def run(self):
        return self.suite.orrery("run", "--sim", "lab.toml", "-n", "1", "./measure-sim")

    def simulate(self, text):
        with open(self.path, "w", encoding="utf-8", newline="") as f:
            f.write(text)
        return self.run()


def main():
    if not configured("sim"):
        return 77
    with tempfile.TemporaryDirectory() as directory:
        suite = Suite(directory)
        os.environ.pop("STARPU_HOSTNAME", None)
        models = Models(suite)
        for claim, change in READ.items():
            status, said = models.simulate(change(models.text))
            suite.verdict("reads_" + claim, "performance model" not in said and
                          re.search(r"simulated 0\.0020\d* s", said), (status, said))
        for claim, (change, line, found, expected) in REFUSED.items():
            status, said = models.simulate(change(models.text))
            where = re.escape("performance model: " + models.path) + (
                ", line %d: found \"%s" % (line, found or "") if line else "")
            good = re.search(where + ".*" + re.sub(r"([()])", r"\\\1", expected), said)
            suite.verdict("refuses_" + claim, status == 1 and good and
                          said.count("remove the file or measure it again") == 1 and
                          "Traceback" not in said, (status, said))
        for claim, (change, line) in LONGER.items():
            status, said = models.simulate(change(models.text))
            suite.verdict("speaks_of_" + claim, re.search(
                ", line %d: found .*, expected the end of the file, .*: the rest is not used" % line,
                said), said)
        status, said = models.simulate("")
        suite.verdict("says_that_a_file_is_empty", "measured.here is empty" in said, said)
        with open(models.path, "wb") as f:
            f.write(models.text.encode("utf-16"))
        status, said = models.run()
        suite.verdict("refuses_utf_16", ", line 1: found \"??#\"" in said, said)
    return 1 if suite.nfailed else 0


if __name__ == "__main__":
    sys.exit(main())
