import type { Caller } from '../../domain/principal/principal.ts';
import type { ToolLayer } from '../../operations/tool-layer.ts';

/** A stream that the command line writes text to. */
export interface CliOutput {
  write(text: string): unknown;
  /** A terminal, which gets colours and fitted tables. */
  readonly isTTY?: boolean;
  /** Width of the terminal in characters. */
  readonly columns?: number;
}

/** Streams, folder, environment and end signal of one run of the command line. */
export interface CliIo {
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };
  readonly stdout: CliOutput;
  readonly stderr: CliOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative file names start here. */
  readonly cwd: string;
  /** Ends the run, for example at Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Options of every command that say where the layer lives. */
export interface LayerOptions {
  /** Default: from the settings. */
  readonly dataFolder?: string;
}

/**
 * Handling of a data folder that no layer has used yet. `refuse`: an error. `make`: the folder is created. `borrow`: a
 * layer on a temporary folder answers instead, and the folder is deleted afterwards.
 */
export type WhenAbsent = 'refuse' | 'make' | 'borrow';

/** The ways in which a client on standard input and output can be shown the tools. */
export const STDIO_TOOLS = ['all', 'meta', 'auto'] as const;

/** Options of the command `mcp`. */
export interface StdioOptions extends LayerOptions {
  /** Default: a token is minted for the session. */
  readonly token?: string;
  /** Default: from the settings. */
  readonly tools?: (typeof STDIO_TOOLS)[number];
  /** The upstream that is shown alone; default: all. */
  readonly server?: string;
}

/** Options of the commands `serve` and `auth dev`. */
export interface ServeOptions extends LayerOptions {
  /** Default: from the settings. */
  readonly host?: string;
  /** Default: from the settings. */
  readonly port?: number;
  /** True for an authorization server for development beside the other doors. Default: from the settings. */
  readonly authorizes?: boolean;
}

/** A layer that commands ask, with the caller they ask as. `close` ends only what `openLayer` began. */
export interface OpenedLayer {
  readonly layer: ToolLayer;
  readonly caller: Caller;
  /** Absolute path of the layer's data folder. */
  readonly dataFolder: string;
  /** Address of a layer that serves already; absent when the layer was opened for this run. */
  readonly url?: string;
  close(): Promise<void>;
}

/**
 * One finding of `doctor`. `absent`: something is missing; Sallyport works without it, but less well. `limit`: works,
 * with the limitation that the finding names. `warning`: works, and needs attention.
 */
export interface DoctorFinding {
  readonly name: string;
  readonly state: 'ok' | 'absent' | 'limit' | 'warning' | 'failed';
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** A remark on a key of a configuration that became no setting, or needs something more. */
export interface MigrationNote {
  /** As the configuration writes it. */
  readonly key: string;
  readonly why: string;
}

/** What a configuration in the words of the specifications became. */
export interface MigratedSettings {
  /** Values by key; they may hold secrets. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** No note holds a value. */
  readonly notes: readonly MigrationNote[];
  /** The settings as a `sallyport.toml`, with the notes as comments. */
  readonly text: string;
}

/** Dependencies of the command line: the program around it. */
export interface CliParts {
  readonly io: CliIo;
  /** Version of the product. */
  readonly version: string;
  /** Command line that starts this program from any folder: a command and its first arguments. */
  readonly program: readonly string[];
  /** Opens the data folder in this process, or connects to the layer that serves it already. */
  openLayer(options: LayerOptions, whenAbsent: WhenAbsent): Promise<OpenedLayer>;
  /** Serves until `io.signal` ends; resolves with the exit code. */
  serve(options: ServeOptions): Promise<number>;
  /** Serves MCP on standard input and output until the client ends it; resolves with the exit code. */
  mcpStdio(options: StdioOptions): Promise<number>;
  doctor(options: LayerOptions): Promise<readonly DoctorFinding[]>;
  /**
   * Takes over a configuration in the words of the specifications.
   * @param name of its file, whose ending says its form
   * @throws ToolLayerError E3801 naming each key whose value cannot be taken
   */
  migrateSettings(text: string, name: string): Promise<MigratedSettings>;
}

/** Exit codes (docs/cli.md). */
export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3 } as const;
