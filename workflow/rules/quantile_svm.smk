# Quantile SVM: a job is (experiment, data set, chunk of splits). Its cells, in results/<suite>/cells, are no
# declared outputs: Snakemake would delete them when a job is killed, and they are what it resumes from.
rule quantile_svm_accuracy:
    input:
        fetched("quantile_svm"),
        ancient(COMPILED),
    output:
        f"{RESULTS}/{{suite}}/jobs/quantile_svm/{{experiment}}/{{dataset}}/{{first}}-{{last}}.txt",
    log:
        "logs/{suite}/quantile_svm/{experiment}/{dataset}/{first}-{last}.log",
    wildcard_constraints:
        experiment=lane_experiments("quantile_svm", "accuracy"),
    threads: 1
    params:
        settings=job_settings("quantile_svm"),
    script:
        "../scripts/run_chunk.py"


# Timing jobs take every core, so that nothing runs beside them, and use one thread.
rule quantile_svm_timing:
    input:
        fetched("quantile_svm"),
        ancient(COMPILED),
    output:
        f"{RESULTS}/{{suite}}/jobs/quantile_svm/{{experiment}}/{{dataset}}/{{first}}-{{last}}.txt",
    log:
        "logs/{suite}/quantile_svm/{experiment}/{dataset}/{first}-{last}.log",
    wildcard_constraints:
        experiment=lane_experiments("quantile_svm", "timing"),
    threads: workflow.cores
    params:
        settings=job_settings("quantile_svm"),
    script:
        "../scripts/run_chunk.py"


rule quantile_svm_results:
    input:
        lambda wildcards: job_lists(wildcards.suite, "quantile_svm"),
    output:
        f"{RESULTS}/{{suite}}/quantile_svm/results.parquet",
    log:
        "logs/{suite}/quantile_svm/results.log",
    params:
        schema=workflow.source_path("../schemas/results.schema.yaml"),
    script:
        "../scripts/collect.py"


rule quantile_svm_report:
    input:
        f"{RESULTS}/{{suite}}/quantile_svm/results.parquet",
    output:
        tables=report(
            directory(f"{RESULTS}/{{suite}}/quantile_svm/tables"),
            patterns=["{name}.html"],
            caption="../report/table.rst",
            category="Quantile SVM",
            subcategory="Tables",
        ),
        figures=report(
            directory(f"{RESULTS}/{{suite}}/quantile_svm/figures"),
            patterns=["{name}.png"],
            caption="../report/figure.rst",
            category="Quantile SVM",
            subcategory="Figures",
        ),
        claims=report(
            f"{RESULTS}/{{suite}}/quantile_svm/claims.csv",
            caption="../report/claims.rst",
            category="Quantile SVM",
        ),
    log:
        "logs/{suite}/quantile_svm/report.log",
    params:
        published=PUBLISHED,
    script:
        "../scripts/report_paper.py"


rule quantile_svm_notebook:
    input:
        notebook="notebooks/quantile_svm.ipynb",
        results=f"{RESULTS}/{{suite}}/quantile_svm/results.parquet",
        claims=f"{RESULTS}/{{suite}}/quantile_svm/claims.csv",
        tables=f"{RESULTS}/{{suite}}/quantile_svm/tables",
        figures=f"{RESULTS}/{{suite}}/quantile_svm/figures",
    output:
        f"{RESULTS}/{{suite}}/quantile_svm/notebook.ipynb",
    log:
        "logs/{suite}/quantile_svm/notebook.log",
    script:
        "../scripts/run_notebook.py"
