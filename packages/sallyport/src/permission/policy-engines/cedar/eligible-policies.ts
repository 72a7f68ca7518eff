import type {
  ActionConstraint,
  EntityUidJson,
  PolicyJson,
  PrincipalConstraint,
  ResourceConstraint,
} from '@cedar-policy/cedar-wasm/web';
import type { PolicyQuestion } from '../../policy-engine.port.ts';
import { type EntityName, principalParents, resourceParents } from './cedar-request.ts';

/** Indexes of the policies whose heads match a question, ascending. A policy with another head never matters. */
export type EligiblePolicies = (question: PolicyQuestion) => readonly number[];

/** The entity in a head; undefined when the head matches any. */
type Head = string | undefined;

/** Indexes policies by their heads, so that those of other agents and tools cost nothing. */
export function eligiblePolicies(policies: readonly PolicyJson[]): EligiblePolicies {
  const byPrincipal = new Map<Head, { readonly place: number; readonly resource: Head }[]>();
  for (const [place, policy] of policies.entries()) {
    if (!fitsAction(policy.action)) continue;
    const principal = headOf(policy.principal, 'Agent');
    const resource = headOf(policy.resource, 'Tool');
    if (principal === NEVER || resource === NEVER) continue;
    const known = byPrincipal.get(principal);
    if (known === undefined) byPrincipal.set(principal, [{ place, resource }]);
    else known.push({ place, resource });
  }
  return (question) => {
    const { principal, toolId } = question;
    const who: Head[] = [undefined, keyOf('Agent', principal.agentDid), ...principalParents(question).map(nameKey)];
    const what = new Set<Head>([undefined, keyOf('Tool', toolId), ...resourceParents(question).map(nameKey)]);
    const found: number[] = [];
    for (const head of who) {
      for (const { place, resource } of byPrincipal.get(head) ?? []) if (what.has(resource)) found.push(place);
    }
    return found.sort((a, b) => a - b);
  };
}

/** A head that matches no agent, or no tool. */
const NEVER = 'never';

const keyOf = (type: string, id: string): string => `${type}::${id}`;
const nameKey = ([type, id]: EntityName): string => keyOf(type, id);
const uidKey = (uid: EntityUidJson): string => {
  const { type, id } = '__entity' in uid ? uid.__entity : uid;
  return keyOf(type, id);
};

function headOf(constraint: PrincipalConstraint | ResourceConstraint, own: string): Head {
  if (constraint.op === 'All') return undefined;
  if (constraint.op === 'is') {
    if (constraint.entity_type !== own) return NEVER;
    return constraint.in !== undefined && 'entity' in constraint.in ? uidKey(constraint.in.entity) : undefined;
  }
  return 'entity' in constraint ? uidKey(constraint.entity) : undefined;
}

function fitsAction(constraint: ActionConstraint): boolean {
  if (constraint.op === 'All') return true;
  if (constraint.op === '==') return !('entity' in constraint) || isInvoke(constraint.entity);
  return 'entity' in constraint ? isInvoke(constraint.entity) : constraint.entities.some(isInvoke);
}

const isInvoke = (uid: EntityUidJson): boolean => uidKey(uid) === 'Action::invoke';
