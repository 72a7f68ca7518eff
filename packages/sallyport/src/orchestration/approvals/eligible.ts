import { type Failure, failure } from '@sallyport/std/error/failure';
import type { CapabilityClaims, RootHolder } from '../../../api/schemas/capability-token.ts';
import { isOwner } from '../../domain/invocation/call-owner.ts';
import type { ApprovalBinding, ConfirmationReason } from '../../domain/invocation/waiting-call.ts';
import { isSamePerson, rootHolderOf } from '../../domain/principal/root-holder.ts';
import type { ApprovalQuestion } from '../../pipeline/approval-questions.port.ts';
import type { StoredDelegation } from '../approval-store.port.ts';
import { ANY_ADMIN, ANY_APPROVER, type ApprovalTerms, levelOf } from '../approval-terms.ts';
import type { ApprovalState, Approver } from './approvals-state.ts';
import type { Pending } from './pending.ts';

/** Reasons that only an approver decides on, whatever the settings are. */
const APPROVALS: ReadonlySet<ConfirmationReason> = new Set(['requires_approval', 'require_approval']);

/** The right by which a person decides. */
export interface Right {
  /** The approver's own name, or that of the person who delegated the right. */
  readonly inNameOf: string;
  /** The person who delegated it; absent for the approver's own right. */
  readonly lender?: RootHolder;
}

/** The person who decides, votes or delegates; without a credential a person is known by name alone. */
export function personOf({ tenantId, id, claims }: Pick<Approver, 'tenantId' | 'id' | 'claims'>): RootHolder {
  return claims === undefined ? { tenant_id: tenantId, agent_did: id } : rootHolderOf(claims);
}

/**
 * Checks whether a person may decide on an approval now.
 * @returns the right used; E3213 with what is missing
 */
export async function rightToDecide(
  state: ApprovalState,
  pending: Pending,
  approver: Approver,
): Promise<Right | Failure> {
  const { terms, request, waiting } = pending;
  const { binding, requestedAt } = request;
  if (approver.via === 'client') return confirmedAtClient(state, pending, approver);
  const asker = askerOf(binding, waiting.claims);
  if (terms.fourEyes && asker.is(approver.names, personOf(approver)))
    return refused(
      'The person who asked for a call cannot decide on it. Let somebody else answer (approvals.four_eyes).',
    );
  if (approver.via !== 'link' && !mayApprove(approver.roles))
    return refused('To decide takes the role approver or admin.');
  const { eligible } = levelOf(terms, pending.level);
  if (isListed(eligible, approver)) return { inNameOf: approver.id };
  const delegations = await state.store.delegations(binding.tenantId, state.clock.now());
  const usable = delegations.find((each) =>
    counts(state, each, terms.fourEyes ? asker : undefined, approver, eligible),
  );
  if (usable !== undefined) return { inNameOf: usable.from[0], lender: lenderOf(usable) };
  const waits = terms.levels.find(({ eligible: later }) => isListed(later, approver));
  const when =
    waits === undefined ? '' : ` You are asked from ${new Date(requestedAt + waits.afterMs).toISOString()} on.`;
  return refused(`You are not among those who are asked for this call: ${eligible.join(', ')}.${when}`);
}

/** Why nobody could answer a question under its terms; undefined when somebody could. */
export function nobodyCouldAnswer(
  { fourEyes, levels, quorum }: ApprovalTerms,
  { binding, claims }: Pick<ApprovalQuestion, 'binding' | 'claims'>,
): boolean {
  const possible = new Set(levels.flatMap(({ eligible }) => eligible));
  if ([...possible].some((approver) => approver.startsWith('role:'))) return false;
  const asker = askerOf(binding, claims);
  const others = [...possible].filter((approver) => !fourEyes || !asker.isNamed(approver));
  return others.length < quorum;
}

/** True when the roles include approver or admin. */
export const mayApprove = (roles: Approver['roles']): boolean => roles.includes('approver') || roles.includes('admin');

/**
 * True when the user at the agent's own client may confirm the call. A client that speaks for no user answers for the
 * agent itself, and no agent confirms its own calls. A confirmation never replaces an approver, or one of several.
 */
export function isForClient(
  { clientReasons }: Pick<ApprovalState, 'clientReasons'>,
  { terms, request: { binding, reason } }: Pending,
): boolean {
  if (binding.userDid === undefined || terms.quorum > 1 || !terms.atClient) return false;
  return clientReasons.includes(reason) && !APPROVALS.has(reason);
}

function confirmedAtClient(state: ApprovalState, pending: Pending, approver: Approver): Right | Failure {
  if (!isForClient(state, pending))
    return refused('This call needs an approver: nobody at the client of its agent can confirm it.');
  const { tenantId, agentDid, userDid } = approver;
  if (agentDid === undefined || !isOwner({ tenantId, agentDid, userDid }, pending.request.binding))
    return refused('Only the user in whose name the agent asked may confirm its call.');
  return { inNameOf: approver.id };
}

/** The requester of a call: its agent, its user, and the person who holds the root of its credential. */
interface CallAsker {
  isNamed(name: string): boolean;
  is(names: readonly string[], person: RootHolder): boolean;
}

function askerOf({ agentDid, userDid }: ApprovalBinding, claims: CapabilityClaims): CallAsker {
  const root = rootHolderOf(claims);
  const own = [agentDid, userDid];
  return {
    isNamed: (name) => own.includes(name) || (root.user_did ?? root.agent_did) === name,
    is: (names, person) => names.some((name) => own.includes(name)) || isSamePerson(root, person),
  };
}

const lenderOf = ({ tenantId, from, claims }: StoredDelegation): RootHolder =>
  personOf({ tenantId, id: from[0], ...(claims === undefined ? {} : { claims }) });

function isListed(eligible: readonly string[], { names, roles, via }: Approver): boolean {
  if (eligible.some((each) => names.includes(each) && !each.startsWith('role:'))) return true;
  // A link stands for the address that it was sent to, and has no role.
  return via !== 'link' && byRole(eligible, roles);
}

const byRole = (eligible: readonly string[], roles: Approver['roles']): boolean =>
  (eligible.includes(ANY_APPROVER) && mayApprove(roles)) || (eligible.includes(ANY_ADMIN) && roles.includes('admin'));

/**
 * A right is delegated once, not passed on: what counts is what the lender may do without any delegation.
 * @param asker may not lend the right under four eyes
 */
function counts(
  { stillGood }: ApprovalState,
  delegation: StoredDelegation,
  asker: CallAsker | undefined,
  approver: Approver,
  eligible: readonly string[],
): boolean {
  const { from, to, roles, claims } = delegation;
  if (!approver.names.includes(to)) return false;
  if (claims !== undefined && !stillGood(claims)) return false;
  if (asker?.is(from, lenderOf(delegation)) === true) return false;
  return eligible.some((each) => from.includes(each)) || byRole(eligible, roles);
}

const refused = (message: string): Failure => failure('E3213', message, { details: { roles: ['approver', 'admin'] } });
