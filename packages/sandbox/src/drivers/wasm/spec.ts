import { Readable, Writable } from 'node:stream';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { ISOLATION_LEVELS, type SandboxExit, type SandboxProcess, type SandboxSpec } from '../../driver.port.ts';
import { WASM_BOUNDS } from './settings.ts';

const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Refuses what an interpreter cannot give.
 * @throws E3101, E3104, E3105 as the port says
 */
export function checkSpec({ command, environment, mounts, network, limits, isolation }: SandboxSpec): void {
  const [mount] = mounts;
  const [address] = network;
  if (mount !== undefined) {
    const message = `A script sees no files, so ${mount.path} cannot be shown to it. Run it without folders, or by a driver of processes.`;
    throw new ToolLayerError('E3105', message, { details: { path: mount.path } });
  }
  if (address !== undefined) {
    const { host, port } = address;
    const message = `A script has no way out to ${host}:${port}. Run it without network, or by a driver of processes.`;
    throw new ToolLayerError('E3104', message, { details: { host, port } });
  }
  const own = ISOLATION_LEVELS.indexOf('interpreter');
  if (isolation !== undefined && ISOLATION_LEVELS.indexOf(isolation) > own) {
    throw unusable(`an interpreter gives less isolation than ${isolation}`);
  }
  if (limits.memoryMb < WASM_BOUNDS.memoryMbMin) {
    throw unusable(`the interpreter itself needs ${WASM_BOUNDS.memoryMbMin} MB of memory, not ${limits.memoryMb}`);
  }
  const names = Object.keys(environment);
  if (names.length > WASM_BOUNDS.environmentNamesMax) {
    throw unusable(`its environment has more than ${WASM_BOUNDS.environmentNamesMax} names`);
  }
  const odd = names.find((name) => !ENVIRONMENT_NAME.test(name));
  if (odd !== undefined) throw unusable(`${JSON.stringify(odd)} is no name of an environment variable`);
  if ([...command, ...Object.values(environment)].some((value) => value.includes('\0'))) {
    throw unusable('its command or environment holds a NUL character');
  }
}

function unusable(why: string): ToolLayerError {
  return new ToolLayerError('E3101', `The sandbox cannot be made: ${why}.`);
}

/** Exit code for a program that is not there, as shells have it. */
const NOT_FOUND = 127;

/** The end of a command that no interpreter is needed for: another program than `js`, or a folder that is not there. */
export function endedBefore({ workingDirectory }: SandboxSpec, program: string): SandboxProcess | undefined {
  if (program !== 'js') {
    return ended({ code: NOT_FOUND }, `There is no program ${JSON.stringify(program)} here, only js.\n`);
  }
  // A script has no files; /tmp is where every sandbox starts.
  if (workingDirectory === undefined || workingDirectory === '/tmp') return undefined;
  return ended({ code: 1, notStarted: true }, 'A script has no files, so it has no working directory.\n');
}

function ended(how: Pick<SandboxExit, 'code' | 'notStarted'>, complaint: string): SandboxProcess {
  const stdin = new Writable({ write: (_chunk, _encoding, done) => done() });
  return {
    stdin,
    stdout: Readable.from([]),
    stderr: Readable.from([Buffer.from(complaint)]),
    exited: Promise.resolve({ ...how, cpuMs: 0, memoryPeakMb: 0 }),
    kill() {},
    async [Symbol.asyncDispose]() {},
  };
}
