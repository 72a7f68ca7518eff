import { join } from 'node:path';
import type { CapabilityClaims } from '../../../api/schemas/capability-token.ts';
import type { CheckpointSigner } from '../../audit/checkpoint.ts';
import { createTokenVerifier } from '../../identity/capability-token.ts';
import { createTokenMint, type TokenMint } from '../../identity/mint-token.ts';
import { loadSigningKeys, loadVerificationKeys } from '../../identity/signing-keys.ts';
import { createIdentify, type Identify } from '../../pipeline/stages/identify.ts';
import type { Clock } from '../../std/clock.ts';
import type { Settings } from '../settings.ts';
import { checkpointSigner } from './checkpoint-signer.ts';

/** Agent that tokens are made for when nobody says. */
const DEFAULT_AGENT = 'did:sallyport:agent';
/** Issuer of the layer's own tokens. */
const OWN_ISSUER = 'sallyport';

/** Who may ask, and the keys that say so. */
export interface IdentityParts {
  readonly identify: Identify;
  readonly mint: TokenMint;
  readonly signer: CheckpointSigner;
}

/** @throws E3900 naming the key file to mend */
export async function openIdentity(settings: Settings, clock: Clock): Promise<IdentityParts> {
  const own = await loadSigningKeys(join(settings['data_folder'], 'keys'));
  const foreign = settings['tokens.public_key_file'];
  const keys = [{ kid: own.kid, key: own.publicKey }, ...(foreign === '' ? [] : await loadVerificationKeys(foreign))];
  const verifier = createTokenVerifier({
    keys,
    issuers: [...new Set([OWN_ISSUER, ...settings['tokens.issuers']])],
    clockSkewSeconds: settings['tokens.clock_skew_seconds'],
    clock,
  });
  const tenantId = settings['tenant.default'];
  const mint = createTokenMint({ keys: own, issuer: OWN_ISSUER, tenantId, agentDid: DEFAULT_AGENT, clock });
  const development = settings['tokens.mode'] === 'development' ? developmentClaims(tenantId) : undefined;
  return {
    identify: createIdentify(
      (token) => verifier.verify(token),
      development === undefined ? undefined : () => development,
    ),
    mint,
    signer: checkpointSigner(own),
  };
}

/** What a caller without a token may do in development mode: everything, in the default tenant. */
function developmentClaims(tenantId: string): CapabilityClaims {
  return {
    tool_id: '*',
    agent_did: DEFAULT_AGENT,
    tenant_id: tenantId,
    allowed_operations: ['*'],
    filesystem_permissions: { allowed_paths: ['/'], mode: 'rw' },
    network_permissions: { allowed_hosts: ['*'], allowed_ports: [0] },
    roles: ['agent', 'operator'],
    exp: Number.MAX_SAFE_INTEGER,
    iat: 0,
    iss: OWN_ISSUER,
  };
}
