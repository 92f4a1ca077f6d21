#!/usr/bin/env bash
# A real Slurm cluster of several nodes on this one host, for testing the cluster profile (Debian, root).
#   slurm_cluster.sh up [NODES=2] [CPUS_PER_NODE=2]     about half a second once the packages are there
#   slurm_cluster.sh down                               stops what `up` started, by its pid files
# No accounting database: job states come from squeue, so run Snakemake with `slurm-status-command: squeue`.
# Nodes share this host's processors: never measure time on it. tests/benchmark/workflow/test_slurm.py calls this.
set -euo pipefail
base=${SLURM_BASE:-${TMPDIR:-/tmp}/slurm-dev}

stop() {
  [ -s "$1" ] || return 0
  local pid; pid=$(cat "$1"); kill "$pid" 2>/dev/null || true
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  rm -f "$1"
}

if [ "${1:-}" = down ]; then
  scancel -f -u root 2>/dev/null || true
  for f in "$base"/pid/slurmd.*.pid "$base"/pid/slurmctld.pid /run/munge/munged.pid; do stop "$f"; done
  exit 0
fi
[ "${1:-}" = up ] || { sed -n 2,6p "$0"; exit 2; }
nodes=${2:-2} cpus=${3:-2} host=$(hostname -s)

missing=()
for p in slurmctld slurmd slurm-client munge; do dpkg -s "$p" >/dev/null 2>&1 || missing+=("$p"); done
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
mkdir -p "$base"/{state,log,spool,pid} /run/munge /etc/slurm
chown munge: /run/munge /var/log/munge /var/lib/munge /etc/munge; chmod 755 /run/munge
[ -s /etc/munge/munge.key ] || { head -c 1024 /dev/urandom > /etc/munge/munge.key; chown munge: /etc/munge/munge.key; chmod 400 /etc/munge/munge.key; }
munge -n </dev/null 2>/dev/null | unmunge >/dev/null 2>&1 || setpriv --reuid=munge --regid=munge --clear-groups /usr/sbin/munged

{ cat <<C
ClusterName=dev
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=cred_expire=30
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,sched_min_interval=10000,bf_interval=1
ReturnToService=2
MinJobAge=300
KillWait=5
SlurmdTimeout=10
SlurmdParameters=config_overrides
StateSaveLocation=$base/state
SlurmdSpoolDir=$base/spool/%n
SlurmctldPidFile=$base/pid/slurmctld.pid
SlurmdPidFile=$base/pid/slurmd.%n.pid
SlurmctldLogFile=$base/log/slurmctld.log
SlurmdLogFile=$base/log/slurmd.%n.log
JobCompType=jobcomp/filetxt
JobCompLoc=$base/log/jobcomp.txt
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
C
for i in $(seq "$nodes"); do
  echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((6830+i)) CPUs=$cpus RealMemory=8000 State=UNKNOWN"
done
echo "PartitionName=short Nodes=n[1-$nodes] Default=YES MaxTime=02:00:00 State=UP"
} > /etc/slurm/slurm.conf

scontrol ping 2>/dev/null | grep -q UP || slurmctld
for i in $(seq "$nodes"); do
  pidfile=$base/pid/slurmd.n$i.pid; mkdir -p "$base/spool/n$i"
  { [ -s "$pidfile" ] && kill -0 "$(cat "$pidfile")" 2>/dev/null; } || slurmd -N "n$i"
done
for _ in $(seq 150); do [ "$(sinfo -h -N -o %t 2>/dev/null | grep -c '^idle')" -ge "$nodes" ] && break; sleep 0.2; done
sinfo -N
