"""Harness for subjects of perfplan microbenchmarks in Python 3.8 or later. It depends on nothing: copy it.

    import perfplan_subject

    def setup(size, parameters):            # outside of the clock; parameters is a dict of text
        data = load(size)
        result = None
        def work():                         # one iteration
            nonlocal result
            result = sorted(data)
        return work, lambda: hash_of(result)  # and the checksum of its result, a number; or work alone

    perfplan_subject.serve(setup)

What the subject prints goes to standard error: standard output is the conversation, docs/subject-protocol.md says of what.
"""

import gc
import itertools
import sys
import time
import traceback


def serve(setup, stdin=None, stdout=None):
    """Answers messages until "exit" or the end of the input."""
    stdin = stdin or sys.stdin
    stdout = stdout or sys.stdout
    if stdout is sys.stdout:
        sys.stdout = sys.stderr  # print() in the subject must not get into the conversation

    def say(line):
        stdout.write(line + "\n")
        stdout.flush()

    pauses = _Pauses()
    work = None
    say("perfplan-subject 1")
    for line in stdin:
        line = line.rstrip("\r\n")
        if line == "exit":
            return
        try:
            word, _, rest = line.partition(" ")
            if word == "setup":
                work = None
                values = _fields(rest, line)
                work = setup(_number(values.pop("size", ""), 0, line), values)
                if not isinstance(work, tuple):
                    work = (work, None)
                gc.collect()
                say("ready")
            elif word == "run":
                values = _fields(rest, line)
                n = _number(values.get("iterations", ""), 1, line)
                if work is None:
                    raise ValueError("run before setup")
                say(_run(work, n, pauses))
            else:
                raise ValueError("unknown message %r, want setup, run or exit" % line)
        except Exception as error:
            if not isinstance(error, ValueError):
                traceback.print_exc(file=sys.stderr)
            say("error " + " ".join(("%s" % error or type(error).__name__).split()))


def _run(work, n, pauses):
    do, checksum = work
    pauses.count = pauses.ns = 0
    iterations = itertools.repeat(None, n)
    begin = time.perf_counter_ns()
    for _ in iterations:
        do()
    ns = time.perf_counter_ns() - begin
    text = "done iterations=%d ns=%d gc=%d gc_ns=%d" % (n, ns, pauses.count, pauses.ns)
    if checksum is not None:
        text += " checksum=%x" % checksum()
    return text


class _Pauses:
    """Counts garbage collections, which stop the program."""

    def __init__(self):
        self.count = self.ns = self.begin = 0
        gc.callbacks.append(self.note)

    def note(self, phase, info):
        if phase == "start":
            self.begin = time.perf_counter_ns()
        else:
            self.count += 1
            self.ns += time.perf_counter_ns() - self.begin


def _fields(rest, line):
    values = {}
    for field in rest.split(" "):
        key, equals, value = field.partition("=")
        if not (key and equals and value) or key in values:
            raise ValueError("got %r, want fields key=value, each once and apart by one space" % line)
        values[key] = value
    return values


def _number(text, least, line):
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        raise ValueError("got %r, want a whole number of %d or more" % (line, least))
    return int(text)
