# Weighted SVM: jobs, cells and lanes as in quantile_svm.smk.
rule weighted_svm_accuracy:
    input:
        fetched("weighted_svm"),
        ancient(COMPILED),
    output:
        f"{RESULTS}/{{suite}}/jobs/weighted_svm/{{experiment}}/{{dataset}}/{{first}}-{{last}}.txt",
    log:
        "logs/{suite}/weighted_svm/{experiment}/{dataset}/{first}-{last}.log",
    wildcard_constraints:
        experiment=lane_experiments("weighted_svm", "accuracy"),
    threads: 1
    params:
        settings=job_settings("weighted_svm"),
    script:
        "../scripts/run_chunk.py"


# Timing jobs take every core, so that nothing runs beside them, and use one thread.
rule weighted_svm_timing:
    input:
        fetched("weighted_svm"),
        ancient(COMPILED),
    output:
        f"{RESULTS}/{{suite}}/jobs/weighted_svm/{{experiment}}/{{dataset}}/{{first}}-{{last}}.txt",
    log:
        "logs/{suite}/weighted_svm/{experiment}/{dataset}/{first}-{last}.log",
    wildcard_constraints:
        experiment=lane_experiments("weighted_svm", "timing"),
    threads: workflow.cores
    params:
        settings=job_settings("weighted_svm"),
    script:
        "../scripts/run_chunk.py"


rule weighted_svm_results:
    input:
        lambda wildcards: job_lists(wildcards.suite, "weighted_svm"),
    output:
        f"{RESULTS}/{{suite}}/weighted_svm/results.parquet",
    log:
        "logs/{suite}/weighted_svm/results.log",
    params:
        schema=workflow.source_path("../schemas/results.schema.yaml"),
    script:
        "../scripts/collect.py"


rule weighted_svm_report:
    input:
        f"{RESULTS}/{{suite}}/weighted_svm/results.parquet",
    output:
        tables=report(
            directory(f"{RESULTS}/{{suite}}/weighted_svm/tables"),
            patterns=["{name}.html"],
            caption="../report/table.rst",
            category="Weighted SVM",
            subcategory="Tables",
        ),
        figures=report(
            directory(f"{RESULTS}/{{suite}}/weighted_svm/figures"),
            patterns=["{name}.png"],
            caption="../report/figure.rst",
            category="Weighted SVM",
            subcategory="Figures",
        ),
        claims=report(
            f"{RESULTS}/{{suite}}/weighted_svm/claims.csv",
            caption="../report/claims.rst",
            category="Weighted SVM",
        ),
    log:
        "logs/{suite}/weighted_svm/report.log",
    params:
        published=PUBLISHED,
    script:
        "../scripts/report_paper.py"


rule weighted_svm_notebook:
    input:
        notebook="notebooks/weighted_svm.ipynb",
        results=f"{RESULTS}/{{suite}}/weighted_svm/results.parquet",
        claims=f"{RESULTS}/{{suite}}/weighted_svm/claims.csv",
        tables=f"{RESULTS}/{{suite}}/weighted_svm/tables",
        figures=f"{RESULTS}/{{suite}}/weighted_svm/figures",
    output:
        f"{RESULTS}/{{suite}}/weighted_svm/notebook.ipynb",
    log:
        "logs/{suite}/weighted_svm/notebook.log",
    script:
        "../scripts/run_notebook.py"
