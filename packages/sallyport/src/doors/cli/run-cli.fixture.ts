import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLayerDouble, type LayerDouble } from '../tool-layer.fixture.ts';
import type { CliParts, DoctorFinding, MigratedSettings } from './cli-parts.ts';
import { runCli } from './run-cli.ts';

/** Output and exit code of one run. */
export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Options of one run. */
export interface RunOptions {
  readonly stdin?: string;
  readonly terminal?: { readonly columns: number };
  readonly env?: Record<string, string>;
  readonly signal?: AbortSignal;
  /** Called with everything that is written to standard output. */
  readonly onOut?: (text: string) => void;
}

/** The command line on a layer in memory, with a temporary folder. */
export interface CliBench {
  readonly layer: LayerDouble;
  readonly folder: string;
  /** The programs, such as `serve`, that the command line asked to start. */
  readonly started: { readonly what: string; readonly options: object }[];
  findings: DoctorFinding[];
  migrated: MigratedSettings;
  openError: Error | undefined;
  /** Number of layers that were opened and not closed. */
  readonly open: () => number;
  run(argv: readonly string[], options?: RunOptions): Promise<CliRun>;
  file(name: string, text: string): Promise<string>;
  remove(): Promise<void>;
}

export async function createCliBench(): Promise<CliBench> {
  const folder = await mkdtemp(join(tmpdir(), 'cli-'));
  const layer = createLayerDouble();
  const started: CliBench['started'] = [];
  let opened = 0;
  const bench: CliBench = {
    layer,
    folder,
    started,
    findings: [],
    migrated: { settings: {}, notes: [], text: '' },
    openError: undefined,
    open: () => opened,
    run: async (argv, options = {}) => {
      let [out, err] = ['', ''];
      const { terminal, signal = new AbortController().signal } = options;
      const stdout = {
        write: (text: string) => {
          out += text;
          options.onOut?.(text);
        },
        ...(terminal === undefined ? {} : { isTTY: true, columns: terminal.columns }),
      };
      const stderr = {
        write: (text: string) => {
          err += text;
        },
        ...(terminal === undefined ? {} : { isTTY: true }),
      };
      const start = (what: string) => async (given: object) => {
        if (bench.openError !== undefined) throw bench.openError;
        started.push({ what, options: given });
        return 0;
      };
      const parts: CliParts = {
        io: {
          stdin: streamOf(options.stdin ?? ''),
          stdout,
          stderr,
          env: options.env ?? {},
          cwd: folder,
          signal,
        },
        version: '1.2.3',
        program: ['/opt/node', '/opt/sallyport.js'],
        openLayer: async () => {
          if (bench.openError !== undefined) throw bench.openError;
          opened += 1;
          const close = async () => {
            opened -= 1;
          };
          return { layer, caller: { door: 'cli', local: true }, dataFolder: join(folder, 'data'), close };
        },
        serve: start('serve'),
        mcpStdio: start('mcp'),
        doctor: async () => bench.findings,
        migrateSettings: async () => bench.migrated,
      };
      return { code: await runCli(argv, parts), out, err };
    },
    file: async (name, text) => {
      await writeFile(join(folder, name), text);
      return name;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  return bench;
}

async function* streamOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
