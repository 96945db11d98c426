"""Sorts numbers: a subject in Python."""

import perfplan_subject


def setup(size, parameters):
    numbers, x = [], 1
    for _ in range(size):
        x = (1664525 * x + 1013904223) & 0xFFFFFFFF
        numbers.append(x)
    result = []

    def work():
        nonlocal result
        result = sorted(numbers)

    def checksum():
        h = 0
        for v in result:
            h = (31 * h + v) & 0xFFFFFFFF
        return h

    return work, checksum


perfplan_subject.serve(setup)
