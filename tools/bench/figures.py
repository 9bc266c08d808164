"""The figures of runs: each run is a map that a program printed."""
from statistics import median


def rates(runs):
    return f"{median(one['rate'] for one in runs):,.0f}/s"


def ratio_of(runs, others, key="rate"):
    return median(one[key] / other[key] for one, other in zip(runs, others))
