import { randomUUID } from 'node:crypto';
import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import { sha256 } from '@sallyport/std/sha256';
import { recordedChange } from '../../audit/recorded-change.ts';
import type { EventDraft } from '../../domain/event/event-draft.ts';
import type { StoredDelegation, StoredLink } from '../approval-store.port.ts';
import type { ApprovalState, Approver } from './approvals-state.ts';
import { approve, type Decided, deny } from './decide.ts';
import { mayApprove } from './eligible.ts';
import { ANSWER_PREFIX } from './notify.ts';
import { decidedAlready, digestOf } from './pending.ts';

/** Delegations of one approver in force at once. */
const DELEGATIONS_MAX = 20;

/** To whom an approver delegates the right to decide, and for how long. */
export interface NewDelegation {
  readonly approver: Approver;
  readonly to: string;
  readonly forMs: number;
  readonly reason?: string;
}

/** Lets another person decide in an approver's name, for a time. A delegated right cannot be delegated again. */
export async function delegate(
  state: ApprovalState,
  { approver, to, forMs, reason }: NewDelegation,
): Promise<StoredDelegation | Failure> {
  const { store, clock, limits } = state;
  const { tenantId, names, roles, id, claims } = approver;
  if (!mayApprove(roles)) return failure('E3213', 'To delegate takes the role approver or admin.');
  if (names.includes(to)) return failure('E3801', 'Nobody delegates to themselves. Name somebody else.');
  if (forMs > limits.delegationMsMax)
    return failure(
      'E3801',
      `A delegation ends after ${Math.floor(limits.delegationMsMax / 1000)} seconds at the latest.`,
    );
  const now = clock.now();
  const standing = await store.delegations(tenantId, now);
  if (standing.filter(({ from }) => from[0] === id).length >= DELEGATIONS_MAX)
    return failure('E3810', `${DELEGATIONS_MAX} delegations are the most. End some first.`);
  const made: StoredDelegation = {
    id: randomUUID(),
    tenantId,
    from: [id, ...names.filter((name) => name !== id)],
    roles: [...roles],
    ...(claims === undefined ? {} : { claims }),
    to,
    madeAt: now,
    until: now + forMs,
    ...(reason === undefined ? {} : { reason }),
  };
  await recordedChange(
    state.ledger,
    () => [eventOf(state, made, id, 'made')],
    (keep) => store.addDelegation(made, keep),
  );
  return made;
}

/** Ends a delegation: its maker and every admin may. */
export async function endDelegation(
  state: ApprovalState,
  { tenantId, id: by, roles }: Approver,
  id: string,
): Promise<StoredDelegation | Failure> {
  const standing = await state.store.delegations(tenantId, state.clock.now());
  const found = standing.find((each) => each.id === id && (each.from[0] === by || roles.includes('admin')));
  const end = () =>
    recordedChange(
      state.ledger,
      (ended: StoredDelegation) => [eventOf(state, ended, by, 'ended')],
      (keep) => state.store.endDelegation(tenantId, id, keep),
    );
  if (found === undefined || !(await end()))
    return failure('E3809', `There is no delegation ${id} that you may end. See "approvals delegations".`);
  return found;
}

function eventOf(
  { clock }: ApprovalState,
  { id, tenantId, from, to, until, reason }: StoredDelegation,
  by: string,
  what: 'made' | 'ended',
): EventDraft {
  return {
    id: `${id}:${what}`,
    type: 'ai.agent.approval.delegated',
    time: clock.now(),
    tenantId,
    data: {
      tenant_id: tenantId,
      delegation_id: id,
      by,
      from: from[0],
      to,
      until: new Date(until).toISOString(),
      what,
      ...(reason === undefined ? {} : { reason }),
    },
  };
}

/** A decision with the one-time token of a notice. */
export interface Answer {
  readonly token: string;
  readonly decision: 'approve' | 'deny';
  readonly digest?: string;
  readonly reason?: string;
}

const FORM = new RegExp(`^${ANSWER_PREFIX}[A-Za-z0-9_-]{43}$`);

/**
 * Decides by link: once, in the name of the address that the link was sent to. A refused decision does not use up the
 * link, and neither does one that was cut off before it was stored.
 */
export async function answer(state: ApprovalState, given: Answer): Promise<Decided | Failure> {
  const hash = sha256(given.token);
  const link = FORM.test(given.token) ? await state.store.link(hash) : undefined;
  if (link === undefined) return failure('E3809', 'This answer token is not known here, or was used long ago.');
  const { tenantId, approvalId, approver: id } = link;
  if (state.clock.now() >= link.expiresAt) return decidedAlready({ approvalId, outcome: 'expired' });
  if (!(await state.store.useLink(hash)) && !(await wasCutOff(state, link, given)))
    return failure('E3817', 'This answer token was used already. It works once.');
  const approver: Approver = { tenantId, id, names: [id], roles: [], via: 'link' };
  const { digest, reason } = given;
  const decision = {
    approvalId,
    approver,
    ...(digest === undefined ? {} : { digest }),
    ...(reason === undefined ? {} : { reason }),
  };
  const decided = given.decision === 'approve' ? await approve(state, decision) : await deny(state, decision);
  if (isFailure(decided)) await state.store.freeLink(hash);
  return decided;
}

/** True when the decision that used the link up is not stored: it may be made again, an approval after its vote too. */
async function wasCutOff(
  { store }: ApprovalState,
  { tenantId, approvalId, approver }: StoredLink,
  { decision, digest }: Answer,
): Promise<boolean> {
  if ((await store.closing(tenantId, approvalId)) !== undefined) return false;
  const vote = (await store.votes(tenantId, approvalId)).find((each) => each.approver === approver);
  if (vote === undefined) return true;
  const isSame = digest === undefined ? vote.parameters === undefined : digest === digestOf(vote.binding);
  return decision === 'approve' && isSame;
}
