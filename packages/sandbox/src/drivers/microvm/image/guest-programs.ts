/** Version of the protocol between the driver and the agent; README.md describes it. */
export const AGENT_PROTOCOL = 1;

/**
 * First process of the guest, for busybox. Everything that all jobs share is made here, so that a snapshot holds it.
 * Modules that do not fit the machine are left out by the kernel; the agent finds out what there is.
 */
export const INIT_PROGRAM = `#!/bin/sh
export PATH=/bin
mount -t devtmpfs -o nosuid,noexec devices /dev
mount -t proc -o nosuid,nodev,noexec processes /proc
while read -r module; do insmod "/modules/$module" 2>/dev/null; done </modules/order
mount -t cgroup2 -o nosuid,nodev,noexec groups /groups
echo '+memory +pids +cpu' >/groups/cgroup.subtree_control
mkdir /groups/tool
mount -t tmpfs -o nosuid,nodev,size=1m,nr_inodes=65536,mode=0755 scratch /scratch
mkdir -m 1777 /scratch/tmp /scratch/shm
mkdir -p /dev/shm
mount -o bind /scratch/tmp /tmp
mount -o bind /scratch/shm /dev/shm
mount -t tmpfs -o nosuid,nodev,noexec,size=4m,mode=0700 run /run
hostname sandbox
ip link set lo up
mkfifo /run/stdin /run/stdout /run/stderr
exec /bin/sh /agent/agent
`;

/**
 * Agent of the guest. It reads one line after another from its control channel, and runs one job. The four channels are ports of
 * a virtual serial device (QEMU), or connections to four vsock ports (Firecracker) that socat joins to pipes.
 */
export const AGENT_PROGRAM = `
channels_of_serial() {
  tries=0
  while ! [ -c /dev/vport0p4 ]; do
    tries=$((tries + 1))
    [ "$tries" -gt 500 ] && return 1
    usleep 10000
  done
  input=/dev/vport0p2 output=/dev/vport0p3 errors=/dev/vport0p4
  exec 8<>/dev/vport0p1 7<&8
}
channels_of_vsock() {
  [ -x /bin/socat ] || return 1
  input=/run/input output=/run/output errors=/run/errors
  mkfifo "$input" "$output" "$errors" /run/control-in /run/control-out
  exec 7<>/run/control-in 8<>/run/control-out
  # Connections do not survive in a snapshot: the driver comes again.
  while :; do socat VSOCK-LISTEN:5000 STDIO; done </run/control-out >/run/control-in 7<&- 8>&- &
  socat -b 32768 -u VSOCK-LISTEN:5001 "OPEN:$input,wronly" 7<&- 8>&- &
  socat -b 32768 -u "OPEN:$output,rdonly" VSOCK-LISTEN:5002 7<&- 8>&- &
  socat -b 32768 -u "OPEN:$errors,rdonly" VSOCK-LISTEN:5003 7<&- 8>&- &
}
say() { echo "$*" >&8; }
number_in() {
  while read -r name value; do [ "$name" = "$2" ] && { echo "$value"; return; }; done <"$1" 2>/dev/null
  echo 0
}
prepare() {
  directory=/tmp memory_mb=64 processes=16 disk_mb=1 cpu_seconds=0 seed= clock= mark=
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
      memory_mb) memory_mb=$2 ;;
      processes) processes=$2 ;;
      disk_mb) disk_mb=$2 ;;
      cpu_seconds) cpu_seconds=$2 ;;
      directory) directory=$2 ;;
      seed) seed=$2 ;;
      clock) clock=$2 ;;
      mark) mark=$2 ;;
      *) problem="the agent does not know the limit $1"; return 1 ;;
    esac
    shift 2
  done
  problem='the random state could not be renewed'
  printf "$seed" | /agent/reseed 3</dev/urandom || return 1
  problem='the clock could not be set'
  date -s "@$clock" >/dev/null 2>&1 || return 1
  problem='the limits could not be set'
  mount -o "remount,size=\${disk_mb}m" /scratch || return 1
  echo $((memory_mb * 1048576)) >/groups/tool/memory.max || return 1
  echo $((processes + 2)) >/groups/tool/pids.max || return 1
  problem="the working directory $directory does not exist"
  [ -d "$directory" ]
}
run() {
  eval "set -- $(cat /run/start)"
  if ! prepare "$@"; then say "failed $problem"; return; fi
  cat "$input" >/run/stdin 2>/dev/null 7<&- 8>&- &
  { dd bs=32768 </run/stdout; printf %s "$mark"; } >"$output" 2>/dev/null 7<&- 8>&- &
  { dd bs=32768 </run/stderr; printf %s "$mark"; } >"$errors" 2>/dev/null 7<&- 8>&- &
  (
    echo 0 >/groups/tool/cgroup.procs
    exec 7<&- 8>&- unshare -m -p -f --mount-proc /bin/sh /agent/warden "$directory" "$disk_mb" "$cpu_seconds"
  ) 6</run/start </run/stdin >/run/stdout 2>/run/stderr &
  job=$!
  say started
  wait "$job"
  status=$?
  cpu=$(number_in /groups/tool/cpu.stat usage_usec)
  oom=$(number_in /groups/tool/memory.events oom_kill)
  full=$(number_in /groups/tool/pids.events max)
  read -r peak </groups/tool/memory.peak
  rm /run/start
  say "exit $status $cpu \${peak:-0} $oom $full"
}
stop() {
  while read -r pid; do
    read -r stat <"/proc/$pid/stat" || continue
    set -- \${stat##*) }
    parent=$2
    read -r stat <"/proc/$parent/stat" || continue
    set -- \${stat##*) }
    # The tool is the child of the warden, which is the child of unshare.
    read -r above <"/proc/$2/comm" && [ "$above" = unshare ] && kill -s TERM "$pid"
  done </groups/tool/cgroup.procs
}
{ [ -c /dev/vsock ] && channels_of_vsock; } || channels_of_serial || exec poweroff -f
while IFS= read -r line <&7; do
  case $line in
    'hello ${AGENT_PROTOCOL}') say 'hello ${AGENT_PROTOCOL}' ;;
    'hello '*) say 'failed the agent speaks version ${AGENT_PROTOCOL} of the protocol' ;;
    'start '*)
      dd bs="\${line#start }" count=1 iflag=fullblock of=/run/start <&7 2>/dev/null
      run &
      ;;
    stop) stop 2>/dev/null ;;
  esac
done
poweroff -f
`;

/**
 * First process of the job's own process namespace. When it ends, the kernel ends what the tool left. Its own words go nowhere: a
 * shell says that its child died, which the tool did not write.
 */
export const WARDEN_PROGRAM = `
exec 9>&2 2>/dev/null
directory=$1 disk_mb=$2 cpu_seconds=$3
eval "set -- $(cat <&6)"
exec 6<&-
while [ "$1" != -- ]; do shift; done
shift
umount /groups
mount -t tmpfs -o nosuid,nodev,noexec,size=0,mode=0700 nothing /run
cd "$directory" || exit 126
ulimit -c 0 -n 1024 -f $((disk_mb * 2048))
[ "$cpu_seconds" = 0 ] || ulimit -t "$cpu_seconds"
setpriv --nnp su -s /bin/env -- sandbox -i "$@" 2>&9 9>&-
exit $?
`;

/** Files of the guest beside programs and modules. */
export const GUEST_FILES: Readonly<Record<string, string>> = {
  '/etc/passwd': 'root:x:0:0:root:/:/bin/false\nsandbox:x:1000:1000:sandbox:/tmp:/bin/false\n',
  '/etc/group': 'root:x:0:\nsandbox:x:1000:\n',
  '/etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
};
