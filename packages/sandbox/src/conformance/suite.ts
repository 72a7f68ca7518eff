import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KiB } from '@sallyport/std/bytes';
import type { FilesystemPermission } from '@sallyport/std/permissions';
import { type CollectedOutput, collectOutput } from '../collect-output.ts';
import type { SandboxDriver, SandboxExit, SandboxLimits, SandboxProcess, SandboxSpec } from '../driver.port.ts';

/** A driver under test. */
export interface OpenedDriver {
  readonly driver: SandboxDriver;
  /** Mounts that every sandbox of the suite gets, for drivers that treat sandboxes with host folders differently. */
  readonly mounts?: readonly FilesystemPermission[];
  /**
   * Host processes (any text for each) of sandboxes whose command line holds a mark. Default: host processes whose own
   * command line holds it. For drivers whose programs are no host processes: their equivalent there.
   */
  traces?(mark: string): readonly string[];
  close(): Promise<void>;
}

/**
 * The runner's own `test`. Cases that a driver's dialect cannot express are given to `skip`, with the reason in the
 * name.
 */
export interface Test {
  (name: string, run: () => Promise<void>): void;
  readonly skip?: (name: string, run: () => Promise<void>) => void;
}
export type Open = () => Promise<OpenedDriver>;
export type Command = SandboxSpec['command'];

/** Default limits of the suite's sandboxes. */
export const LIMITS: SandboxLimits = { cpuMillicores: 2000, memoryMb: 128, processesMax: 32, diskMb: 8 };

/** The sandboxes of one case. */
export interface Sandboxes {
  readonly driver: SandboxDriver;
  /** A folder of the host, removed after the case. */
  readonly folder: string;
  start(command: Command, changes?: Partial<SandboxSpec>): Promise<SandboxProcess>;
  run(command: Command, changes?: Partial<SandboxSpec>): Promise<CollectedOutput & { exit: SandboxExit }>;
  /** Traces on the host of sandboxes whose command line holds the mark. */
  traces(mark: string): readonly string[];
}

/** Registers cases of one driver. */
export interface Check {
  (name: string, run: (sandboxes: Sandboxes) => Promise<void>): void;
  /** A case for a program that not every dialect has. */
  with<Program>(
    program: Program | undefined,
    name: string,
    run: (sandboxes: Sandboxes, program: Program) => Promise<void>,
  ): void;
}

/** Makes the register: each case opens the driver, and closes it. */
export function checkWith(test: Test, adapter: string, open: Open): Check {
  const check: Check = (name, run) => test(`${name} (${adapter})`, () => runCase(open, run));
  check.with = (program, name, run) => {
    if (program === undefined) test.skip?.(`${name} (${adapter}): its programs have no words for it`, async () => {});
    else check(name, (sandboxes) => run(sandboxes, program));
  };
  return check;
}

async function runCase(open: Open, run: (sandboxes: Sandboxes) => Promise<void>): Promise<void> {
  const opened = await open();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-suite-')));
  try {
    await run(sandboxesOf(opened, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await opened.close();
  }
}

/** The sandboxes of a case over an opened driver. */
export function sandboxesOf({ driver, mounts = [], traces = hostProcesses }: OpenedDriver, folder: string): Sandboxes {
  const start: Sandboxes['start'] = (command, changes = {}) =>
    driver.start({
      label: 'suite',
      environment: {},
      network: [],
      limits: LIMITS,
      ...changes,
      command,
      mounts: [...mounts, ...(changes.mounts ?? [])],
    });
  return {
    driver,
    folder,
    start,
    traces,
    async run(command, changes) {
      const process = await start(command, changes);
      process.stdin.end();
      const bounds = { stdoutBytesMax: 64 * KiB, stderrBytesMax: 64 * KiB };
      const [output, exit] = await Promise.all([collectOutput(process, bounds), process.exited]);
      return { ...output, exit };
    },
  };
}

/** Resolves when the tool wrote something. */
export async function firstOutput({ stdout }: SandboxProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stdout.once('data', () => resolve());
  stdout.once('close', () => reject(new Error('the sandbox ended before it wrote anything')));
  await promise;
}

/** Pids of the host whose command line holds a text. */
export function hostProcesses(text: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}
