# The benchmark in a container, with the environment that requirements.lock pins.
#   docker build -t solution-paths .
#   docker run --rm -v "$PWD/results:/benchmark/results" solution-paths --cores all quick
# The first run compiles for the processor that it finds.
FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /benchmark
COPY . .
RUN make .venv/.installed
ENTRYPOINT [".venv/bin/snakemake"]
CMD ["--cores", "all", "quick"]
