# What jobs wait for: data files, checked.


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
