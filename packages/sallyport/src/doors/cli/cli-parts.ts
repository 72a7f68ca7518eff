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

/** The surroundings of one run of the command line. */
export interface CliIo {
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean };
  readonly stdout: CliOutput;
  readonly stderr: CliOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative file names start here. */
  readonly cwd: string;
  /** Ends the run, for example at Ctrl-C. */
  readonly signal?: AbortSignal;
}

/** What every command may be told of where the layer lives. */
export interface LayerOptions {
  /** Absent: from the settings. */
  readonly dataFolder?: string;
}

/**
 * What becomes of a data folder that no layer has used yet: nothing, it is made, or a layer on a folder of its own answers in its
 * place, which is gone afterwards.
 */
export type WhenAbsent = 'refuse' | 'make' | 'borrow';

/** How a client on standard input and output sees the tools. */
export const STDIO_TOOLS = ['all', 'meta', 'auto'] as const;

/** What `mcp` is told beside where the layer lives. */
export interface StdioOptions extends LayerOptions {
  /** Absent: a token is minted for the session. */
  readonly token?: string;
  /** Absent: from the settings. */
  readonly tools?: (typeof STDIO_TOOLS)[number];
}

/** A layer to ask, and as whom. `close` ends what `openLayer` began, nothing else. */
export interface OpenedLayer {
  readonly layer: ToolLayer;
  readonly caller: Caller;
  /** Absolute path of what the layer keeps. */
  readonly dataFolder: string;
  /** Address of the layer when it serves; absent when it was opened for this run. */
  readonly url?: string;
  close(): Promise<void>;
}

/**
 * One thing that `doctor` looked at. `absent`: works without it, but less well. `limit`: works, and this is what it does not do.
 * `warning`: works, and somebody should look after it.
 */
export interface DoctorFinding {
  readonly name: string;
  readonly state: 'ok' | 'absent' | 'limit' | 'warning' | 'failed';
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** What the command line needs of the program around it. */
export interface CliParts {
  readonly io: CliIo;
  /** Version of the product. */
  readonly version: string;
  /** What starts this program from anywhere: a command and its first arguments. */
  readonly program: readonly string[];
  /** Opens the data folder in this process, or asks the layer that serves it already. */
  openLayer(options: LayerOptions, whenAbsent: WhenAbsent): Promise<OpenedLayer>;
  /** Serves until `io.signal` ends; resolves with the exit code. */
  serve(options: LayerOptions & { readonly host?: string; readonly port?: number }): Promise<number>;
  /** Serves MCP on standard input and output until the client ends it; resolves with the exit code. */
  mcpStdio(options: StdioOptions): Promise<number>;
  doctor(options: LayerOptions): Promise<readonly DoctorFinding[]>;
}

/** Exit codes (docs/cli.md). */
export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3 } as const;
