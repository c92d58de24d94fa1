#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: slurm_program.sh PENSTOCK CASE
# Holds `penstock hash --shard auto` to what it promises under Slurm, on a cluster of one node that the test starts. Each case is a test
# of its own. Its processes have a namespace of their own, so the kernel ends all of them with the test, however that ends.
root=$(realpath "$(dirname "$0")/../..")
if [[ ${3:-} != inside ]]; then
  # shellcheck source=tests/programs/program_world.sh
  source "$(dirname "$0")/program_world.sh"
  for program in munged slurmctld slurmd sbatch; do
    command -v $program >/dev/null || { echo "$program is not there (slurm-wlm, munge)" && exit 77; }
  done
  ((EUID == 0)) || { echo 'Slurm starts jobs as other users: this needs root' && exit 77; }
  namespace=(setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount-proc)
  "${namespace[@]}" true 2>said || { echo "a namespace of processes is refused: $(cat said)" && exit 77; }
  chmod 755 . # munge refuses a socket that others cannot reach.
  code=0
  "${namespace[@]}" "$root/tests/programs/slurm_program.sh" "$penstock" "$2" inside || code=$?
  exit "$code"
fi

set -euo pipefail
export LC_ALL=C penstock=$1 world=$PWD SCRATCH=$PWD
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  tail -n 20 "$world"/*.log "$world"/slurm-*.out >&2 2>/dev/null
  exit 1
}

# start_cluster PORT: false if it does not come up, as where another has the port.
start_cluster() {
  local daemons=()
  rm -rf state spool
  mkdir state spool
  # proctrack/linuxproc and task/none need no cgroups. This version of slurmd wants a plugin for cgroups nevertheless, which does nothing.
  echo 'CgroupPlugin=cgroup/v1' >cgroup.conf
  cat >slurm.conf <<END
ClusterName=scratch
SlurmctldHost=$(uname -n | cut -d. -f1)(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$(($1 + 1))
AuthInfo=socket=$world/munge.socket,cred_expire=5
SlurmUser=root
StateSaveLocation=$world/state
SlurmdSpoolDir=$world/spool
SlurmctldPidFile=$world/slurmctld.pid
SlurmdPidFile=$world/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
MailProg=/bin/true
NodeName=scratch NodeHostname=$(uname -n | cut -d. -f1) NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=ALL Default=YES
END
  slurmctld -D >slurmctld.log 2>&1 &
  daemons+=($!)
  slurmd -D -N scratch >slurmd.log 2>&1 &
  daemons+=($!)
  until [[ $(sinfo -h -o %T 2>/dev/null) == idle ]]; do
    for one in "${daemons[@]}"; do
      kill -0 "$one" 2>/dev/null || { kill "${daemons[@]}" 2>/dev/null; wait "${daemons[@]}"; return 1; }
    done
  done
}

head -c 128 /dev/urandom >munge.key
chmod 400 munge.key
munged --foreground --key-file="$world/munge.key" --socket="$world/munge.socket" --pid-file="$world/munge.pid" \
  --seed-file="$world/munge.seed" >munge.log 2>&1 &
munged=$!
until [[ -S munge.socket ]]; do kill -0 "$munged" || fail 'munged ended'; done
export SLURM_CONF=$world/slurm.conf
for ((k = 0; ; ++k)); do
  ! start_cluster $((20000 + RANDOM % 12000)) || break
  ((k < 5)) || fail 'the cluster does not come up'
done

mkdir -p tree/small bin
for ((k = 0; k < 770; ++k)); do echo "file $k" >"tree/small/$k"; done
ln -s "$penstock" bin/penstock
export PATH=$world/bin:$PATH
# state_of TASK: of a job or a task of an array.
state_of() { squeue -h -t all -j "$1" -o %T; }
await() { until [[ $(state_of "$1") == "$2" ]]; do [[ $(state_of "$1") != *FAILED* ]] || fail "task $1 failed"; done; }

case $2 in
  ATaskThatIsQueuedAgainGoesOnWhereItStood)
    # The third part of three has 256 small files, which are two leases, and the last file of all, which takes longer than any test.
    truncate -s 4T tree/zeros || { echo 'no file of 4 TiB can be made here' && exit 77; }
    job=$(sbatch --parsable --array=1-3 "$root/examples/hash_array.sbatch" --device cpu tree)
    status() { penstock work --ledger run.ledger-3-of-3 --status --json 2>/dev/null; }
    # count MEMBER: a number of the ledger's.
    count() { status | sed -nE "s/.*\"$1\": ?([0-9]+).*/\1/p" | head -1; }
    await "${job}_1" COMPLETED
    await "${job}_2" COMPLETED
    await "${job}_3" RUNNING
    until [[ -e run.ledger-3-of-3 && $(count leases) -eq 3 && $(count 'done') -eq 2 ]]; do :; done

    # It is held until its files are others.
    scontrol requeuehold "${job}_3"
    await "${job}_3" PENDING
    [[ $(count 'done') == 2 ]] || fail "$(count 'done') leases are done after the requeue"
    # What was answered is not read again.
    mv tree/small gone
    truncate -s 100000 tree/zeros
    scontrol release "${job}_3"
    await "${job}_3" COMPLETED
    [[ $(count 'done') == 3 ]] || fail "$(count 'done') leases of three are done"
    [[ $(count retries) == 1 ]] || fail "$(count retries) leases were tried again, and one was on the way"
    mv gone tree/small
    penstock hash --device cpu tree | sort -k 2 >expected
    sort -k 2 sums.? | cmp - expected || fail 'the tasks print other lines than one process'
    [[ $(wc -l <expected) == 771 ]] || fail 'these are not all files'
    ;;
  EachProcessOfSrunHashesAPart)
    penstock hash --device cpu tree | sort >expected
    # shellcheck disable=SC2016  # The variables are those of each process.
    srun -n 3 sh -c 'penstock hash --device cpu --shard auto tree >"part$SLURM_PROCID"' >said 2>&1 || fail "srun: $(cat said)"
    [[ $(wc -l <part0) == 257 ]] || fail 'the first part has not a third of the files'
    sort part? | cmp - expected || fail 'other lines'
    # Two tasks of an array, in each of which there are two processes: four parts.
    # shellcheck disable=SC2016
    sbatch --wait --array=5-6 -n 2 --wrap \
      'srun sh -c '"'"'penstock hash --device cpu --shard auto tree >"lines$SLURM_ARRAY_TASK_ID$SLURM_PROCID"'"'" >said 2>&1 ||
      fail "sbatch: $(cat said slurm-*.out)"
    [[ $(wc -l <lines50) == 193 ]] || fail 'the first part has not a quarter of the files'
    sort lines?? | cmp - expected || fail 'other lines'
    ;;
  *) fail "no such case: $2" ;;
esac
