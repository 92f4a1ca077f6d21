"""The inverse G of the pinned system J = H_PP - diag(sign * soft), updated by principal pivots.

J is symmetric and may be indefinite (borders, features). A coordinate joins or leaves the pinned
set by a pivot on its diagonal entry of the tableau [[-G, U], [U', S]] with U = G H_PQ and
S = H_QQ - H_QP G H_PQ; where that entry vanishes, two coordinates are exchanged by a pivot on the
2 x 2 block they share. Only G's lower triangle is kept: each update passes through it once.

References: Cottle, Pang and Stone (1992), *The Linear Complementarity Problem*, section 2.3;
Goodnight (1979), "A tutorial on the SWEEP operator".
"""

from __future__ import annotations

from .compiled import lean, sums


@sums
def multiply(G, m, v, out):
    """Write G v to out, four rows at a time: v and out are read for each group, not each row."""
    for i in range(m):
        out[i] = 0.0
    grouped = m - m % 4
    for i in range(0, grouped, 4):
        a, b, c, d = G[i], G[i + 1], G[i + 2], G[i + 3]
        va, vb, vc, vd = v[i], v[i + 1], v[i + 2], v[i + 3]
        ta = tb = tc = td = 0.0
        for j in range(i):
            vj = v[j]
            ta += a[j] * vj
            tb += b[j] * vj
            tc += c[j] * vj
            td += d[j] * vj
            out[j] += a[j] * va + b[j] * vb + c[j] * vc + d[j] * vd
        out[i] += ta + a[i] * va + b[i] * vb + c[i] * vc + d[i] * vd
        out[i + 1] += tb + b[i] * va + b[i + 1] * vb + c[i + 1] * vc + d[i + 1] * vd
        out[i + 2] += tc + c[i] * va + c[i + 1] * vb + c[i + 2] * vc + d[i + 2] * vd
        out[i + 3] += td + d[i] * va + d[i + 1] * vb + d[i + 2] * vc + d[i + 3] * vd
    for i in range(grouped, m):
        row, vi = G[i], v[i]
        total = row[i] * vi
        for j in range(i):
            total += row[j] * v[j]
            out[j] += row[j] * vi
        out[i] += total


@sums
def multiply_sizes(G, m, v, out):
    """Write |G| |v| to out."""
    for i in range(m):
        row, size, total = G[i], abs(v[i]), abs(G[i, i] * v[i])
        for j in range(i):
            entry = abs(row[j])
            total += entry * abs(v[j])
            out[j] += entry * size
        out[i] = total


@lean
def read_column(G, m, j, out):
    """Write column j of G to out."""
    for i in range(j):
        out[i] = G[j, i]
    for i in range(j, m):
        out[i] = G[i, j]


@lean
def _write_column(G, m, j, v):
    for i in range(j):
        G[j, i] = v[i]
    for i in range(j, m):
        G[i, j] = v[i]


@sums
def _add(G, m, factor, v, w):
    """Add factor * v w' to the lower triangle."""
    for i in range(m):
        row = G[i]
        fi = factor * v[i]
        if fi != 0.0:
            for j in range(i + 1):
                row[j] += fi * w[j]


@lean
def append(G, m, u, pivot):
    """Add a coordinate with u = G H_Pc and Schur pivot H_cc - H_cP u as the last one."""
    _add(G, m, 1.0 / pivot, u, u)
    for j in range(m):
        G[m, j] = -u[j] / pivot
    G[m, m] = 1.0 / pivot


@lean
def move_last(G, m, j):
    """Put the last coordinate in place of coordinate j."""
    last = m - 1
    if j == last:
        return
    for i in range(j):
        G[j, i] = G[last, i]
    for i in range(j + 1, last):
        G[i, j] = G[last, i]
    G[j, j] = G[last, last]


@lean
def remove(G, m, j, g):
    """Drop coordinate j, whose column of G is g; the last one takes its place."""
    _add(G, m, -1.0 / g[j], g, g)
    move_last(G, m, j)


@lean
def replace(G, m, j, g, u, pivot, a, b):
    """Exchange coordinate j, with column g, for one with u = G H_Pc and a Schur pivot near zero."""
    determinant = -g[j] * pivot - u[j] * u[j]
    # B = [[-g_j, u_j], [u_j, pivot]]; T_RB = [-g, u]; G' = G + T_RB B^-1 T_RB'.
    gj, uj = g[j], u[j]
    jj, jc, cc = pivot / determinant, -uj / determinant, -gj / determinant
    for i in range(m):
        a[i] = -jj * g[i] + jc * u[i]
        b[i] = -jc * g[i] + cc * u[i]
    _add(G, m, -1.0, a, g)
    _add(G, m, 1.0, b, u)
    for i in range(m):
        b[i] = -b[i]
    b[j] = cc
    _write_column(G, m, j, b)


@lean
def append_two(G, m, u, pivot, v, other, cross, a, b):
    """Add two coordinates with Schur block [[pivot, cross], [cross, other]]."""
    determinant = pivot * other - cross * cross
    uu, uv, vv = other / determinant, -cross / determinant, pivot / determinant
    for i in range(m):
        a[i] = uu * u[i] + uv * v[i]
        b[i] = uv * u[i] + vv * v[i]
    _add(G, m, 1.0, a, u)
    _add(G, m, 1.0, b, v)
    for i in range(m):
        G[m, i] = -a[i]
        G[m + 1, i] = -b[i]
    G[m, m] = uu
    G[m + 1, m] = uv
    G[m + 1, m + 1] = vv


@lean
def remove_two(G, m, i, gi, j, gj, a, b):
    """Drop coordinates i and j, with columns gi and gj of G; the last ones take their places."""
    determinant = gi[i] * gj[j] - gi[j] * gi[j]
    ii, ij, jj = gj[j] / determinant, -gi[j] / determinant, gi[i] / determinant
    for k in range(m):
        a[k] = ii * gi[k] + ij * gj[k]
        b[k] = ij * gi[k] + jj * gj[k]
    _add(G, m, -1.0, a, gi)
    _add(G, m, -1.0, b, gj)
    move_last(G, m, max(i, j))
    move_last(G, m - 1, min(i, j))
