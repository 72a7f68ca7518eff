import { runCli } from '../../../packages/sallyport/src/doors/cli/run-cli.ts';
import type { OpenLayer } from '../layer.fixture.ts';

/** Output and exit code of one run of the command line. */
export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Options of a run; by default the run has no terminal. */
export interface CliRunOptions {
  /** What a person types at the terminal. */
  readonly typed?: string;
  readonly signal?: AbortSignal;
  readonly onOut?: (text: string) => void;
  readonly onErr?: (text: string) => void;
}

/** Runs the command line on an open layer, as the layer's operator. */
export async function cli(
  { layer, folder }: OpenLayer,
  argv: readonly string[],
  options: CliRunOptions = {},
): Promise<CliRun> {
  let [out, err] = ['', ''];
  const { typed, signal = new AbortController().signal, onOut, onErr } = options;
  const terminal = typed === undefined ? {} : { isTTY: true };
  const stdin = (async function* () {
    if (typed !== undefined) yield typed;
  })();
  const code = await runCli(argv, {
    io: {
      stdin: Object.assign(stdin, terminal),
      stdout: {
        write: (text) => {
          out += text;
          onOut?.(text);
        },
      },
      stderr: {
        write: (text) => {
          err += text;
          onErr?.(text);
        },
        ...terminal,
      },
      env: {},
      cwd: folder,
      signal,
    },
    version: '0.0.0',
    program: ['sallyport'],
    openLayer: async () => ({
      layer,
      dataFolder: folder,
      caller: { door: 'cli', local: true },
      close: async () => undefined,
    }),
    serve: async () => 0,
    mcpStdio: async () => 0,
    doctor: async () => [],
    migrateSettings: () => Promise.reject(new Error('nothing is migrated here')),
  });
  return { code, out, err };
}
