import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Params, RpcAnswer } from '../../json-rpc.ts';
import { META_RELATED_TASK } from '../../mcp-protocol.ts';
import type { Method, Peer } from '../../mcp-server.ts';
import { responseOnRecord } from '../confirmation/wait-for-end.ts';
import { endedAnswer } from '../methods/call-answer.ts';
import { resultFrame } from '../methods/call-result.ts';
import { existing, taskIdOf } from './find-task.ts';
import { inputOf, takeInput } from './task-input.ts';
import type { TaskParts } from './task-parts.ts';
import { isOver } from './task-view.ts';

/** Longest time between two looks for questions, in s; the end of the call is noticed at once. */
const LOOK_SECONDS = 1;
const FRAME = resultFrame('legacy', { name: '', version: '' }, false);

/**
 * `tasks/result` of 2025-11-25: waits for the end of the call, and asks the client meanwhile what the task needs. A
 * client that leaves ends the wait; the call runs on.
 */
export function taskResult(parts: TaskParts): Method {
  return async ({ id, params }, peer) => {
    const invocation_id = taskIdOf(params);
    using asked = new AskedQuestions();
    let after: string | undefined;
    for (;;) {
      const watched = {
        invocation_id,
        own: true,
        wait_seconds: LOOK_SECONDS,
        ...(after === undefined ? {} : { after }),
      };
      const seen = await parts.layer.ask('invocations.watch', watched, { ...peer.caller, signal: peer.signal });
      const found = existing(seen.invocation);
      if (isOver(found)) {
        const of = { toolLists: parts.toolLists, caller: peer.caller, toolId: found.tool_id };
        parts.links.refused(peer.watch, found.error?.details?.['rpc_data']);
        return related(await endedAnswer(id, responseOnRecord(found), of, FRAME), invocation_id);
      }
      if (peer.signal.aborted) throw endOfWait(peer.signal);
      after = seen.event_id;
      const open = await inputOf(parts, found, peer);
      asked.withdraw(open);
      for (const [key, { method, params: question }] of Object.entries(open)) {
        const signal = asked.add(key);
        if (signal !== undefined) void askNow(parts, { ...peer, signal }, { key, method, question }, { ...found });
      }
    }
  };
}

/** A task that is not over has no result: the layer stops, or the client does not wait any more. */
const endOfWait = ({ reason }: AbortSignal): ToolLayerError =>
  reason instanceof ToolLayerError ? reason : new ToolLayerError('E3805', 'The client left, and the task runs on.');

/** The questions that a request has put to its client. They end with it, and where another client was faster. */
class AskedQuestions implements Disposable {
  readonly #open = new Map<string, AbortController>();

  /** The signal of a new question; undefined for one that was asked already. */
  add(key: string): AbortSignal | undefined {
    if (this.#open.has(key)) return undefined;
    const asking = new AbortController();
    this.#open.set(key, asking);
    return asking.signal;
  }

  /** Takes back the questions that the task does not ask any more. */
  withdraw(open: Readonly<Record<string, unknown>>): void {
    for (const [key, asking] of this.#open) if (!Object.hasOwn(open, key)) asking.abort();
  }

  [Symbol.dispose](): void {
    this.withdraw({});
  }
}

interface Asked {
  readonly key: string;
  readonly method: string;
  readonly question: Params;
}

/** Asks on the stream of the request, while the task is waited for; without an answer the task waits on. */
async function askNow(
  parts: TaskParts,
  peer: Peer,
  { key, method, question }: Asked,
  found: Parameters<typeof takeInput>[1],
): Promise<void> {
  if (peer.ask === undefined) return;
  try {
    const meta = { [META_RELATED_TASK]: { taskId: found.invocation_id } };
    parts.links.asked(peer.watch, question);
    const said = await peer.ask(method, { ...question, _meta: meta }, peer.signal);
    await takeInput(parts, found, peer, { [key]: said });
  } catch (thrown) {
    parts.log.info('task-question-not-answered', { invocation_id: found.invocation_id, reason: String(thrown) });
  }
}

/** The result names its task, as the result itself does not. */
function related(answer: RpcAnswer, taskId: string): RpcAnswer {
  const message: unknown = JSON.parse(answer.text);
  if (!isObject(message) || !isObject(message['result'])) return answer;
  const { result } = message;
  const _meta = { ...(isObject(result['_meta']) ? result['_meta'] : {}), [META_RELATED_TASK]: { taskId } };
  return { ...answer, text: JSON.stringify({ ...message, result: { ...result, _meta } }) };
}
