import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What `npm run sallyport` runs. */
const START = fileURLToPath(new URL('../../packages/sallyport/bin/sallyport.mjs', import.meta.url));
/** Longest wait for the layer to say that it is ready. */
const READY_MS = 30_000;

/** What one run of the command line said. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line on one data folder. */
export function commandLine(dataFolder: string, environment: Record<string, string>) {
  const env = { ...process.env, ...environment, SALLYPORT_DATA_FOLDER: dataFolder, XDG_STATE_HOME: dataFolder };
  return (...args: string[]): Promise<CommandResult> =>
    new Promise((resolve) => {
      execFile(process.execPath, [START, ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr });
      });
    });
}

/** A layer that serves, as its own process. */
export interface ServingLayer extends AsyncDisposable {
  readonly url: string;
  readonly process: ChildProcess;
  /** No goodbye: what a power cut would do. */
  kill(): Promise<void>;
}

/** Starts `sallyport serve` on a free port and waits until it is ready. */
export async function serveProcess(dataFolder: string, environment: Record<string, string>): Promise<ServingLayer> {
  const env = { ...process.env, ...environment, SALLYPORT_DATA_FOLDER: dataFolder };
  const child = spawn(process.execPath, [START, 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  const url = await readyAddress(child, exited);
  return { url, process: child, kill: () => end('SIGKILL'), [Symbol.asyncDispose]: () => end('SIGTERM') };
}

function readyAddress(child: ChildProcess, exited: Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the layer did not become ready')), READY_MS);
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const url = /ready at (?<url>http:\/\/\S+)/.exec(said)?.groups?.['url'];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    void exited.then(() => reject(new Error(`the layer ended before it was ready: ${said}`)));
  });
}
