import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ApiClient } from '../api/api-client.ts';
import { type Condition, collections, conditionOf, type Pod, type Sandbox, type SandboxClaim } from '../api/objects.ts';
import { watchObject } from '../api/watch-object.ts';
import type { KubernetesBounds } from '../settings.ts';
import type { Claim } from './claims.ts';

/** Reasons of the claim's Ready condition that waiting does not fix. */
const FINAL_REASONS: ReadonlySet<string> = new Set([
  'WarmPoolNotFound',
  'TemplateNotFound',
  'InvalidMetadata',
  'EnvVarsInjectionRejected',
  'VolumeClaimTemplatesError',
  'ClaimExpired',
  'SandboxExpired',
]);
const POD_NAME = 'agents.x-k8s.io/pod-name';

/** A ready pod, and its name. */
export interface ReadyPod {
  readonly name: string;
  readonly pod: Pod;
}

/**
 * Waits until a claim has a sandbox, and the sandbox is ready.
 * @throws E3101 with the message of the condition when it takes too long or can never be; ApiFault
 */
export async function readyPod(client: ApiClient, claim: Claim, bounds: KubernetesBounds): Promise<ReadyPod> {
  const deadlineAt = performance.now() + bounds.readyTimeoutMs;
  const { claims, sandboxes, pods } = collections(client.namespace);
  const seconds = Math.round(bounds.readyTimeoutMs / 1000);
  const late = (seen: SandboxClaim | Sandbox | undefined): Error =>
    notReady(`No sandbox was ready within ${seconds} s`, conditionOf(seen?.status?.conditions, 'Ready'));
  const sandboxName = await watchObject<SandboxClaim, string>(
    client,
    { collection: claims, name: claim.name, from: claim.object, until: sandboxOf, deadlineAt, late },
    bounds,
  );
  const name = await watchObject<Sandbox, string>(
    client,
    { collection: sandboxes, name: sandboxName, until: podNameOf, deadlineAt, late },
    bounds,
  );
  return { name, pod: await client.send<Pod>({ method: 'GET', path: `${pods}/${encodeURIComponent(name)}` }) };
}

function sandboxOf({ status }: SandboxClaim): string | undefined {
  const name = status?.sandbox?.name;
  if (name !== undefined && name !== '') return name;
  const ready = conditionOf(status?.conditions, 'Ready');
  if (ready?.status === 'False' && FINAL_REASONS.has(ready.reason ?? '')) {
    throw notReady('The claim of a sandbox cannot be met', ready);
  }
  return undefined;
}

function podNameOf({ metadata, status }: Sandbox): string | undefined {
  const ready = conditionOf(status?.conditions, 'Ready');
  const finished = conditionOf(status?.conditions, 'Finished');
  if (finished?.status === 'True') throw notReady('The sandbox ended before the tool began', finished);
  if (ready?.status === 'False' && FINAL_REASONS.has(ready.reason ?? ''))
    throw notReady('The sandbox is no more', ready);
  if (ready?.status !== 'True') return undefined;
  return metadata?.annotations?.[POD_NAME] ?? metadata?.name;
}

const SAID_MAX = 300;

/** The controller's own text: it names pools and templates, which the operator named. */
function notReady(what: string, condition: Condition | undefined): ToolLayerError {
  const said = [condition?.reason, condition?.message].filter((text) => text !== undefined && text !== '').join(': ');
  const why = said === '' ? 'the cluster says nothing about it' : said.slice(0, SAID_MAX);
  return new ToolLayerError('E3101', `${what} (${why}). Look at the warm pool and its template.`);
}
