import { randomUUID } from 'node:crypto';
import { KiB } from '@sallyport/std/bytes';
import { visibleLine, visibleText } from '@sallyport/std/text/visible-text';
import {
  type Asked,
  type ClientAnswer,
  type ClientAsker,
  type ClientQuestion,
  type FormQuestion,
  QUESTION_KINDS,
  QUESTION_METHODS,
  type QuestionAuthor,
  type SamplingQuestion,
  type UrlQuestion,
  usesTools,
} from '../../../domain/questions/client-question.ts';
import { completionIn, rootsIn } from '../../../domain/questions/read-answer.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Params } from '../../json-rpc.ts';
import type { Peer } from '../../mcp-server.ts';
import { elicits } from '../confirmation/elicit-form.ts';
import { asksForSecret } from './asks-for-secret.ts';
import { flatFormOf } from './flat-form.ts';
import type { OpenedLinks } from './opened-links.ts';

const NAME_CHARACTERS_MAX = 100;
const MESSAGE_CHARACTERS_MAX = 4 * KiB;
/** `_meta` key under which a request for a completion names its author. */
const META_AUTHOR = 'sallyport/asked_by';

/** Dependencies of the asker. */
export interface ClientAskerParts {
  readonly log: Log;
  /** The client whose request a call runs for; undefined when the call came another way. */
  readonly peerOf: (tenantId: string, invocationId: string) => Peer | undefined;
  /** The addresses that its questions have opened. */
  readonly links: Pick<OpenedLinks, 'asked' | 'completed'>;
}

/** A question in the form of one client: parameters of its request, and what its answer must be. */
interface Offer {
  readonly params: Params;
  /** The answer; undefined when it is not what was asked for. */
  read(said: unknown): Params | undefined;
}

/**
 * Puts questions to clients. A question goes to exactly one client: that of its call. When the call is ambiguous across
 * clients, has none, or its client cannot answer such a question, nobody is asked. Never rejects.
 */
export function createClientAsker({ log, peerOf, links }: ClientAskerParts): ClientAsker {
  const sessions = new WeakMap<object, string>();
  const sessionOf = (watch: object): string => {
    const known = sessions.get(watch) ?? randomUUID();
    sessions.set(watch, known);
    return known;
  };
  const ask: ClientAsker['ask'] = async (question, signal) => {
    const peer = onePeer(question, peerOf);
    if (peer?.ask === undefined) return unasked('no single client waits for the call');
    const { ask: askPeer } = peer;
    const { asked, author, key } = question;
    const offer = offerOf(asked, author, peer);
    if (typeof offer === 'string') return unasked(offer);
    try {
      const until = AbortSignal.any([signal, peer.signal]);
      links.asked(peer.watch, offer.params);
      const put = () => askPeer(QUESTION_METHODS[asked.kind], offer.params, until, key);
      const result = offer.read(await question.whileAsking(put));
      return result === undefined ? unasked('the answer of the client is not what was asked for') : { result };
    } catch (thrown) {
      log.info('client-question-not-answered', { [author.kind]: author.name, reason: String(thrown) });
      return { ended: 'the client did not answer' };
    }
  };
  return {
    ask,
    completed: links.completed,
    clientOf(tenantId, invocationId) {
      const peer = peerOf(tenantId, invocationId);
      if (peer?.ask === undefined || !canBeAsked(peer)) return undefined;
      const can = capabilitiesOf(peer);
      return peer.watch === undefined ? { can } : { session: sessionOf(peer.watch), can };
    },
  };
}

/** True when a client states that it answers any kind of question. */
export function canBeAsked({ can }: Pick<Peer, 'can'>): boolean {
  return QUESTION_KINDS.some((kind) => isObject(can?.[kind]));
}

/** The known capabilities of a client, without what it says of anything else. */
function capabilitiesOf({ can }: Pick<Peer, 'can'>): Params {
  const known: Params = { elicitation: ['form', 'url'], sampling: ['tools'], roots: [] };
  return Object.fromEntries(
    QUESTION_KINDS.flatMap((kind) => {
      const stated = can?.[kind];
      if (!isObject(stated)) return [];
      const parts = (known[kind] as readonly string[]).filter((part) => isObject(stated[part]));
      return [[kind, Object.fromEntries(parts.map((part) => [part, {}]))]];
    }),
  );
}

const unasked = (why: string): ClientAnswer => ({ unasked: why });

/** Several calls of one client count as one peer only when all share one session, or none has a session. */
function onePeer({ tenantId, invocationIds }: ClientQuestion, peerOf: ClientAskerParts['peerOf']): Peer | undefined {
  const [first, ...others] = invocationIds.map((id) => peerOf(tenantId, id));
  if (first === undefined) return undefined;
  return others.every((other) => other !== undefined && other.watch === first.watch) ? first : undefined;
}

/** The question for this client, or the reason why it cannot be asked. */
function offerOf(asked: Asked, author: QuestionAuthor, peer: Peer): Offer | string {
  if (asked.kind === 'sampling') return samplingOffer(asked, author, peer);
  if (asked.kind === 'roots')
    return isObject(peer.can?.['roots']) ? { params: {}, read: rootsIn } : 'the client offers no folders';
  if (!elicits(peer, asked.mode)) return `the client shows no question of the mode ${asked.mode}`;
  return asked.mode === 'form' ? formOffer(asked, author) : urlOffer(asked, author);
}

function samplingOffer({ request }: SamplingQuestion, { name }: QuestionAuthor, { can }: Peer): Offer | string {
  const stated = can?.['sampling'];
  if (!isObject(stated)) return 'the client makes no completions for servers';
  if (usesTools(request) && !isObject(stated['tools'])) return 'the client makes no completions with tools';
  // A prompt cannot be marked within its text without changing what the model answers.
  return {
    params: { ...request, _meta: { [META_AUTHOR]: visibleLine(name, NAME_CHARACTERS_MAX) } },
    read: completionIn,
  };
}

function formOffer({ message, requestedSchema }: FormQuestion, author: QuestionAuthor): Offer | string {
  if (asksForSecret(requestedSchema)) return 'its form asks for a secret; a server has a page of its own for that';
  const form = flatFormOf(requestedSchema);
  if (form === undefined) return 'its schema is no form';
  return {
    params: { message: markedMessage(message, author), requestedSchema: form.schema },
    read: (said) =>
      elicitationAnswer(said, (content) => (isObject(content) && form.fits(content) ? { content } : undefined)),
  };
}

function urlOffer({ message, url, elicitationId = randomUUID() }: UrlQuestion, author: QuestionAuthor): Offer {
  return {
    params: { message: markedMessage(message, author), mode: 'url', url, elicitationId },
    read: (said) => elicitationAnswer(said, () => ({})),
  };
}

/** A question of somebody else must begin by naming its author. */
function markedMessage(message: string, { kind, name }: QuestionAuthor): string {
  if (kind === 'layer') return visibleText(message, MESSAGE_CHARACTERS_MAX);
  const from = `The ${kind} ${visibleLine(name, NAME_CHARACTERS_MAX)} asks; never give it a password.`;
  return `${from}\n${visibleText(message, MESSAGE_CHARACTERS_MAX)}`;
}

/** @param accepted members of an accepted answer; undefined when its content does not fit */
function elicitationAnswer(said: unknown, accepted: (content: unknown) => Params | undefined): Params | undefined {
  const { action, content } = isObject(said) ? said : {};
  if (action === 'decline') return { action };
  if (action !== 'accept') return { action: 'cancel' };
  const more = accepted(content);
  return more === undefined ? undefined : { action, ...more };
}
