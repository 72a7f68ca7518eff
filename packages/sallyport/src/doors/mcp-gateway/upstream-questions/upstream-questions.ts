import { randomUUID } from 'node:crypto';
import { KiB } from '@sallyport/std/bytes';
import { visibleLine, visibleText } from '@sallyport/std/text/visible-text';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Params } from '../../json-rpc.ts';
import type { Peer } from '../../mcp-server.ts';
import { elicits } from '../confirmation/elicit-form.ts';
import { asksForSecret } from './asks-for-secret.ts';
import { type FlatForm, flatFormOf } from './flat-form.ts';

const NAME_CHARACTERS_MAX = 100;
const MESSAGE_CHARACTERS_MAX = 4 * KiB;

/**
 * An upstream's question to a person in the middle of a call, in the shape of the elicitation port. All of it is
 * foreign.
 */
export interface UpstreamQuestion {
  readonly tenantId: string;
  readonly upstream: string;
  /** Calls that the question may belong to, newest first. */
  readonly invocationIds: readonly string[];
  readonly mode: 'form' | 'url';
  readonly message: string;
  readonly requestedSchema?: Params;
  readonly url?: string;
  /** Wraps the wait for the person. */
  whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
}

/** The person's answer; `content` fits the schema. `unasked` gives the reason why no person saw the question. */
export type UpstreamAnswer =
  | { readonly action: 'accept'; readonly content?: Params }
  | { readonly action: 'decline' | 'cancel' }
  | { readonly action: 'cancel'; readonly unasked: string };

/** Puts questions of upstreams to the user at the client whose call caused them. */
export interface UpstreamAsker {
  /** Never rejects. */
  ask(question: UpstreamQuestion, signal: AbortSignal): Promise<UpstreamAnswer>;
  /** The client that a call runs for; undefined when it cannot show questions. */
  clientOf(tenantId: string, invocationId: string): { readonly session?: string } | undefined;
}

/** Dependencies of the asker. */
export interface UpstreamQuestionParts {
  readonly log: Log;
  /** The client whose request a call runs for; undefined when the call came another way. */
  readonly peerOf: (tenantId: string, invocationId: string) => Peer | undefined;
}

/**
 * A question goes to exactly one client: that of its call. When the call is ambiguous across clients, has none, or its
 * client cannot show such a question, nobody is asked.
 */
export function createUpstreamAsker({ log, peerOf }: UpstreamQuestionParts): UpstreamAsker {
  const sessions = new WeakMap<object, string>();
  const sessionOf = (watch: object): string => {
    const known = sessions.get(watch) ?? randomUUID();
    sessions.set(watch, known);
    return known;
  };
  const ask: UpstreamAsker['ask'] = async (question, signal) => {
    const peer = onePeer(question, peerOf);
    if (peer?.ask === undefined) return unasked('no single client waits for the call');
    const { ask: askPeer } = peer;
    if (!elicits(peer, question.mode)) return unasked(`the client shows no question of the mode ${question.mode}`);
    if (question.mode === 'form' && asksForSecret(question.requestedSchema))
      return unasked('its form asks for a secret; a server has a page of its own for that');
    const form = question.mode === 'form' ? flatFormOf(question.requestedSchema) : undefined;
    if (question.mode === 'form' && form === undefined) return unasked('its schema is no form');
    try {
      const said = await question.whileAsking(() =>
        askPeer('elicitation/create', paramsOf(question, form), AbortSignal.any([signal, peer.signal])),
      );
      return answerIn(said, form) ?? unasked('the answer of the client is not what was asked for');
    } catch (thrown) {
      log.info('upstream-question-not-answered', { upstream: question.upstream, reason: String(thrown) });
      return { action: 'cancel' };
    }
  };
  return {
    ask,
    clientOf(tenantId, invocationId) {
      const peer = peerOf(tenantId, invocationId);
      if (peer?.ask === undefined || peer.can?.['elicitation'] === undefined) return undefined;
      return peer.watch === undefined ? {} : { session: sessionOf(peer.watch) };
    },
  };
}

const unasked = (why: string): UpstreamAnswer => ({ action: 'cancel', unasked: why });

/** Several calls of one client count as one peer only when all share one session, or none has a session. */
function onePeer(
  { tenantId, invocationIds }: UpstreamQuestion,
  peerOf: UpstreamQuestionParts['peerOf'],
): Peer | undefined {
  const [first, ...others] = invocationIds.map((id) => peerOf(tenantId, id));
  if (first === undefined) return undefined;
  return others.every((other) => other !== undefined && other.watch === first.watch) ? first : undefined;
}

function paramsOf({ upstream, message, url }: UpstreamQuestion, form: FlatForm | undefined): Params {
  // The question must begin by naming its author.
  const from = `The server ${visibleLine(upstream, NAME_CHARACTERS_MAX)} asks; never give it a password.`;
  const asked = { message: `${from}\n${visibleText(message, MESSAGE_CHARACTERS_MAX)}` };
  if (form !== undefined) return { ...asked, requestedSchema: form.schema };
  return { ...asked, mode: 'url', url, elicitationId: randomUUID() };
}

/** Undefined when the answer does not fit the form. */
function answerIn(said: unknown, form: FlatForm | undefined): UpstreamAnswer | undefined {
  const { action, content } = isObject(said) ? said : {};
  if (action === 'decline') return { action };
  if (action !== 'accept') return { action: 'cancel' };
  if (form === undefined) return { action };
  return isObject(content) && form.fits(content) ? { action, content } : undefined;
}
