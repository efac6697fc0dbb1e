# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
"""Compares the interfaces that Fortran modules declare with the prototypes of C: which bytes
a function takes, by value or from an address, and of what.  For run.py.
"""
import re
from collections import namedtuple

# result: of type Type, or None.  c: the name that is linked.  args: of type Type.
Procedure = namedtuple("Procedure", "name c result args")
# base: "int 4", "real 8", "char", "pointer", "function", "void", "struct"; depth: how many
# addresses lead to it; written: the address is there to be written to.
Type = namedtuple("Type", "name base depth written")

# An address that C has as a number; Fortran has it as a pointer, too.
ADDRESS = "address"
FORTRAN = {"type(c_ptr)": "pointer", "type(c_funptr)": "function", "integer(c_int)": "int 4",
           "integer(c_long_long)": "int 8", "integer(c_int64_t)": "int 8",
           "integer(c_long)": "int 8", "integer(c_intptr_t)": ADDRESS,
           "integer(c_size_t)": "int 8", "real(c_float)": "real 4",
           "real(c_double)": "real 8", "character(kind=c_char)": "char"}
C = {"void": "void", "char": "char", "float": "real 4", "double": "real 8", "size_t": "int 8",
     "long": "int 8", "int64_t": "int 8", "uint64_t": "int 8", "uintptr_t": ADDRESS,
     "intptr_t": ADDRESS, "int32_t": "int 4", "uint32_t": "int 4", "int": "int 4",
     "unsigned": "int 4"}
# Addresses of pointers that Fortran has as a value: the kernels' buffers, arrays of handles
# and requests that the library makes.
TOLD_BY_VALUE = re.compile(r"fstarpu_(\w+_get_(ptr|ld\w?|n[xyzt])\(buffers"
                           r"|data_handle_array_(free\(handles|set\(handles|alloc\(\))"
                           r"|mpi_(\w+\((mpi_)?req|req_alloc\(\)))$")
# Small numbers that StarPU's modules take in more bytes: in a register, they are the same.
WIDER = re.compile(r"fstarpu_(\w+_filter_\w+\((id|nparts)|vector_divide_in_2\((id|nparts)"
                   r"|mpi_node_selection_unregister_policy\(policy"
                   r"|mpi_data_selection_set_current_policy\(policy"
                   r"|mpi_set_communication_tag\(tag)$")


def procedures(text):
    """The interfaces of a module."""
    text = re.sub(r"&\n\s*", "", re.sub(r"^\s*!.*\n", "", text, flags=re.M))
    found = []
    for block in re.findall(r"^  interface$(.*?)^  end interface$", text, re.M | re.S):
        for what, name, args, bound, body in re.findall(
                r"^    (function|subroutine) (\w+) ?\((.*?)\) ?"
                r"bind\(C(?:, ?name=\"(\w+)\")?\)$(.*?)^    end \1 \2$", block, re.M | re.S):
            declared = declarations(body)
            found.append(Procedure(name, bound or name,
                                   declared[name] if what == "function" else None,
                                   [declared[arg] for arg in re.findall(r"\w+", args)]))
    return found


def declarations(body):
    """{name: Type}, a result's among them, which is a value."""
    found = {}
    for kind, attributes, names in re.findall(
            r"^ +(?!import)([\w()=]+)((?:, ?[\w()]+)*) :: (.*)$", body, re.M):
        value = "value" in attributes or "intent" not in attributes and "(*)" not in names
        for name in re.findall(r"\w+(?=\(\*\)|,|$)", names):
            found[name] = Type(name, FORTRAN[kind], 0 if value else 1,
                               "intent(out)" in attributes)
    return found


def prototypes(code):
    """{function: (result, [types])} of preprocessed C, as it is written there."""
    code = re.sub(r"__attribute__\s*\(\([^;{]*?\)\)", "", code)
    code = re.sub(r"\s+", " ", code)
    found = {}
    for result, name, args in re.findall(
            r"([\w ]+[ *]+)(f?starpu_\w+) ?\(((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*)\) ?[;{]",
            code):
        args = re.sub(r"\((?:[^()]|\([^()]*\))*\)", "(*)", args)
        found[name] = (result, [] if args.strip() in ("", "void") else args.split(","))
    return found


def typedefs(code):
    """{name: what it stands for}; functions are FUNCTION."""
    code = re.sub(r"\s+", " ", re.sub(r"__attribute__\s*\(\([^;{]*?\)\)", "", code))
    found = {name: "FUNCTION" for name in
             re.findall(r"typedef [^;{}()]*\( ?\* ?(\w+) ?\)", code)}
    for what, name in re.findall(r"typedef ([^;{}()]+?[ *])(\w+) ?;", code):
        found.setdefault(name, what)
    return found


def c_type(text, known):
    """A parameter, with its name or without."""
    if "(*" in text:
        return Type("", "function", 0, False)
    depth, const = text.count("*") + text.count("["), "const" in text
    text = re.sub(r"\b(const|extern|static|inline|restrict|volatile)\b|\[.*", " ", text)
    words = re.findall(r"\w+", text)
    if words[0] in ("struct", "union"):
        return pointed(Type("", "struct", depth, not const))
    if words[0] == "enum":
        return Type("", "int 4", depth, not const)
    if words[0] in known and words[0] not in C:
        if known[words[0]] == "FUNCTION":
            return Type("", "function", depth, not const)
        inner = c_type(known[words[0]], known)
        if inner.base == "pointer":
            return Type("", "pointer", inner.depth + depth, not const)
        return pointed(Type("", inner.base, inner.depth + depth, not const))
    base = "int 8" if words[:2] == ["unsigned", "long"] else C[words[0]]
    return pointed(Type("", base, depth, not const))


def pointed(kind):
    """What Fortran knows as a c_ptr: addresses of structs and of anything."""
    if kind.base in ("struct", "void") and kind.depth:
        return Type("", "pointer", kind.depth - 1, kind.written)
    return kind


def differs(ours, theirs, where):
    """where: "function(argument"."""
    small = theirs == Type("", "int 4", 0, True) and WIDER.match(where)
    if ours.base == "pointer" and ours.depth == 0:
        # The address of a number is c_loc(); of a pointer, only where it is said above.
        if theirs.base == "pointer":
            return theirs.depth != (1 if TOLD_BY_VALUE.match(where) else 0)
        return theirs.depth != (0 if theirs.base == ADDRESS else 1) and not small
    if TOLD_BY_VALUE.match(where) or (ours.base, ours.depth) != (theirs.base, theirs.depth):
        return not (small and ours.depth == 0)
    return ours.depth > 0 and ours.written and not theirs.written


def wrong(found, declared, known):
    """What the procedures declare otherwise than C."""
    said = []
    for ours in found:
        if ours.c not in declared:
            said.append("%s has no prototype" % ours.c)
            continue
        result, args = declared[ours.c]
        # Who has no use for a result may call a function as a subroutine.
        if ours.result and differs(ours.result, c_type(result, known), ours.name + "()"):
            said.append("%s returns %s, C's %s" % (ours.name, ours.result.base, result))
        if len(ours.args) != len(args):
            said.append("%s has %d arguments, C's %d" % (ours.name, len(ours.args), len(args)))
        said += ["%s: argument %s is %s %s, C's %s" % (
            ours.name, arg.name, arg.base, "at an address" if arg.depth else "by value",
            text.strip()) for arg, text in zip(ours.args, args)
            if differs(arg, c_type(text, known), "%s(%s" % (ours.name, arg.name))]
    return said


def passed_otherwise(found):
    """Each argument in turn, by value instead of at an address or the other way round."""
    for ours in found:
        for i, arg in enumerate(ours.args):
            yield ours._replace(args=ours.args[:i] + [arg._replace(
                depth=1 - arg.depth)] + ours.args[i + 1:]), arg
