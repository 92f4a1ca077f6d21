"""The judge of answers to a `solution_paths.problem.Problem`: `judge(problem, answer)`.

It reads the statement and the answer, never the state of a solver: objective, dual
objective by the conjugates, their gap, and the violation of each optimality condition, with a
bound on its own rounding.
"""

from .judge import Answer, judge, objectives
from .verdict import Verdict

__all__ = ["Answer", "Verdict", "judge", "objectives"]
