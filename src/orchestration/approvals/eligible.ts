import { type Failure, failure } from '../../domain/error/failure.ts';
import { isOwner } from '../../domain/invocation/call-owner.ts';
import type { ApprovalBinding, ConfirmationReason } from '../../domain/invocation/waiting-call.ts';
import type { StoredDelegation } from '../approval-store.port.ts';
import { ANY_ADMIN, ANY_APPROVER, type ApprovalTerms, levelOf } from '../approval-terms.ts';
import type { Approver, DeskState } from './desk-state.ts';
import type { Pending } from './pending.ts';

/** An approver decides on these; the user who sits with the agent may confirm the others. */
const APPROVALS: ReadonlySet<ConfirmationReason> = new Set(['requires_approval', 'require_approval']);

/**
 * Whether somebody may decide on an approval now.
 * @returns in whose name: the approver's own, or of who delegated the right; E3213 with what is missing
 */
export async function rightToDecide(
  state: DeskState,
  pending: Pending,
  approver: Approver,
): Promise<{ readonly inNameOf: string } | Failure> {
  const { terms, request } = pending;
  const { binding, requestedAt } = request;
  if (approver.via === 'client') return confirmedAtClient(pending, approver);
  if (terms.fourEyes && isAsker(binding, approver.names))
    return refused('Whoever asked for a call cannot decide on it. Let somebody else answer (approvals.four_eyes).');
  if (approver.via !== 'link' && !mayApprove(approver.roles))
    return refused('To decide takes the role approver or admin.');
  const { eligible } = levelOf(terms, pending.level);
  if (isListed(eligible, approver)) return { inNameOf: approver.id };
  const delegations = await state.store.delegations(binding.tenantId, state.clock.now());
  const usable = delegations.find((each) => counts(state, each, terms, binding, approver, eligible));
  if (usable !== undefined) return { inNameOf: usable.from[0] };
  const waits = terms.levels.find(({ eligible: later }) => isListed(later, approver));
  const when =
    waits === undefined ? '' : ` You are asked from ${new Date(requestedAt + waits.afterMs).toISOString()} on.`;
  return refused(`You are not among those who are asked for this call: ${eligible.join(', ')}.${when}`);
}

/** What the terms of a question say of nobody at all being able to answer it. */
export function nobodyCouldAnswer({ fourEyes, levels, quorum }: ApprovalTerms, binding: ApprovalBinding): boolean {
  const possible = new Set(levels.flatMap(({ eligible }) => eligible));
  if ([...possible].some((approver) => approver.startsWith('role:'))) return false;
  const others = [...possible].filter((approver) => !fourEyes || !isAsker(binding, [approver]));
  return others.length < quorum;
}

/** Whether the roles are those of an approver. */
export const mayApprove = (roles: Approver['roles']): boolean => roles.includes('approver') || roles.includes('admin');

/** A yes of the user with the agent confirms a call; it never replaces an approver, nor one of several. */
function confirmedAtClient({ terms, request }: Pending, approver: Approver): { inNameOf: string } | Failure {
  const { binding, reason } = request;
  if (APPROVALS.has(reason) || terms.quorum > 1 || !terms.atClient)
    return refused('This call needs an approver: the user at the client cannot confirm it.');
  const { tenantId, agentDid, userDid } = approver;
  if (agentDid === undefined || !isOwner({ tenantId, agentDid, userDid }, binding))
    return refused('Only the user in whose name the agent asked may confirm its call.');
  return { inNameOf: approver.id };
}

const isAsker = ({ agentDid, userDid }: ApprovalBinding, names: readonly string[]): boolean =>
  names.includes(agentDid) || (userDid !== undefined && names.includes(userDid));

function isListed(eligible: readonly string[], { names, roles, via }: Approver): boolean {
  if (eligible.some((each) => names.includes(each) && !each.startsWith('role:'))) return true;
  // A link stands for the address that it was sent to, and has no role.
  return via !== 'link' && byRole(eligible, roles);
}

const byRole = (eligible: readonly string[], roles: Approver['roles']): boolean =>
  (eligible.includes(ANY_APPROVER) && mayApprove(roles)) || (eligible.includes(ANY_ADMIN) && roles.includes('admin'));

/** Rights are lent once, not passed on: what counts is what the lender may do without any delegation. */
function counts(
  { stillGood, clock }: DeskState,
  { from, to, until, roles, claims }: StoredDelegation,
  { fourEyes }: ApprovalTerms,
  binding: ApprovalBinding,
  approver: Approver,
  eligible: readonly string[],
): boolean {
  if (!approver.names.includes(to) || until <= clock.now()) return false;
  if (claims !== undefined && !stillGood(claims)) return false;
  if (fourEyes && isAsker(binding, from)) return false;
  return eligible.some((each) => from.includes(each)) || byRole(eligible, roles);
}

const refused = (message: string): Failure => failure('E3213', message, { details: { roles: ['approver', 'admin'] } });
