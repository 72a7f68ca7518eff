import { isDead } from '../../../linux/crash/layer-mark.ts';
import { collections, type SandboxClaim } from '../api/objects.ts';
import { KUBERNETES_SIZES } from '../settings.ts';
import { type ClaimParts, LABELS, ownLabels } from './claims.ts';

/**
 * Deletes claims left by layers of the same owner: those of a layer on this machine that is certainly dead, and those
 * whose lease is over although the cluster did not end them. Never those of a layer that may live (SBX-08).
 * @returns how many were deleted
 * @throws ApiFault
 */
export async function clearLeftClaims(parts: ClaimParts): Promise<number> {
  const { client, settings } = parts;
  const { claims } = collections(client.namespace);
  const query: Record<string, string> = {
    labelSelector: `${LABELS.owner}=${settings.owner}`,
    limit: String(KUBERNETES_SIZES.claimsPageMax),
  };
  let deleted = 0;
  for (;;) {
    const page = await client.send<ClaimList>({ method: 'GET', path: claims, query });
    for (const claim of page.items ?? []) {
      const name = claim.metadata?.name;
      if (name === undefined || !isLeft(claim, parts)) continue;
      await client.send({ method: 'DELETE', path: `${claims}/${name}` }).catch(() => {});
      deleted += 1;
    }
    const next = page.metadata?.continue;
    if (next === undefined || next === '') return deleted;
    query['continue'] = next;
  }
}

interface ClaimList {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly SandboxClaim[];
}

function isLeft({ metadata, spec }: SandboxClaim, { settings, bounds, clock }: ClaimParts): boolean {
  const labels = metadata?.labels ?? {};
  const own = ownLabels(settings.owner);
  const mark = labels[LABELS.layer];
  if (mark === own[LABELS.layer]) return false;
  if (mark !== undefined && labels[LABELS.machine] === own[LABELS.machine] && isDead(mark)) return true;
  const end = Date.parse(spec?.lifecycle?.shutdownTime ?? '');
  return end + bounds.clockSkewMs < clock.now();
}
