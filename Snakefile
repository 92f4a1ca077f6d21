# Regenerates every table and figure: `snakemake --cores 8` (suite "paper"), `snakemake --cores 8 quick`.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config/config.yaml"
configfile: "config/quantile_svm.yaml"
configfile: "config/weighted_svm.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/quantile_svm.smk"
include: "workflow/rules/weighted_svm.smk"
include: "workflow/rules/report.smk"


localrules:
    paper,
    quick,
    timing,
    quantile_svm,
    weighted_svm,


rule paper:
    default_target: True
    input:
        suite_targets("paper"),


rule quick:
    input:
        suite_targets("quick"),


# One paper's part of the suite "paper".
rule quantile_svm:
    input:
        paper_targets("paper", "quantile_svm"),


rule weighted_svm:
    input:
        paper_targets("paper", "weighted_svm"),


# The timing lane of the suite "paper", nothing else.
rule timing:
    input:
        job_lists("paper", lane="timing"),
