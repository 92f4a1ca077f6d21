# The benchmark in a container, with the environment that requirements.lock pins.
#   docker build -t solution-paths/solution-paths:0.1.0 .
#   docker run --rm -v "$PWD/results:/benchmark/results" solution-paths/solution-paths:0.1.0 --cores all quick
# The first run compiles for the processor that it finds.
FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /benchmark
COPY . .
RUN make .venv/.installed
ENV PATH=/benchmark/.venv/bin:$PATH
ENTRYPOINT [".venv/bin/snakemake"]
CMD ["--cores", "all", "quick"]
