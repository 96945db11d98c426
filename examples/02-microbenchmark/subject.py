"""Sorts random numbers. A subject of the perfplan protocol, version 1: see docs/subject-protocol.md."""
import random
import sys
import time


def say(line):
    print(line, flush=True)


def fields(words):
    return dict(w.split("=", 1) for w in words)


rows = []
say("perfplan-subject 1")
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "setup":
        rng = random.Random(1)
        rows = [rng.random() for _ in range(int(fields(words)["size"]))]
        say("ready")
    elif verb == "run":
        n = int(fields(words)["iterations"])
        start = time.perf_counter_ns()
        for _ in range(n):
            result = sorted(rows)
        took = time.perf_counter_ns() - start
        say(f"done iterations={n} ns={took} checksum={hash(tuple(result)) & 0xFFFFFFFF:x}")
    elif verb == "exit":
        break
    else:
        say(f"error unknown message {verb}")
