import { randomUUID } from 'node:crypto';
import { KiB } from '../../../std/bytes.ts';
import { visibleLine, visibleText } from '../../../std/text/visible-text.ts';
import type { Log } from '../../../telemetry/log.ts';
import { isObject, type Params } from '../../json-rpc.ts';
import type { Peer } from '../../mcp-server.ts';
import { elicits } from '../confirmation/elicit-form.ts';
import { asksForSecret } from './asks-for-secret.ts';
import { type FlatForm, flatFormOf } from './flat-form.ts';

const NAME_CHARACTERS_MAX = 100;
const MESSAGE_CHARACTERS_MAX = 4 * KiB;

/** What an upstream asks a person in the middle of a call, in the shape of the elicitation port. All of it is foreign. */
export interface UpstreamQuestion {
  readonly tenantId: string;
  readonly upstream: string;
  /** The calls for one of which it asks. */
  readonly invocationIds: readonly string[];
  readonly mode: 'form' | 'url';
  readonly message: string;
  readonly requestedSchema?: Params;
  readonly url?: string;
}

/** What the person says; `content` fits the schema. */
export type UpstreamAnswer =
  | { readonly action: 'accept'; readonly content?: Params }
  | { readonly action: 'decline' | 'cancel' };

/** Puts questions of upstreams to the user at the client whose call they belong to. Never rejects. */
export type AskForUpstream = (question: UpstreamQuestion, signal: AbortSignal) => Promise<UpstreamAnswer>;

/** Who waits for which call. */
export interface UpstreamQuestionParts {
  readonly log: Log;
  /** The client whose request a call runs for; undefined when it came another way. */
  readonly peerOf: (tenantId: string, invocationId: string) => Peer | undefined;
}

const DECLINE: UpstreamAnswer = { action: 'decline' };

/**
 * A question is put to one client: that of the call that it belongs to. Where it could belong to calls of several clients, of
 * none, or of one that cannot put such a question to its user, it is declined.
 */
export function askForUpstreams({ log, peerOf }: UpstreamQuestionParts): AskForUpstream {
  const decline = ({ upstream, invocationIds }: UpstreamQuestion, why: string): UpstreamAnswer => {
    log.info('upstream-question-declined', { upstream, why, invocations: invocationIds.slice(0, 8) });
    return DECLINE;
  };
  return async (question, signal) => {
    const peer = onePeer(question, peerOf);
    if (peer?.ask === undefined) return decline(question, 'no single client waits for the call');
    if (!elicits(peer, question.mode))
      return decline(question, `the client shows no question of the mode ${question.mode}`);
    if (question.mode === 'form' && asksForSecret(question.requestedSchema))
      return decline(question, 'its form asks for a secret; a server has a page of its own for that');
    const form = question.mode === 'form' ? flatFormOf(question.requestedSchema) : undefined;
    if (question.mode === 'form' && form === undefined) return decline(question, 'its schema is no form');
    try {
      const said = await peer.ask(
        'elicitation/create',
        paramsOf(question, form),
        AbortSignal.any([signal, peer.signal]),
      );
      const answer = answerIn(said, form);
      return answer ?? decline(question, 'the answer is not what was asked for');
    } catch (thrown) {
      log.info('upstream-question-not-answered', { upstream: question.upstream, reason: String(thrown) });
      return { action: 'cancel' };
    }
  };
}

/** Of several calls that it may belong to, all have to be of one session. */
function onePeer(
  { tenantId, invocationIds }: UpstreamQuestion,
  peerOf: UpstreamQuestionParts['peerOf'],
): Peer | undefined {
  const [first, ...others] = invocationIds.map((id) => peerOf(tenantId, id));
  if (first === undefined) return undefined;
  return others.every((other) => other !== undefined && first.watch !== undefined && other.watch === first.watch)
    ? first
    : undefined;
}

function paramsOf({ upstream, message, url }: UpstreamQuestion, form: FlatForm | undefined): Params {
  // Whose words these are has to stand before them.
  const from = `The server ${visibleLine(upstream, NAME_CHARACTERS_MAX)} asks; never give it a password.`;
  const asked = { message: `${from}\n${visibleText(message, MESSAGE_CHARACTERS_MAX)}` };
  if (form !== undefined) return { ...asked, requestedSchema: form.schema };
  return { ...asked, mode: 'url', url, elicitationId: randomUUID() };
}

/** Undefined for an answer that does not fit. */
function answerIn(said: unknown, form: FlatForm | undefined): UpstreamAnswer | undefined {
  const { action, content } = isObject(said) ? said : {};
  if (action === 'decline') return DECLINE;
  if (action !== 'accept') return { action: 'cancel' };
  if (form === undefined) return { action };
  return isObject(content) && form.fits(content) ? { action, content } : undefined;
}
