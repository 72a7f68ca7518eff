import { randomBytes } from 'node:crypto';
import type { SandboxSpec } from '../../../driver.port.ts';
import type { EgressRun } from '../../../egress-gate.ts';
import { SEED_BYTES } from '../image/reseed-program.ts';

/** Default search path for programs of the guest. */
const DEFAULT_PATH = '/usr/bin:/bin';
const DEFAULT_DIRECTORY = '/tmp';
const MARK_BYTES = 16;

/** The message that starts the job of a guest. */
export interface StartMessage {
  readonly bytes: Buffer;
  /** The agent writes it after the last byte of each output. Unguessable. */
  readonly mark: Buffer;
}

/** A port of the host for connections that the guest begins (vsock). */
export const EGRESS_PORT = 5010;

/**
 * Writes the message: `start <bytes>` and a line feed, then words in single quotes, as a shell reads them. Pairs of a name and
 * a value come first, then `--`, the environment as `NAME=value`, and the command.
 * @param nowMs time of day for the guest's clock
 */
export function startMessage(spec: SandboxSpec, way: EgressRun | undefined, nowMs: number): StartMessage {
  const { limits, environment, command } = spec;
  const directory = spec.workingDirectory ?? DEFAULT_DIRECTORY;
  const mark = randomBytes(MARK_BYTES).toString('hex');
  const given: readonly (readonly [name: string, value: string | number])[] = [
    ['memory_mb', limits.memoryMb],
    ['processes', limits.processesMax],
    ['disk_mb', limits.diskMb],
    ['cpu_seconds', limits.cpuSecondsMax ?? 0],
    ['directory', directory],
    ['clock', Math.floor(nowMs / 1000)],
    ['seed', octal(randomBytes(SEED_BYTES))],
    ['mark', mark],
    ...egressWords(way),
  ];
  const variables = { PATH: DEFAULT_PATH, PWD: directory, ...way?.view.environment, ...environment };
  const words = [
    ...given.flatMap(([name, value]) => [name, String(value)]),
    '--',
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    ...command,
  ];
  const body = words.map(quoted).join(' ');
  return { bytes: Buffer.from(`start ${Buffer.byteLength(body)}\n${body}`), mark: Buffer.from(mark) };
}

/** What the guest must contain so that clients find the network. */
function egressWords(way: EgressRun | undefined): [string, string | number][] {
  if (way === undefined) return [];
  const { hosts, addresses, listeners } = way.view;
  return [
    ['egress_port', EGRESS_PORT],
    ['hosts', hosts],
    ...addresses.map((address): [string, string] => ['address', address]),
    ...listeners.map(({ address, port, target }): [string, string] => [
      'listener',
      [address, port, ...(target === undefined ? [] : [target.host, target.port])].join(' '),
    ]),
  ];
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Bytes as `printf` of a shell reads them. */
const octal = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
