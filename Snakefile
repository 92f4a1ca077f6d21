# Regenerates every table and figure: `snakemake --cores 8` (suite "paper"), `snakemake --cores 8 quick`.
from snakemake.utils import min_version

min_version("9.0")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/paper.smk"
include: "workflow/rules/report.smk"


onstart:
    begin()
    check_cluster()


onsuccess:
    end()


onerror:
    end()


# A target for each suite: everything of every paper. Plain `snakemake` builds the suite "paper".
for suite in config["suites"]:

    rule:
        name:
            suite
        default_target: suite == "paper"
        input:
            suite_targets(suite),
        localrule: True


# A target for each paper: its part of the suite "paper".
for paper in config["papers"]:

    rule:
        name:
            paper
        input:
            suite_targets("paper", paper),
        localrule: True


# The timing lane of the suite "paper", nothing else.
rule timing:
    input:
        job_lists("paper", lane="timing"),
    localrule: True
