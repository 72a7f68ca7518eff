import type { CallKey } from '../../../domain/invocation/call-key.ts';
import type { Peer } from '../../mcp-server.ts';
import type { TaskParts } from './task-parts.ts';

/**
 * The client of a call that runs here as a task: a question to it waits with the call until the client answers, through
 * any instance. Undefined when that client can show no questions.
 */
export function taskPeer({ questions, settings }: TaskParts, call: CallKey): Peer | undefined {
  const can = questions.clientOf(call);
  if (can === undefined) return undefined;
  return {
    era: 'modern',
    caller: { door: 'mcp' },
    // The call ends its questions itself.
    signal: new AbortController().signal,
    notify: () => {},
    can,
    ask: (method, params, signal) =>
      questions.ask(
        call,
        { method, params },
        AbortSignal.any([signal, AbortSignal.timeout(settings.confirmationWaitMs)]),
      ),
  };
}
