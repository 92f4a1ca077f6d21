# `snakemake --cores 8` here makes every table and figure; the workflow itself is in workflow/.
include: "workflow/Snakefile"


rule all:
    default_target: True
    input:
        PLAN.suite_targets("paper"),
    localrule: True
