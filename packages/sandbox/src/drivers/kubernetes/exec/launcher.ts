import { randomBytes } from 'node:crypto';
import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SandboxSpec } from '../../../driver.port.ts';
import { KUBERNETES_SIZES } from '../settings.ts';

/**
 * The launcher: what is run in a pod for every tool. Needs `/bin/sh` (POSIX, with `ulimit`) and `/proc` in the image, and nothing else.
 *
 * The contract: the first line of stdin is the job, a line of shell that sets `d` (working directory), `h` (a word that
 * nobody can guess) and the arguments, and defines `u` (limits) and `x` (the environment). The rest of stdin is the tool's.
 * Command, environment and folder travel there because a command line can be read in the pod and in the cluster's audit log.
 *
 * It forgets the environment of the image, sets the limits, enters the folder, and writes one line to stdout: `h`, the
 * tool's pid, and the processor time that the container had used by then in µs. That line means that the tool begins. 125
 * without it means that the tool did not run. After the tool's end it ends all that the tool left, since a program in the
 * background would hold the stream open, and ends with the tool's code (128 + n for signal n).
 */
const LAUNCHER = `n='
'
IFS= read -r j || exit 125
eval "$j" || exit 125
set -f
IFS=$n
for l in $(export -p); do
  case $l in
    'export '*) l=\${l#export } ;;
    'declare -x '*) l=\${l#declare -x } ;;
    *) continue ;;
  esac
  l=\${l%%=*}
  case $l in ''|[0-9]*|*[!A-Za-z0-9_]*) ;; *) unset "$l" ;; esac
done
unset IFS j
set +f
u || exit 125
cd -- "$d" || exit 125
unset OLDPWD
c=
{ read -r k c </sys/fs/cgroup/cpu.stat; } 2>/dev/null
exec 3>&2 2>/dev/null
(
  exec 2>&3 3>&-
  read -r p k </proc/self/stat || exit 125
  printf '%s %s %s\\n' "$h" "$p" "$c"
  x
  exec "$@"
)
r=$?
kill -s KILL -- -1
exit "$r"`;

/** Runs the launcher; the job comes on stdin. */
export const LAUNCHER_COMMAND: readonly string[] = ['/bin/sh', '-c', LAUNCHER];

/**
 * Ends every process of the container except its first (the kernel spares that one, and the caller), and reports the
 * container's usage: lines `file field value` of its control group, v2 or v1.
 */
export const REAPER_COMMAND: readonly string[] = [
  '/bin/sh',
  '-c',
  `kill -s KILL -- -1 2>/dev/null
cd /sys/fs/cgroup 2>/dev/null || exit 0
for f in cpu.stat memory.peak memory.events cpuacct/cpuacct.usage memory/memory.max_usage_in_bytes memory/memory.oom_control; do
  { while read -r l; do printf '%s %s\\n' "$f" "$l"; done <"$f"; } 2>/dev/null
done
exit 0`,
];

/** Asks a tool to end gracefully. */
export function termCommand(pid: number): readonly string[] {
  return ['/bin/sh', '-c', 'kill -s TERM -- "$1"', 'sh', String(pid)];
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Unit of `ulimit -f` in POSIX. */
const FILE_BLOCK_BYTES = 512;
/** The launcher and its subshell, and what the pod itself runs under the same uid. */
const OTHER_PROCESSES = 8;
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The first line of a launcher's input. */
export interface Job {
  /** With its newline. */
  readonly line: string;
  /** The word that begins the launcher's first line of output. */
  readonly word: string;
}

/**
 * Writes the job of a spec.
 * @throws E3101 for values that no command line or environment can hold, and for more than 256 KiB of it
 */
export function jobOf(spec: SandboxSpec): Job {
  checkSpec(spec);
  const word = randomBytes(16).toString('hex');
  const folder = spec.workingDirectory ?? '/tmp';
  const environment = { PATH: DEFAULT_PATH, PWD: folder, ...spec.environment };
  // A tool's variable with the name of the newline comes last: the others may need the newline.
  const names = Object.entries(environment).sort(([one], [other]) => Number(one === 'n') - Number(other === 'n'));
  const exports = names.map(([name, value]) => `export ${name}=${quoted(value)}`);
  const line = [
    `h=${word}`,
    `d=${quoted(folder)}`,
    `set -- ${spec.command.map(quoted).join(' ')}`,
    `u() { ${limitsOf(spec).join(' && ')}; }`,
    `x() { ${exports.join('; ')}; }\n`,
  ].join('; ');
  if (Buffer.byteLength(line) > KUBERNETES_SIZES.jobBytesMax) {
    throw unusable(`its command and environment are larger than ${KUBERNETES_SIZES.jobBytesMax} bytes`);
  }
  return { line, word };
}

/** Limits per process; a lower one of the image stays. The container itself limits memory and processor. */
function limitsOf({ limits }: SandboxSpec): readonly string[] {
  const processes = limits.processesMax + OTHER_PROCESSES;
  const lower = (letter: string, value: number): string => `{ ulimit -${letter} ${value} 2>/dev/null || :; }`;
  const { cpuSecondsMax } = limits;
  return [
    'ulimit -c 0',
    lower('n', KUBERNETES_SIZES.openFilesMax),
    lower('f', Math.floor((limits.diskMb * MiB) / FILE_BLOCK_BYTES)),
    // Shells disagree about the letter.
    `{ ulimit -p ${processes} 2>/dev/null || ulimit -u ${processes}; }`,
    // Soft before hard: SIGXCPU first, which identifies the cause, SIGKILL a second later.
    ...(cpuSecondsMax === undefined ? [] : [`ulimit -S -t ${cpuSecondsMax} && ulimit -H -t ${cpuSecondsMax + 1}`]),
  ];
}

/** One word of shell in one line: a newline is the variable `n`. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll('\n', `'"$n"'`)}'`;
}

function checkSpec({ command, environment, workingDirectory }: SandboxSpec): void {
  const names = Object.keys(environment);
  const texts = [...command, ...Object.values(environment), workingDirectory ?? ''];
  if (names.length > KUBERNETES_SIZES.environmentNamesMax) {
    throw unusable(`its environment has more than ${KUBERNETES_SIZES.environmentNamesMax} names`);
  }
  const odd = names.find((name) => !ENVIRONMENT_NAME.test(name));
  if (odd !== undefined) throw unusable(`${JSON.stringify(odd)} is no name of an environment variable`);
  if (texts.some((value) => value.includes('\0'))) throw unusable('its command or environment holds a NUL character');
}

function unusable(why: string): ToolLayerError {
  return new ToolLayerError('E3101', `The sandbox cannot be made: ${why}.`);
}

/** The launcher's line before the tool began. */
export interface Header {
  readonly pid: number;
  /** The container's usage by then; 0 when unknown. */
  readonly cpuUs: number;
}

/** The longest first line: the word, a pid, a number of µs. */
const HEADER_BYTES_MAX = 128;

/**
 * Parses the launcher's line at the beginning of its output.
 * @returns the header and the rest; `wait` while more is needed; undefined when the output begins with something else
 */
export function readHeader(bytes: Buffer, word: string): { header: Header; rest: Buffer } | 'wait' | undefined {
  const end = bytes.indexOf('\n');
  if (end === -1 && bytes.length < HEADER_BYTES_MAX) return 'wait';
  const [said, pid, cpu] = bytes.subarray(0, Math.max(end, 0)).toString('utf8').split(' ');
  if (said !== word || !/^\d+$/.test(pid ?? '')) return undefined;
  return { header: { pid: Number(pid), cpuUs: Number(cpu) || 0 }, rest: bytes.subarray(end + 1) };
}
