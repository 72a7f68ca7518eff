import { KiB } from '@sallyport/std/bytes';
import { isObject } from '../shape/is-object.ts';
import type { Asked, QuestionKind } from './client-question.ts';

/** Limits of one question. */
export const QUESTION_BOUNDS = {
  messageCharsMax: 4_000,
  urlCharsMax: 4_000,
  /** A schema longer than this as JSON is not a form for a person. */
  schemaCharsMax: 16_000,
  /** Longest request for a completion, in characters of JSON. */
  samplingCharsMax: 256 * KiB,
  /** Most messages of such a request. */
  samplingMessagesMax: 256,
} as const;

/**
 * Members of a request for a completion that are passed on. `includeContext` is not one of them: it would give the
 * author what other servers said.
 */
const SAMPLING_MEMBERS = [
  'messages',
  'modelPreferences',
  'systemPrompt',
  'temperature',
  'maxTokens',
  'stopSequences',
  'metadata',
  'tools',
  'toolChoice',
] as const;

/** The question in the parameters of a request to a client, or the reason why there is none. */
export function questionIn(kind: QuestionKind, params: unknown): Asked | string {
  if (kind === 'roots') return { kind };
  if (!isObject(params)) return 'the question has no parameters';
  return kind === 'sampling' ? samplingIn(params) : elicitationIn(params);
}

function elicitationIn(params: Readonly<Record<string, unknown>>): Asked | string {
  if (typeof params['message'] !== 'string') return 'the question has no message';
  const message = params['message'].slice(0, QUESTION_BOUNDS.messageCharsMax);
  if (params['mode'] === 'url') {
    const { url } = params;
    if (typeof url !== 'string' || url.length > QUESTION_BOUNDS.urlCharsMax) return 'the question has no url';
    if (!/^https?:\/\//i.test(url)) return 'its url is no web address';
    return { kind: 'elicitation', mode: 'url', message, url };
  }
  if (params['mode'] !== undefined && params['mode'] !== 'form') return 'the question has an unknown mode';
  const { requestedSchema } = params;
  if (!isObject(requestedSchema)) return 'the question has no schema';
  if (JSON.stringify(requestedSchema).length > QUESTION_BOUNDS.schemaCharsMax) return 'its schema is too long';
  return { kind: 'elicitation', mode: 'form', message, requestedSchema };
}

function samplingIn(params: Readonly<Record<string, unknown>>): Asked | string {
  const given = SAMPLING_MEMBERS.filter((member) => params[member] !== undefined);
  const request = Object.fromEntries(given.map((member) => [member, params[member]]));
  const { messages, maxTokens } = request;
  if (!Array.isArray(messages) || messages.length === 0) return 'the request for a completion has no messages';
  if (messages.length > QUESTION_BOUNDS.samplingMessagesMax)
    return 'the request for a completion has too many messages';
  if (!messages.every(isMessage)) return 'a message of the request for a completion is malformed';
  if (typeof maxTokens !== 'number' || !(maxTokens >= 1)) return 'the request for a completion has no maxTokens';
  if (JSON.stringify(request).length > QUESTION_BOUNDS.samplingCharsMax)
    return 'the request for a completion is too long';
  return { kind: 'sampling', request };
}

function isMessage(value: unknown): boolean {
  if (!isObject(value) || (value['role'] !== 'user' && value['role'] !== 'assistant')) return false;
  const { content } = value;
  return isObject(content) || (Array.isArray(content) && content.every(isObject));
}
