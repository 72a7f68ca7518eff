import { NoInput } from '../../../api/schemas/identifiers.ts';
import {
  type ForeignKey,
  JsonWebKeySet,
  KeyListResponse,
  KeyRotateRequest,
  KeyRotateResponse,
} from '../../../api/schemas/identity/key.ts';
import type { VerificationKey } from '../../identity/key-source.ts';
import { operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { type IdentityChange, identityEvent } from './identity-event.ts';
import { mayChangeLayer } from './may-grant.ts';

/** The keys that verify tokens; all public. */
export const listKeys = operation({
  name: 'keys.list',
  summary: "List the layer's own keys, and those of others whose tokens are accepted",
  method: 'GET',
  path: '/v1/keys',
  status: 200,
  access: 'viewer',
  input: NoInput,
  output: KeyListResponse,
  run:
    ({ keyRing, foreignKeys }: Pick<OperationParts, 'keyRing' | 'foreignKeys'>) =>
    () => {
      const foreign = foreignKeys.keys();
      const issuers = new Set<string | undefined>([undefined, ...foreign.flatMap((key) => key.issuers ?? [])]);
      const problems = new Set([...issuers].map((issuer) => foreignKeys.problem(issuer)));
      return {
        own: [...keyRing.list()],
        foreign: foreign.map(foreignOf),
        problems: [...problems].filter((problem) => problem !== undefined),
      };
    },
});

/**
 * Puts a new key pair in force. Its file is in no transaction with an event, so the audit says before that it is begun:
 * a layer that ends in between leaves that event alone.
 */
export const rotateKeys = operation({
  name: 'keys.rotate',
  summary: 'Sign with a new key; tokens of the old one are accepted for a while (PRM-02)',
  method: 'POST',
  path: '/v1/keys/rotation',
  status: 201,
  access: 'admin',
  layerWide: true,
  input: KeyRotateRequest,
  output: KeyRotateResponse,
  run:
    (parts: Pick<OperationParts, 'keyRing' | 'keyOverlapMs' | 'ledger' | 'clock'>) =>
    async ({ overlap_seconds: overlap }, asker) => {
      const refused = mayChangeLayer(asker);
      if (refused !== undefined) return refused;
      const overlapMs = overlap === undefined ? parts.keyOverlapMs : overlap * 1000;
      const record = (change: IdentityChange, said: { readonly subject: string } & Record<string, unknown>) =>
        parts.ledger.commit({
          events: [identityEvent(parts, asker, asker.principal.tenantId, change, said)],
          durability: 'synchronous',
        });
      const { kid: replaced } = parts.keyRing.current();
      await record('key-rotation-begun', { subject: replaced });
      const { kid } = await parts.keyRing.rotate(overlapMs);
      const until = new Date(parts.clock.now() + overlapMs).toISOString();
      const rotated = { kid, replaced_kid: replaced, accepted_until: until };
      await record('key-rotated', { subject: kid, ...rotated });
      return rotated;
    },
});

/** The public keys that others need to verify the layer's tokens. */
export const publishKeys = operation({
  name: 'keys.published',
  summary: "The layer's public keys, for others who verify its tokens (RFC 7517)",
  method: 'GET',
  path: '/.well-known/jwks.json',
  status: 200,
  access: 'open',
  input: NoInput,
  output: JsonWebKeySet,
  run:
    ({ keyRing }: Pick<OperationParts, 'keyRing'>) =>
    () =>
      keyRing.published(),
});

function foreignOf({ kid, issuers = [], algorithm, goodUntil }: VerificationKey): ForeignKey {
  const until = goodUntil?.() ?? Number.POSITIVE_INFINITY;
  return {
    kid,
    issuers: [...issuers],
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(Number.isFinite(until) ? { accepted_until: new Date(until).toISOString() } : {}),
  };
}
