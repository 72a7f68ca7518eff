import type { ForeignKey } from '../../../api/schemas/identity/key.ts';
import type { VerificationKey } from '../../identity/key-source.ts';
import type { Run } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { recordIdentity } from './identity-event.ts';
import { mayChangeLayer } from './may-grant.ts';

/** By which keys tokens are judged. All of them are public. */
export function listKeys({ keyRing, foreignKeys }: Pick<OperationParts, 'keyRing' | 'foreignKeys'>): Run<'keys.list'> {
  return () => {
    const foreign = foreignKeys.keys();
    const issuers = new Set<string | undefined>([undefined, ...foreign.flatMap((key) => key.issuers ?? [])]);
    const problems = new Set([...issuers].map((issuer) => foreignKeys.problem(issuer)));
    return {
      own: [...keyRing.list()],
      foreign: foreign.map(foreignOf),
      problems: [...problems].filter((problem) => problem !== undefined),
    };
  };
}

/** Puts a new pair in force. */
export function rotateKeys(
  parts: Pick<OperationParts, 'keyRing' | 'keyOverlapMs' | 'ledger' | 'clock'>,
): Run<'keys.rotate'> {
  return async ({ overlap_seconds: overlap }, asker) => {
    const refused = mayChangeLayer(asker);
    if (refused !== undefined) return refused;
    const overlapMs = overlap === undefined ? parts.keyOverlapMs : overlap * 1000;
    const { kid: replaced } = parts.keyRing.current();
    const { kid } = await parts.keyRing.rotate(overlapMs);
    const until = new Date(parts.clock.now() + overlapMs).toISOString();
    const rotated = { kid, replaced_kid: replaced, accepted_until: until };
    await recordIdentity(parts, asker, asker.principal.tenantId, 'key-rotated', { subject: kid, ...rotated });
    return rotated;
  };
}

/** What others need to verify the layer's tokens. */
export function publishKeys({ keyRing }: Pick<OperationParts, 'keyRing'>): Run<'keys.published'> {
  return () => keyRing.published();
}

function foreignOf({ kid, issuers = [], algorithm, goodUntil }: VerificationKey): ForeignKey {
  const until = goodUntil?.() ?? Number.POSITIVE_INFINITY;
  return {
    kid,
    issuers: [...issuers],
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(Number.isFinite(until) ? { accepted_until: new Date(until).toISOString() } : {}),
  };
}
