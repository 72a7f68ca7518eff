import { KiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import type { LogListener, LogMessage } from '../../../domain/invocation/log-message.ts';
import type { ExecutorCall } from '../../../executors/executor.port.ts';
import type { PipelineParts } from '../../parts.ts';

/** Limits of the log messages of one call. */
const LOG_BOUNDS = {
  /** Most messages passed on in a window; further ones are dropped. */
  messagesMax: 100,
  windowMs: 1_000,
  /** Longest data, in characters of JSON; longer data is cut to a text. */
  dataCharsMax: 16 * KiB,
} as const;

/** Dependencies of what a tool sends to the client of its call. */
export type ClientParts = Pick<PipelineParts, 'clock' | 'redactor' | 'clients'>;

interface OfCall extends Pick<ExecutorCall, 'invocationId' | 'tool'> {
  readonly principal: Pick<ExecutorCall['principal'], 'tenantId'>;
  readonly caller: { readonly logs?: LogListener };
}

/** What a question of a call needs. */
interface Asking extends Required<Pick<ExecutorCall, 'whileAsking' | 'onUnasked'>> {
  /** Aborted when the call ends. */
  readonly signal: AbortSignal;
}

type Towards = Pick<ExecutorCall, 'logs'> & Required<Pick<ExecutorCall, 'askClient' | 'clientCan'>>;

/** What a tool may send to the client of its call while it runs: log messages and questions. */
export function towardsClient(
  { clock, redactor, clients }: ClientParts,
  { invocationId, principal: { tenantId }, tool, caller: { logs } }: OfCall,
  { whileAsking, onUnasked, signal }: Asking,
): Towards {
  const author = { kind: 'tool' as const, name: tool.manifest.tool_id };
  return {
    ...(logs === undefined ? {} : { logs: boundedLogs(logs, clock, redactor) }),
    clientCan: () => clients.clientOf(tenantId, invocationId)?.can,
    askClient: async (asked, key) => {
      signal.throwIfAborted();
      const question = { tenantId, author, invocationIds: [invocationId], asked, key, whileAsking };
      const answer = await clients.ask(question, signal);
      if ('unasked' in answer) onUnasked(answer.unasked);
      return answer;
    },
  };
}

/** The same listener, for as many messages as a client can be expected to read, without secrets and personal data. */
export function boundedLogs(logs: LogListener, clock: Clock, redactor: ClientParts['redactor']): LogListener {
  let since = Number.NEGATIVE_INFINITY;
  let count = 0;
  return {
    get level() {
      return logs.level;
    },
    take(message) {
      const now = clock.monotonic();
      if (now - since >= LOG_BOUNDS.windowMs) [since, count] = [now, 0];
      count += 1;
      if (count <= LOG_BOUNDS.messagesMax) logs.take(cleaned(message, redactor));
    },
  };
}

function cleaned({ data, ...message }: LogMessage, redactor: ClientParts['redactor']): LogMessage {
  const text = JSON.stringify(data) ?? 'null';
  const bounded = text.length <= LOG_BOUNDS.dataCharsMax ? data : `${text.slice(0, LOG_BOUNDS.dataCharsMax)}…`;
  return redactor.value({ ...message, data: bounded ?? null }).value as LogMessage;
}
