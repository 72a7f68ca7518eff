import type { IDENTITY } from '../catalogue/identity.ts';
import type { OperationsOf } from '../catalogue/run.ts';
import type { OperationParts } from '../parts.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { explainCredential } from './explain-token.ts';
import { inspectToken } from './inspect-token.ts';
import { listKeys, publishKeys, rotateKeys } from './keys.ts';
import { mintToken } from './mint-token.ts';
import { liftRevocation, listRevocations, revokeToken } from './revoke-token.ts';

/** Everything about who may ask. */
export const identityOperations = (parts: OperationParts): OperationsOf<typeof IDENTITY> => ({
  'token.mint': mintToken(parts),
  'token.inspect': inspectToken(),
  'token.explain': explainCredential(parts),
  'token.revoke': revokeToken(parts),
  'revocations.list': listRevocations(parts),
  'revocations.lift': liftRevocation(parts),
  'keys.list': listKeys(parts),
  'keys.rotate': rotateKeys(parts),
  'keys.published': publishKeys(parts),
  'api_keys.create': createApiKey(parts),
  'api_keys.list': listApiKeys(parts),
  'api_keys.revoke': revokeApiKey(parts),
});
