import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isWanted, LEAST_BY_DEFAULT, type LogLevel } from '../../domain/invocation/log-message.ts';
import type { QuestionKind } from '../../domain/questions/client-question.ts';
import { questionIn } from '../../domain/questions/read-question.ts';
import { plainJson } from '../../validation/plain-json.ts';
import type { ExecutorCall } from '../executor.port.ts';

type Members = Readonly<Record<string, unknown>>;

/** A question to the user of the client: values for a form, or an address to open. */
export type Elicitation =
  | { readonly message: string; readonly requestedSchema: Members }
  | { readonly message: string; readonly url: string };

/** The user's answer. `unasked` gives the reason when nobody saw the question. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Members }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel'; readonly unasked?: string };

/** A completion by the client's language model (`CreateMessageResult`). Foreign text. */
export interface Completion {
  readonly role: 'assistant' | 'user';
  readonly content: Members | readonly Members[];
  readonly model: string;
  readonly stopReason?: string;
}

/** A folder that the client offers. */
export interface ClientRoot {
  /** Begins with `file://`. */
  readonly uri: string;
  readonly name?: string;
}

/**
 * The MCP client that a function's call came from. Questions go to it alone, while the call waits without a slot. Each
 * method takes the question's name at the end: clients of 2026-07-28 see it, others do not. Default: a made one.
 */
export interface CallClient {
  /** True when the client says that it answers such questions; always false for a call of another door. */
  can(kind: QuestionKind): boolean;
  /** Sends a log message, when the client wants messages of that level. @param logger part of the program */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** Asks the user. Never rejects because of the client: a question that nobody saw is cancelled. */
  elicit(question: Elicitation, key?: string): Promise<ElicitationAnswer>;
  /**
   * Asks for a completion, with parameters of `sampling/createMessage`.
   * @throws ToolLayerError E3821 when the client makes none
   */
  sample(request: Members, key?: string): Promise<Completion>;
  /** Lists the client's folders. @throws ToolLayerError E3821 when it offers none */
  listRoots(key?: string): Promise<readonly ClientRoot[]>;
}

/** The client of one call. */
export function clientOfCall(call: ExecutorCall): CallClient {
  const { logs, tool } = call;
  const demand = async (kind: QuestionKind, params: unknown, key: string | undefined): Promise<Members> => {
    const answer = await put(call, kind, params, key);
    if ('result' in answer) return answer.result;
    throw noAnswer(tool.manifest.tool_id, kind, whyOf(answer), call.clientCan?.()?.[kind] === undefined);
  };
  return {
    can: (kind) => call.clientCan?.()?.[kind] !== undefined,
    log(level, data, logger) {
      if (logs === undefined || !isWanted(level, logs.level ?? LEAST_BY_DEFAULT)) return;
      logs.take({ level, data: loggable(data), ...(logger === undefined ? {} : { logger }) });
    },
    async elicit(question, key) {
      const params = 'url' in question ? { ...question, mode: 'url' } : question;
      const answer = await put(call, 'elicitation', params, key);
      if ('result' in answer) return answer.result as ElicitationAnswer;
      if ('unasked' in answer) return { action: 'cancel', unasked: answer.unasked };
      return { action: 'cancel' };
    },
    sample: async (request, key) => (await demand('sampling', request, key)) as unknown as Completion,
    listRoots: async (key) => (await demand('roots', {}, key))['roots'] as readonly ClientRoot[],
  };
}

/** Data of a log message as JSON. A message fails no call, with a client that listens as without one. */
function loggable(data: unknown): unknown {
  try {
    return data instanceof Error ? String(data) : (plainJson(data).value ?? null);
  } catch {
    return null;
  }
}

type Answer = Awaited<ReturnType<NonNullable<ExecutorCall['askClient']>>>;

/** @throws ToolLayerError E3109 for a question that is malformed: a mistake of the function */
async function put(
  { askClient, tool }: ExecutorCall,
  kind: QuestionKind,
  params: unknown,
  key: string | undefined,
): Promise<Answer> {
  const asked = questionIn(kind, params);
  if (typeof asked === 'string')
    throw new ToolLayerError('E3109', `The function of ${tool.manifest.tool_id} asked its client wrongly: ${asked}.`);
  if (askClient === undefined) return { unasked: 'the call runs for no client that can be asked' };
  return askClient(asked, key);
}

const whyOf = (answer: Exclude<Answer, { readonly result: Members }>): string =>
  'unasked' in answer ? answer.unasked : answer.ended;

function noAnswer(toolId: string, kind: QuestionKind, why: string, isLacking: boolean): ToolLayerError {
  return new ToolLayerError('E3821', `The tool ${toolId} asked the client for ${kind} and got no answer: ${why}.`, {
    ...(isLacking ? { details: { required_capabilities: { [kind]: {} } } } : {}),
  });
}
