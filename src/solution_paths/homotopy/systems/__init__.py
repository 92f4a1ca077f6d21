"""The linear systems of the homotopy: given the places of all coordinates, the point.

With the duals a of rows and the values x of variables as unknowns u, the map is the symmetric

    H = [ gram  R     ]        H u = (z of rows, R'a - ridge x of variables),
        [ R'   -ridge ]

and each place states one equation: at a knot of a row z = p, at a knot of a variable x = p, on a
segment q z + a = q p - s. Rows on straight segments and variables at knots are *known*; the others
are the unknowns of M = H_UU + D, where D is 0 for a row at a knot, 1/q for a row on a curved
segment, -q for a variable.

Without a Gram matrix this is the saddle face, and one kind of coordinates, that of which there are
more, is eliminated from M: rows on curved segments, or variables with a ridge that aren't at knots.
In the dual face weights have been eliminated, and gram is that of the samples. In the primal face
duals of quadratic losses have been: gram is that of the features, in two parts, and a row is a
feature whose "dual" is its weight, on the graph of the penalty's conjugate.

M is regular whenever the homotopy solves it. Its inverse, in double precision, serves iterative
refinement alone: residuals come from the data in twofold precision, so the contraction of the
corrections measures the inverse. If it is insufficient, the inverse is computed in twofold
precision.
"""
