import type { Clock } from '@sallyport/std/clock';
import type { ToolLayer } from '../../../operations/tool-layer.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { CallQuestions } from '../call-questions.port.ts';
import type { ClientConfirmations } from '../client-confirmations.port.ts';
import type { CachedToolLists } from '../methods/cached-tool-lists.ts';
import type { McpSettings } from '../settings.ts';
import type { OpenedLinks } from '../upstream-questions/opened-links.ts';

/** Dependencies of the tasks: asynchronous calls, as MCP clients see them. */
export interface TaskParts {
  readonly layer: ToolLayer;
  readonly log: Log;
  readonly clock: Clock;
  readonly settings: McpSettings;
  readonly toolLists: CachedToolLists;
  readonly links: OpenedLinks;
  /** Questions of running calls. */
  readonly questions: CallQuestions;
  /** Confirmations by the user at a client; absent: no client is asked. */
  readonly confirmations?: ClientConfirmations | undefined;
  /** How long results are kept after the end of a call, in ms; absent: for good. */
  readonly resultsKeptMs?: number | undefined;
}

/** How often a client should ask for the state of a task, in ms. */
export const POLL_INTERVAL_MS = 1_000;
