import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The program as it is installed. The bundle starts in a third of the time that the sources take. */
export const MAIN = fileURLToPath(new URL('../../../packages/sallyport/bin/sallyport.mjs', import.meta.url));

/** Output and exit code of a run of the program. */
export interface ProgramRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `sallyport` as its own process, without the variables of this process's environment that name a layer. */
export function runSallyport(
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<ProgramRun> {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: options.cwd, ...options.env };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: options.cwd, env, stdio: 'pipe' });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  child.stdin.end();
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}
