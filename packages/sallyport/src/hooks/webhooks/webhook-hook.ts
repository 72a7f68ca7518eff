import { randomUUID } from 'node:crypto';
import { KiB, MiB } from '@sallyport/std/bytes';
import type { Clock } from '@sallyport/std/clock';
import { exactJson, repeatedMemberIn, tooDeepAt } from '@sallyport/std/json/json-text';
import { boundedBody } from '@sallyport/std/web/bounded-body';
import type { AfterAnswer, BeforeAnswer, Hook, HookedCall, HookedResult } from '../hook.ts';
import { HookForged } from '../run-hooks.ts';
import { HEADER, keyOf, signatureFault, signatureOf } from '../webhook-signature.ts';
import type { WebhookSettings } from './settings.ts';

/** Largest message that is sent. */
const MESSAGE_BYTES_MAX = 4 * MiB;
/** Largest answer that is read. */
const ANSWER_BYTES_MAX = 4 * MiB;
/** Most characters of a server's text in the cause. */
const SAID_CHARACTERS_MAX = 500;
/** Shortest accepted key, in bytes: the output size of HMAC-SHA256. */
const KEY_BYTES_MIN = 24;

/** Dependencies of the adapter beside its settings. */
export interface WebhookParts {
  /** Reads the value of a secret by its name for each call. */
  readonly secret: (name: string) => Promise<string>;
  readonly clock: Clock;
}

/** A hook that is an HTTP server (PIPE-14). Its answer counts only when signed, unless the settings say otherwise. */
export function createWebhookHook(settings: WebhookSettings, parts: WebhookParts): Hook {
  const { id, at, match, timeoutMs, failOpen } = settings;
  const common = {
    id,
    ...(match === undefined ? {} : { match }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(failOpen === undefined ? {} : { failOpen }),
  };
  // The caller of the hook checks the server's answer, as for any other hook.
  const run = (call: HookedCall, signal: AbortSignal) => ask(settings, parts, messageOf(at, id, call), signal);
  if (at === 'before') return { ...common, at, run: run as (...of: Parameters<typeof run>) => Promise<BeforeAnswer> };
  return { ...common, at, run: run as (...of: Parameters<typeof run>) => Promise<AfterAnswer> };
}

function messageOf(at: Hook['at'], hook: string, call: HookedCall | HookedResult): string {
  return JSON.stringify({
    type: `call.${at}`,
    hook,
    invocation_id: call.invocationId,
    dry_run: call.dryRun,
    tenant_id: call.tenantId,
    agent_did: call.agentDid,
    user_did: call.userDid,
    session_id: call.sessionId,
    tool_id: call.toolId,
    tool_version: call.toolVersion,
    side_effect_policy: call.sideEffect,
    phase: call.phase,
    claim_source: call.claimSource,
    trust: call.trust,
    arguments: call.arguments,
    environment: call.environment,
    ...('result' in call ? { result: call.result ?? null, tool_error: call.toolError } : {}),
  });
}

async function ask(
  settings: WebhookSettings,
  { secret, clock }: WebhookParts,
  body: string,
  signal: AbortSignal,
): Promise<unknown> {
  if (Buffer.byteLength(body) > MESSAGE_BYTES_MAX) throw new Error(`The message is above ${MESSAGE_BYTES_MAX} bytes.`);
  const key = keyOf(await secret(settings.secret));
  if (key.length < KEY_BYTES_MIN)
    throw new HookForged(`The secret ${settings.secret} is shorter than ${KEY_BYTES_MIN} bytes.`);
  const id = `msg_${randomUUID()}`;
  const timestamp = Math.floor(clock.now() / 1000);
  // A redirect would send the call elsewhere.
  const response = await fetch(settings.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      [HEADER.id]: id,
      [HEADER.timestamp]: String(timestamp),
      [HEADER.signature]: signatureOf(key, id, timestamp, body),
    },
    body,
    redirect: 'error',
    signal,
  });
  const said = await readText(response);
  if (!response.ok)
    throw new Error(`It answered with status ${response.status}: ${said.slice(0, SAID_CHARACTERS_MAX)}`);
  if (settings.signedAnswers ?? true) {
    const message = { id: header(response, HEADER.id), timestamp: header(response, HEADER.timestamp) };
    const signed = { ...message, signature: header(response, HEADER.signature), body: said };
    const fault = signatureFault(key, signed, id, Math.floor(clock.now() / 1000));
    if (fault !== undefined) throw new HookForged(`The answer of the webhook ${settings.id} is not taken: ${fault}.`);
  }
  return answerIn(said);
}

const header = (response: Response, name: string): string => response.headers.get(name) ?? '';

/** Levels of an answer: more than arguments and results may have. */
const ANSWER_DEPTH_MAX = 512;

/**
 * 204 and an empty body mean no answer. What leaves open what the webhook means is invalid: another value than an
 * object, a member twice, a number that would become another one, and other members, as in our own message sent back.
 */
function answerIn(text: string): unknown {
  if (text === '') return undefined;
  if (tooDeepAt(text, ANSWER_DEPTH_MAX) >= 0) throw new Error(`The answer has more than ${ANSWER_DEPTH_MAX} levels.`);
  const answer = JSON.parse(text) as unknown;
  if (typeof answer !== 'object' || answer === null) throw new Error('The answer is no JSON object.');
  if (repeatedMemberIn(text, answer) !== undefined) throw new Error('The answer has a member twice.');
  if (exactJson(text) !== undefined) throw new Error('The answer has a whole number that a double does not hold.');
  const other = Object.keys(answer).find((member) => !MEMBERS.has(member));
  if (other !== undefined) throw new Error(`The answer holds "${other.slice(0, 64)}".`);
  return answer;
}

const MEMBERS: ReadonlySet<string> = new Set(['outcome', 'reason', 'arguments', 'result']);

async function readText(response: Response): Promise<string> {
  const body = await boundedBody(response, ANSWER_BYTES_MAX);
  if (body === undefined) throw new Error(`The answer is above ${ANSWER_BYTES_MAX / KiB} KiB.`);
  return body.toString('utf8');
}
