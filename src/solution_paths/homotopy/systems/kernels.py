"""The compiled sums of the systems: products with the map, refined solves, and their rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ..twofold import accumulate, add, at, moved, normalise


class Map(NamedTuple):
    """The map H = [gram R; R' -ridge] of a statement, and the scale of each unknown."""

    R: np.ndarray
    gram: np.ndarray  # without entries where the weights are variables
    ridge: np.ndarray
    scale: np.ndarray
    is_row: np.ndarray


class Direction(NamedTuple):
    """A point or its motion: z and a of all coordinates (2, N), with bounds on their rounding."""

    z: np.ndarray
    a: np.ndarray
    z_error: np.ndarray
    a_error: np.ndarray


@njit(cache=True)
def add_column(m, sign, i, h, e, size, out, terms):
    """Add (h + e) times column i of H to running sums, and size times its absolute entries."""
    n, p = m.R.shape
    last = out.shape[1] - 1
    if n <= i < n + p:
        j = i - n
        for k in range(n):
            out[0, k], out[1, k] = accumulate(out[0, k], out[1, k], m.R[k, j], h, e)
            terms[k] += abs(m.R[k, j]) * size
        out[0, i], out[1, i] = accumulate(out[0, i], out[1, i], -m.ridge[j], h, e)
        terms[i] += m.ridge[j] * size
        if last >= n + p:
            out[0, last], out[1, last] = accumulate(out[0, last], out[1, last], sign[j], h, e)
            terms[last] += abs(sign[j]) * size
        return
    row = m.R[i] if i < n else sign
    for j in range(p):
        k = n + j
        out[0, k], out[1, k] = accumulate(out[0, k], out[1, k], row[j], h, e)
        terms[k] += abs(row[j]) * size
    if i < n:
        for k in range(m.gram.shape[0]):
            out[0, k], out[1, k] = accumulate(out[0, k], out[1, k], m.gram[i, k], h, e)
            terms[k] += abs(m.gram[i, k]) * size


@njit(cache=True)
def add_known(m, here, i, way, base, terms):
    """Add (way 1) or take off (-1) what a known coordinate adds to H u: value and rate."""
    row = here.equation[i]
    for part in range(2):
        h, e = row[2 * part], row[2 * part + 1]
        if h != 0.0:
            size = way * abs(h)
            add_column(m, here.sign, i, way * h, way * e, size, base[part], terms[part])


@njit(cache=True)
def within(m, sign, rows, variables, last, base, u, out):
    """Write base + H u at and from unknown rows, variables and, if ``last``, the l1 constraint."""
    n, p = m.R.shape
    b = n + p
    for j in variables:
        h, e = accumulate(base[0, j], base[1, j], -m.ridge[j - n], u[0, j], u[1, j])
        if last:
            h, e = accumulate(h, e, sign[j - n], u[0, b], u[1, b])
        out[0, j], out[1, j] = h, e
    for k in rows:
        h, e, a, c = base[0, k], base[1, k], u[0, k], u[1, k]
        for j in variables:
            x = m.R[k, j - n]
            h, e = accumulate(h, e, x, u[0, j], u[1, j])
            out[0, j], out[1, j] = accumulate(out[0, j], out[1, j], x, a, c)
        if m.gram.shape[0]:
            for i in rows:
                h, e = accumulate(h, e, m.gram[k, i], u[0, i], u[1, i])
        out[0, k], out[1, k] = normalise(h, e)
    if last:
        h, e = base[0, b], base[1, b]
        for j in variables:
            h, e = accumulate(h, e, sign[j - n], u[0, j], u[1, j])
        out[0, b], out[1, b] = normalise(h, e)
    for j in variables:
        out[0, j], out[1, j] = normalise(out[0, j], out[1, j])


@njit(cache=True)
def correct(m, here, solved, curved, inverse, rest):
    """Return what takes residuals away: of solved coordinates, then of eliminated curved rows."""
    n, p = m.R.shape
    count = solved.shape[0]
    reduced = rest[:count].copy()
    for c in range(curved.shape[0]):
        k = curved[c]
        push = rest[count + c] * here.first[k]
        for i in range(count):
            if n <= solved[i] < n + p:
                reduced[i] -= m.R[k, solved[i] - n] * push
    step = np.empty(rest.shape[0])
    step[:count] = inverse @ reduced
    for c in range(curved.shape[0]):
        k = curved[c]
        left = rest[count + c]
        for i in range(count):
            if n <= solved[i] < n + p:
                left -= m.R[k, solved[i] - n] * step[i]
        step[count + c] = left * here.first[k]
    return step


@njit(cache=True)
def everywhere(m, here, unknown, base, base_terms, floor, u, size, out, terms):
    """Write H u and the sums of its absolute terms, given what known coordinates add to both.

    Unknowns count as no smaller than ``floor`` times the largest one, in scaled units: one that is
    zero is known to the rounding of what it was computed from. Their sizes go to ``size``.
    """
    n, p = m.R.shape
    N = u.shape[1]
    largest = 0.0
    for i in range(N):
        largest = max(largest, abs(u[0, i]) / m.scale[i])
        size[i] = abs(u[0, i])
        out[0, i], out[1, i], terms[i] = base[0, i], base[1, i], max(base_terms[i], 0.0)
    for i in unknown:
        size[i] = max(size[i], floor * largest * m.scale[i])
        if i < n or i >= n + p:
            add_column(m, here.sign, i, u[0, i], u[1, i], size[i], out, terms)
    variables = unknown[(unknown >= n) & (unknown < n + p)]
    for k in range(n):
        h, e, total = out[0, k], out[1, k], terms[k]
        for i in variables:
            h, e = accumulate(h, e, m.R[k, i - n], u[0, i], u[1, i])
            total += abs(m.R[k, i - n]) * size[i]
        out[0, k], out[1, k], terms[k] = h, e, total
    for i in variables:
        j = i - n
        out[0, i], out[1, i] = accumulate(out[0, i], out[1, i], -m.ridge[j], u[0, i], u[1, i])
        terms[i] += m.ridge[j] * size[i]
        if n + p < N:
            k = N - 1
            out[0, k], out[1, k] = accumulate(out[0, k], out[1, k], here.sign[j], u[0, i], u[1, i])
            terms[k] += abs(here.sign[j]) * size[i]
    for i in range(N):
        out[0, i], out[1, i] = normalise(out[0, i], out[1, i])


@njit(cache=True)
def refine(m, here, solved, curved, inverse, target, base, u, r, slow):
    """Solve the equations of the unknown coordinates, with residuals in twofold precision.

    Parameters
    ----------
    solved, curved : arrays of int
        The unknown coordinates; those in ``curved`` are rows that the inverse does not hold.
    base : (2, N)
        What the known coordinates add to H u.
    u, r : (2, N)
        A guess of the unknowns, which is replaced; r is for work.
    slow : float
        A correction that is not smaller than the last one by this factor is the last.

    Returns
    -------
    accuracy : float
        Last correction, relative to the largest u, in scaled units.
    contraction : float
        Largest ratio of two corrections that count.
    """
    n, p = m.R.shape
    unknown = np.concatenate((solved, curved))
    count = unknown.shape[0]
    rest = np.empty(count)
    rows, variables = unknown[unknown < n], unknown[(unknown >= n) & (unknown < n + p)]
    constrained = rows.shape[0] + variables.shape[0] < count
    last, accuracy, contraction, known = np.inf, 0.0, 0.0, 0.0
    if count == 0:
        return 0.0, 0.0
    for i in range(u.shape[1]):
        known = max(known, abs(u[0, i]) / m.scale[i] if here.known[i] else 0.0)
    for _ in range(12):
        within(m, here.sign, rows, variables, constrained, base, u, r)
        for k in range(count):
            i = unknown[k]
            h, e = target[0, i], target[1, i]
            h, e = accumulate(h, e, -here.first[i], r[0, i], r[1, i])
            h, e = accumulate(h, e, -here.second[i], u[0, i], u[1, i])
            rest[k] = (h + e) / here.first[i]
        step = correct(m, here, solved, curved, inverse, rest)
        size, whole = 0.0, known
        for k in range(count):
            i = unknown[k]
            u[0, i], u[1, i] = add(u[0, i], u[1, i], step[k], 0.0)
            size = max(size, abs(step[k]) / m.scale[i])
            whole = max(whole, abs(u[0, i]) / m.scale[i])
        accuracy = size / whole if whole > 0.0 else 0.0
        if accuracy <= 2.0**-98:
            break
        if last < np.inf and accuracy > 2.0**-90:
            contraction = max(contraction, size / last)
        if size > slow * last:
            break
        last = size
    return accuracy, contraction


@njit(cache=True)
def direction(m, sign, widened, u, r, size, terms, noise, blur):
    """Return z and a of all coordinates, with bounds, from unknowns and what they add up to.

    Parameters
    ----------
    widened : int
        How many of the first variables have the multiplier of an l1 constraint in their pull.
    size, terms : (N,)
        Sizes of the unknowns, and sums of the absolute terms of what they add up to.
    noise, blur : float
        Relative accuracy of the unknowns, and of sums over the map.
    """
    N, n = u.shape[1], m.R.shape[0]
    z, a, z_error, a_error = np.empty((2, N)), np.empty((2, N)), np.empty(N), np.empty(N)
    for i in range(N):
        if m.is_row[i]:
            z[0, i], z[1, i], a[0, i], a[1, i] = r[0, i], r[1, i], u[0, i], u[1, i]
            z_error[i], a_error[i] = blur * terms[i], noise * size[i]
        else:
            h, e = r[0, i], r[1, i]
            if i - n < widened:  # the multiplier's share is not the penalty's own
                s = sign[i - n]
                h, e = add(h, e, -s * u[0, N - 1], -s * u[1, N - 1])
            z[0, i], z[1, i], a[0, i], a[1, i] = u[0, i], u[1, i], -h, -e
            z_error[i], a_error[i] = noise * size[i], blur * terms[i]
    return Direction(z, a, z_error, a_error)


@njit(cache=True)
def settle(m, here, solved, curved, inverse, known, t, of_rate, guess, widened, limits):
    """Return the point at t, or its rate, with its unknowns and the contraction of the solve.

    Parameters
    ----------
    known : ((2, 2, N), (2, N))
        What known coordinates add to H u and to the sums of its terms, values and rates.
    guess : (2, N)
        Of the unknowns.
    widened : int
        See `direction`.
    limits : (float, float, float, float)
        NOISE, the accuracy of the map's entries, FLOOR and CONTRACTION.
    """
    noise, blur, floor, slow = limits
    N = guess.shape[1]
    u, r, size, terms = guess.copy(), np.empty((2, N)), np.empty(N), np.empty(N)
    if of_rate:
        target, base, base_terms = here.equation[:, 2:].T.copy(), known[0][1], known[1][1]
    else:
        target, base = moved(here.equation, t[0], t[1]), at(known[0], t[0], t[1])
        base_terms = known[1][0] + abs(t[0]) * known[1][1]
    for i in range(N):
        if here.known[i]:
            u[0, i], u[1, i] = target[0, i], target[1, i]
    accuracy, contraction = refine(m, here, solved, curved, inverse, target, base, u, r, slow)
    unknown = np.concatenate((solved, curved))
    everywhere(m, here, unknown, base, base_terms, floor, u, size, r, terms)
    exact = max(noise, 2.0 * accuracy / floor)
    found = direction(m, here.sign, widened, u, r, size, terms, exact, max(exact, blur))
    return found, u, contraction


@njit(cache=True)
def entry(m, sign, k, i):
    """Return an entry of H."""
    n, p = m.R.shape
    low, high = min(k, i), max(k, i)
    if high < n:
        return m.gram[k, i] if m.gram.shape[0] else 0.0
    if high < n + p:
        if low < n:
            return m.R[low, high - n]
        return -m.ridge[low - n] if low == high else 0.0
    return sign[low - n] if n <= low < n + p else 0.0


@njit(cache=True)
def updated(m, here, inverse, solved, which, was_known, before):
    """Return the solved coordinates and the inverse of M after one change of places or two.

    M gets a border for each. A coordinate put in is a border of its own; one taken out is held at 0
    by a unit vector; one whose diagonal D rises by d has a unit vector with -1 / d behind it.

    Parameters
    ----------
    which, was_known, before : (1,) or (2,)
        The coordinates that have changed, whether they were known, and their D.
    """
    count, extra = solved.shape[0], which.shape[0]
    B, D = np.zeros((count, extra)), np.zeros((extra, extra))
    for c in range(extra):
        i = which[c]
        now = 0.0 if here.known[i] else here.second[i] / here.first[i]
        if was_known[c]:
            for k in range(count):
                B[k, c] = entry(m, here.sign, solved[k], i)
            for g in range(extra):
                D[g, c] = entry(m, here.sign, which[g], i) if was_known[g] else 0.0
            D[c, c] += now
        else:
            for k in range(count):
                B[k, c] = 1.0 if solved[k] == i else 0.0
            D[c, c] = 0.0 if here.known[i] else -1.0 / (now - before[c])
    C = inverse @ B
    S = D - B.T @ C
    if extra == 1:
        S[0, 0] = 1.0 / S[0, 0]
    else:
        area = S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0]
        S = np.array([[S[1, 1], -S[0, 1]], [-S[1, 0], S[0, 0]]]) / area
    CS = C @ S
    whole = np.empty((count + extra, count + extra))
    whole[:count, :count] = inverse + CS @ C.T
    whole[:count, count:], whole[count:, :count], whole[count:, count:] = -CS, -CS.T, S
    all_of = np.concatenate((solved, which))
    left = np.array(
        [
            g
            for g in range(count + extra)
            if not here.known[all_of[g]] and (g < count or was_known[g - count])
        ]
    )
    return all_of[left], np.ascontiguousarray(whole[left][:, left])
