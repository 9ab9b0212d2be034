#!/usr/bin/env python3
"""Computes reference.json, which the tests hold this package against.

    python3 reference.py > reference.json

It needs NumPy, SciPy and statsmodels (Debian: python3-scipy,
python3-statsmodels); the file was made with SciPy 1.10.1 and statsmodels 0.13.5.
What those libraries have comes from them; the rest is written out here from the
papers, as sums over whole distributions or in vector form, apart from the Go
sources.
"""
import itertools
import json

import numpy as np
from scipy import stats
from statsmodels.stats import contingency_tables, inter_rater, multitest, proportion

Z = stats.norm.ppf(0.975)


def wilson_and_exact():
    for x, n in [(25, 25), (23, 25), (22, 25), (95, 100), (190, 200), (475, 500), (0, 7), (1, 1), (3, 8), (499, 1000)]:
        for level in (0.8, 0.95, 0.99):
            wilson = proportion.proportion_confint(x, n, 1 - level, "wilson")
            exact = proportion.proportion_confint(x, n, 1 - level, "beta")
            yield {"pass": x, "n": n, "level": level, "wilson": list(map(float, wilson)), "exact": list(map(float, exact))}


def newcombe():
    for a, n, b, m in [(56, 70, 48, 80), (9, 10, 3, 10), (10, 10, 0, 20), (23, 25, 25, 25), (5, 56, 0, 29)]:
        low, high = proportion.confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff", alpha=0.05)
        yield {"first": [a, n], "second": [b, m], "value": a / n - b / m, "interval": [float(low), float(high)]}


def newcombe_paired():
    """Method 10 of Newcombe (1998) for pairs, from the limits of statsmodels."""
    for a, b, c, d in [(1, 1, 7, 12), (59, 6, 16, 80), (36, 12, 2, 0), (14, 5, 0, 22), (20, 0, 0, 0), (80, 3, 9, 8)]:
        n = a + b + c + d
        p, q = (a + b) / n, (a + c) / n
        lp, up = proportion.proportion_confint(a + b, n, 0.05, "wilson")
        lq, uq = proportion.proportion_confint(a + c, n, 0.05, "wilson")
        e = (a + b) * (c + d) * (a + c) * (b + d)
        f = a * d - b * c
        f = f - n / 2 if f > n / 2 else (0 if f >= 0 else f)
        phi = f / np.sqrt(e) if e else 0
        low = p - q - np.sqrt((p - lp) ** 2 - 2 * phi * (p - lp) * (uq - q) + (uq - q) ** 2)
        high = p - q + np.sqrt((q - lq) ** 2 - 2 * phi * (q - lq) * (up - p) + (up - p) ** 2)
        yield {"table": [a, b, c, d], "value": p - q, "interval": [float(low), float(high)]}


def mcnemar():
    for b, c in [(5, 0), (6, 0), (8, 1), (1, 7), (6, 16), (3, 3), (0, 0), (40, 61), (500, 431)]:
        n = b + c
        pmf = stats.binom.pmf(np.arange(n + 1), n, 0.5)
        first, second = float(pmf[b:].sum()), float(pmf[c:].sum())
        both = contingency_tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue if n else 1.0
        mid = min(1.0, 2 * float(pmf[max(b, c) :].sum()) - float(pmf[b])) if n else 1.0
        if b == c:
            mid = 1.0
        yield {"flips": [b, c], "two": float(min(1, both)), "first": first, "second": second, "mid": mid}


def adjusted():
    for p in [[0.01, 0.04, 0.03, 0.005], [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459,
              0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0], [0.5], [0.2, 0.2, 0.2]]:
        yield {"p": p, "holm": multitest.multipletests(p, method="holm")[1].tolist()}


def kappa():
    for table in [(20, 5, 10, 15), (29, 1, 2, 8), (45, 15, 25, 15), (1, 0, 3, 40), (88, 10, 14, 120), (5, 9, 7, 4)]:
        a, b, c, d = table
        value = float(inter_rater.cohens_kappa(np.array([[a, b], [c, d]])).kappa)
        r = inter_rater.cohens_kappa(np.array([[a + 1, b + 1], [c + 1, d + 1]]))
        half = Z * r.std_kappa
        yield {"table": table, "value": value, "interval": [float(max(-1, r.kappa - half)), float(min(1, r.kappa + half))]}


def rogan_gladen():
    """The interval of Lang and Reiczigel (2014): formulas 2, 4, 6, 7, 16 and 17."""
    for x, n, tp, fn, tn, fp in [(70, 100, 45, 5, 40, 10), (23, 150, 48, 2, 89, 11), (175, 200, 29, 1, 8, 2), (300, 1000, 17, 3, 190, 10), (12, 12, 9, 1, 3, 2)]:
        n1, n0 = tp + fn, tn + fp
        value = (x / n + tn / n0 - 1) / (tp / n1 + tn / n0 - 1)
        p, se, sp = (x + Z * Z / 2) / (n + Z * Z), (tp + 1) / (n1 + 2), (tn + 1) / (n0 + 2)
        j = se + sp - 1
        t = (p + sp - 1) / j
        v1, v0 = se * (1 - se) / (n1 + 2), sp * (1 - sp) / (n0 + 2)
        shift = 2 * Z * Z * (t * v1 - (1 - t) * v0)
        half = Z * np.sqrt((p * (1 - p) / (n + Z * Z) + t * t * v1 + (1 - t) ** 2 * v0) / j**2)
        clip = lambda f: float(np.clip(f, 0, 1))
        yield {"judged": [x, n], "labels": [tp, fp, tn, fn], "value": clip(value), "interval": [clip(t + shift - half), clip(t + shift + half)]}


def ppi():
    rng = np.random.default_rng(7)
    for n, big, noise in [(60, 400, 0.3), (40, 2000, 1.5), (200, 100, 0.05)]:
        truth = rng.normal(0.6, 0.3, n + big)
        seen = np.round(truth + rng.normal(0.1, noise, n + big), 3)
        human, f, fu = np.round(truth[:n], 3), seen[:n], seen[n:]
        cov = np.cov(human, f, ddof=0)[0, 1]
        lam = float(np.clip(cov / ((1 + n / big) * np.var(np.concatenate([f, fu]))), 0, 1))
        value = lam * fu.mean() + (human - lam * f).mean()
        se = np.sqrt(np.var(lam * fu) / big + np.var(human - lam * f) / n)
        yield {"human": human.tolist(), "predicted": f.tolist(), "unlabelled": fu.tolist(), "tuning": lam,
               "value": float(value), "interval": [float(value - Z * se), float(value + Z * se)]}


def bootstrap():
    """BCa of SciPy over clusters, with many replicates."""
    rng = np.random.default_rng(11)
    for clusters in (12, 30):
        passed = [[float(v) for v in rng.random(rng.integers(2, 9)) < rng.beta(4, 2)] for _ in range(clusters)]
        sums, sizes = np.array([sum(c) for c in passed]), np.array([len(c) for c in passed])
        ratio = lambda s, n, axis=-1: s.sum(axis=axis) / n.sum(axis=axis)
        r = stats.bootstrap((sums, sizes), ratio, paired=True, vectorized=True, n_resamples=200_000, method="BCa", random_state=rng)
        yield {"clusters": passed, "value": float(sums.sum() / sizes.sum()), "interval": [float(r.confidence_interval.low), float(r.confidence_interval.high)]}


if __name__ == "__main__":
    tables = [wilson_and_exact, newcombe, newcombe_paired, mcnemar, adjusted, kappa, rogan_gladen, ppi, bootstrap]
    print("{\n" + ",\n".join(
        f' "{t.__name__}": [\n' + ",\n".join("  " + json.dumps(row) for row in itertools.chain(t())) + "\n ]" for t in tables
    ) + "\n}")
