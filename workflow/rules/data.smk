# Data files: data/raw, else the mirror folder, else a download; checked before anything reads them.
rule fetch:
    output:
        "data/fetched/{dataset}.txt",
    log:
        "logs/fetch/{dataset}.log",
    retries: 2
    params:
        offline=config["offline"],
    script:
        "../scripts/fetch.py"
