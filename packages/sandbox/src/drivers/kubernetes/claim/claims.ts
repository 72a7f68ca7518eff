import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock } from '@sallyport/std/clock';
import { sha256 } from '@sallyport/std/sha256';
import { ownMark } from '../../../linux/crash/layer-mark.ts';
import type { ApiClient } from '../api/api-client.ts';
import { isStatus } from '../api/api-fault.ts';
import { collections, type SandboxClaim } from '../api/objects.ts';
import type { KubernetesBounds, KubernetesSettings } from '../settings.ts';

/** Labels of our claims: which layers share them, and which one made this one. */
export const LABELS = { owner: 'sallyport/owner', machine: 'sallyport/machine', layer: 'sallyport/layer' } as const;
/** Says what a claim is for. Annotations may hold any text. */
const TOOL_ANNOTATION = 'sallyport/tool';
const TOOL_TEXT_MAX = 200;
const MACHINE_DIGITS = 16;

/** A claim. Its maker deletes it; otherwise it ends with its lease. */
export interface Claim {
  readonly object: SandboxClaim;
  readonly name: string;
  /** Until it is deleted the lease is renewed. Never rejects: if deletion fails, it ends with its lease. */
  delete(): Promise<void>;
}

/** Dependencies of claims. */
export interface ClaimParts {
  readonly client: ApiClient;
  readonly settings: KubernetesSettings;
  readonly bounds: KubernetesBounds;
  readonly clock: Clock;
}

/**
 * Claims a sandbox. We choose the name, so that a request whose answer was lost can be repeated: 409 then means that
 * the claim exists. No variables are put on the claim, which would force a cold start; `shutdownTime` is the lease, so
 * that the cluster itself ends claims of a killed layer.
 * @throws ApiFault
 */
export async function createClaim(parts: ClaimParts, label: string): Promise<Claim> {
  const { client, settings, bounds, clock } = parts;
  const name = `sallyport-${randomBytes(10).toString('hex')}`;
  const { claims } = collections(client.namespace);
  const path = `${claims}/${name}`;
  const body = {
    apiVersion: 'extensions.agents.x-k8s.io/v1beta1',
    kind: 'SandboxClaim',
    metadata: {
      name,
      labels: ownLabels(settings.owner),
      annotations: { [TOOL_ANNOTATION]: label.slice(0, TOOL_TEXT_MAX) },
    },
    spec: {
      warmPoolRef: { name: settings.pool },
      // Delete: the default would keep the claim after its end.
      lifecycle: { shutdownTime: leaseEnd(clock, bounds), shutdownPolicy: 'Delete' },
    },
  };
  const object = await stands(client, claims, name, body);
  const renewal = setInterval(() => void renew(parts, path), bounds.renewEveryMs);
  renewal.unref();
  return {
    object,
    name,
    delete: async () => {
      clearInterval(renewal);
      await deleteClaim(client, path);
    },
  };
}

async function stands(client: ApiClient, claims: string, name: string, body: object): Promise<SandboxClaim> {
  const path = `${claims}/${name}`;
  try {
    return await client.send<SandboxClaim>({ method: 'POST', path: claims, body }).catch((error: unknown) => {
      if (isStatus(error, 409)) return client.send<SandboxClaim>({ method: 'GET', path });
      throw error;
    });
  } catch (error) {
    // It may exist although no answer came. Not awaited: the caller has waited long enough.
    void deleteClaim(client, path);
    throw error;
  }
}

async function deleteClaim(client: ApiClient, path: string): Promise<void> {
  try {
    await client.send({ method: 'DELETE', path });
  } catch {
    // 404: it is gone already. Anything else: it ends with its lease.
  }
}

/** When this fails, the next turn retries; three fit into a lease. */
async function renew({ client, bounds, clock }: ClaimParts, path: string): Promise<void> {
  const body = { spec: { lifecycle: { shutdownTime: leaseEnd(clock, bounds) } } };
  await client.send({ method: 'PATCH', path, body }).catch(() => {});
}

/** Kubernetes' times have whole seconds. */
function leaseEnd(clock: Clock, { leaseMs }: KubernetesBounds): string {
  return `${new Date(clock.now() + leaseMs).toISOString().slice(0, -5)}Z`;
}

/** Labels of this layer's claims. */
export function ownLabels(owner: string): Readonly<Record<string, string>> {
  return { [LABELS.owner]: owner, [LABELS.machine]: ownMachine(), [LABELS.layer]: ownMark() };
}

/** Identifies this machine since its last start: process numbers mean something only there. */
function ownMachine(): string {
  try {
    return sha256(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')).slice(0, MACHINE_DIGITS);
  } catch {
    return 'unknown';
  }
}
