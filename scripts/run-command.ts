import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { MiB } from '@sallyport/std/bytes';
import { ROOT } from './project-files.ts';

/** How a command ended. */
export interface CommandEnd {
  /** Exit code; 1 for a command that could not be started or was killed. */
  readonly code: number;
  /** What it wrote to both outputs; the last `OUTPUT_CHARACTERS_MAX` characters. Empty when the output was passed on. */
  readonly output: string;
}

const OUTPUT_CHARACTERS_MAX = 4 * MiB;

/**
 * Runs a program of the project's dependencies, or of the system, in the root folder.
 * @param options.passOn the program writes to our own outputs, as it goes
 * @param options.timeoutMs killed after that; no bound when absent
 */
export function runCommand(
  [program, ...args]: readonly [string, ...string[]],
  options: {
    readonly passOn?: true;
    readonly env?: Readonly<Record<string, string>>;
    readonly timeoutMs?: number;
  } = {},
): Promise<CommandEnd> {
  const { promise, resolve } = Promise.withResolvers<CommandEnd>();
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, PATH: pathWithBinaries(), ...options.env },
    stdio: options.passOn === true ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs, killSignal: 'SIGKILL' as const }),
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk).slice(-OUTPUT_CHARACTERS_MAX);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.once('error', (error) => resolve({ code: 1, output: `${program} cannot be started: ${error.message}` }));
  child.once('close', (code, signal) =>
    resolve({ code: code ?? 1, output: signal === null ? output : `${output}\n${program} was ended by ${signal}` }),
  );
  return promise;
}

/** The dependencies' programs first, among them the right Node. */
function pathWithBinaries(): string {
  return [join(ROOT, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);
}
