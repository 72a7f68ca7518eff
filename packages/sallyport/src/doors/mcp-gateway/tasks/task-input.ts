import { failureOf } from '@sallyport/std/error/tool-layer-error';
import type { ToolStatusResponse } from '../../../../api/schemas/invocation.ts';
import type { CallQuestion, CallQuestionsByKey } from '../../../domain/invocation/tasks/call-question.ts';
import { usesTools } from '../../../domain/questions/client-question.ts';
import { isObject } from '../../../domain/shape/is-object.ts';
import type { Params } from '../../json-rpc.ts';
import type { Peer } from '../../mcp-server.ts';
import type { Confirmer, ShownQuestion } from '../client-confirmations.port.ts';
import { confirmerOf } from '../confirmation/decide.ts';
import { answerOf, elicits, formFor } from '../confirmation/elicit-form.ts';
import type { TaskParts } from './task-parts.ts';

/** The client that asks for a task, as far as questions concern it. */
export type AskingPeer = Pick<Peer, 'caller' | 'can'>;

/** A confirmation that the user at the client may give, under the key of its question. */
interface Confirmation {
  readonly key: string;
  readonly by: Confirmer;
  readonly approvalId: string;
  readonly shown: ShownQuestion;
}

const NONE: CallQuestionsByKey = {};

/** Questions that the task's client has to answer before the task can proceed, as far as it can show them. */
export async function inputOf(
  parts: TaskParts,
  found: ToolStatusResponse,
  peer: AskingPeer,
): Promise<CallQuestionsByKey> {
  if (found.status === 'pending_approval') {
    const waited = await confirmationOf(parts, found, peer);
    if (waited === undefined) return NONE;
    const { key, shown, by } = waited;
    return { [key]: { method: 'elicitation/create', params: formFor(shown, by) } };
  }
  if (found.status !== 'running') return NONE;
  const open = await parts.questions.open(await callOf(parts, found, peer));
  return Object.fromEntries(Object.entries(open).filter(([, question]) => canShow(peer, question)));
}

/**
 * Takes the client's answers, by the keys of the questions that it was asked. An answer under another key, or one that is
 * no object, changes nothing.
 */
export async function takeInput(
  parts: TaskParts,
  found: ToolStatusResponse,
  peer: AskingPeer,
  given: Params,
): Promise<void> {
  const answers = Object.fromEntries(Object.entries(given).filter(([, said]) => isObject(said)));
  if (found.status === 'running') await parts.questions.answer(await callOf(parts, found, peer), answers);
  if (found.status !== 'pending_approval') return;
  const waited = await confirmationOf(parts, found, peer);
  const said = waited === undefined ? 'none' : answerOf(answers[waited.key]);
  if (waited === undefined || said === 'none') return;
  const { by, approvalId, shown } = waited;
  const { tenantId } = by;
  const { bindingDigest } = shown;
  try {
    await parts.confirmations?.confirm({ tenantId, approvalId, by, bindingDigest, accepted: said === 'yes' });
  } catch (thrown) {
    // Decided elsewhere, or expired: the state of the task says what became of it.
    parts.log.info('confirmation-not-taken', { approval_id: approvalId, code: failureOf(thrown).code });
  }
}

/** The key names the question and what is shown with it: an answer counts for no other. */
async function confirmationOf(
  { layer, confirmations, settings, clock }: TaskParts,
  { approval }: ToolStatusResponse,
  peer: AskingPeer,
): Promise<Confirmation | undefined> {
  if (confirmations === undefined || settings.elicitation === 'off' || approval === undefined) return undefined;
  if (!elicits(peer, 'form')) return undefined;
  const by = await confirmerOf(layer, peer);
  const approvalId = approval.approval_id;
  const shown = await confirmations.shown(by, approvalId);
  if (shown === undefined || shown.expiresAt <= clock.now()) return undefined;
  return { key: `${approvalId}.${shown.bindingDigest}`, by, approvalId, shown };
}

async function callOf({ layer }: TaskParts, { invocation_id }: ToolStatusResponse, peer: AskingPeer) {
  const { tenantId } = await confirmerOf(layer, peer);
  return { tenantId, invocationId: invocation_id };
}

/** Capability that a client needs for a question, by the question's method. */
const CAPABILITIES: Readonly<Record<string, string>> = { 'sampling/createMessage': 'sampling', 'roots/list': 'roots' };

function canShow(peer: AskingPeer, { method, params }: CallQuestion): boolean {
  if (method === 'elicitation/create') return elicits(peer, params['mode'] === 'url' ? 'url' : 'form');
  const capability = CAPABILITIES[method];
  const stated = capability === undefined ? undefined : peer.can?.[capability];
  if (!isObject(stated)) return false;
  return method !== 'sampling/createMessage' || !usesTools(params) || isObject(stated['tools']);
}

/** The part of a client's capabilities that says which questions it can show. */
export function questionsOf(can: Params | undefined): Params | undefined {
  const known = ['elicitation', 'sampling', 'roots'].filter((name) => typeof can?.[name] === 'object');
  if (known.length === 0) return undefined;
  return Object.fromEntries(known.map((name) => [name, modesOf(can?.[name])]));
}

/** The names of a capability's parts; what a client writes besides is not kept. */
function modesOf(capability: unknown): Params {
  const stated = typeof capability === 'object' && capability !== null ? capability : {};
  return Object.fromEntries(
    ['form', 'url', 'tools', 'context'].filter((mode) => mode in stated).map((mode) => [mode, {}]),
  );
}
