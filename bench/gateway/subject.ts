import { CALL_NUMBER, type Load, type LoadSpan, type Target } from '../load/target.ts';
import type { ServerProcess } from '../processes/server-process.ts';

/** A started server and the ways to call the echo tool through it, by name. */
export interface RunningServer {
  readonly process: ServerProcess;
  readonly targets: Readonly<Record<string, Target>>;
  /** Calls that the server makes itself, by name. */
  readonly own?: Readonly<Record<string, RunOwn>>;
}

/** Lets callers within the server call. */
export type RunOwn = (callers: number, span: LoadSpan) => Promise<Load>;

/** A server that takes part in the comparison. */
export interface Contestant {
  /** Names of its targets, known before it starts. */
  readonly names: readonly string[];
  /** @param folder its own, empty @throws Error when it cannot be started here */
  start(folder: string): Promise<RunningServer>;
}

/** Arguments of the echo tool, which it has to answer with. */
export const ECHO_ARGUMENTS = { text: `echo ${CALL_NUMBER}` } as const;
export const ECHO_EXPECTED = `"echo ${CALL_NUMBER}"`;

/** Params of tools/call. */
export function echoCall(tool: string): string {
  return JSON.stringify({ name: tool, arguments: ECHO_ARGUMENTS });
}
