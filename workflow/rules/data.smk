# What jobs wait for: data files, checked, and compiled code.


# From data/raw, else the mirror folder, else a download. On a cluster that is done where Snakemake
# runs: compute nodes often have no network.
localrules:
    fetch,


rule fetch:
    output:
        "data/fetched/{dataset}.txt",
    log:
        "logs/fetch/{dataset}.log",
    params:
        offline=config["offline"],
    script:
        "../scripts/fetch.py"


# Compiling takes about a minute; without this, every job of the first batch would do it for itself.
rule compile:
    output:
        COMPILED,
    log:
        "logs/compile.log",
    script:
        "../scripts/compile.py"
