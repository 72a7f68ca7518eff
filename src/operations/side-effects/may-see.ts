import type { Role } from '../../../api/schemas/capability-token.ts';
import { type Failure, failure } from '../../domain/error/failure.ts';
import type { InvocationRecord } from '../../domain/invocation/record.ts';
import type { SideEffect, SideEffects } from '../../orchestration/side-effects.ts';
import { ROLES_FOR } from '../catalogue/entry.ts';
import type { Asker } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** Who asks about what others did: `viewer` to read it, `operator` to take it back. */
export type Reach = 'viewer' | 'operator';

/** Whether somebody reaches beyond what his own agent did. */
export function reachesAll({ principal }: Asker, reach: Reach): boolean {
  const wanted: readonly Role[] = ROLES_FOR[reach];
  return principal.roles.some((role) => wanted.includes(role));
}

/** The side effect, or the same answer for what is not there and what is not the asker's. */
export async function findOwn(
  sideEffects: SideEffects,
  invocationId: string,
  asker: Asker,
  reach: Reach,
): Promise<SideEffect | Failure> {
  const effect = await sideEffects.find(asker.principal.tenantId, invocationId);
  if (effect === undefined || !isOf(effect.record, asker, reach)) return noSuch(invocationId);
  return effect;
}

const isOf = ({ agentDid }: InvocationRecord, asker: Asker, reach: Reach): boolean =>
  agentDid === asker.principal.agentDid || reachesAll(asker, reach);

const noSuch = (invocationId: string): Failure =>
  failure('E3809', `There is no side effect of a call ${invocationId} that you may see.`);

/** The part, or that this layer has none. */
export const partOf = ({ sideEffects }: Pick<OperationParts, 'sideEffects'>): SideEffects | Failure =>
  sideEffects ?? failure('E3901', 'This layer keeps no side effects.');
