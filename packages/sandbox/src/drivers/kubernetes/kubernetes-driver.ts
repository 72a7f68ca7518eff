import { type Clock, systemClock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { DriverProbe, SandboxDriver, SandboxProcess, SandboxSpec } from '../../driver.port.ts';
import { type ApiClient, createApiClient } from './api/api-client.ts';
import { cannotStart, explain } from './api/api-fault.ts';
import { type Claim, type ClaimParts, createClaim } from './claim/claims.ts';
import { clearLeftClaims } from './claim/leftovers.ts';
import { checkPod, containerOf } from './claim/pod-check.ts';
import { readyPod } from './claim/ready-pod.ts';
import { type ConnectionSource, openConnection } from './connection/connection.ts';
import { openExec } from './exec/exec-stream.ts';
import { type Job, jobOf, LAUNCHER_COMMAND } from './exec/launcher.ts';
import { loadWebSocket } from './exec/web-socket.ts';
import { fails, probeCluster } from './probe.ts';
import { runSandbox } from './run/sandbox-run.ts';
import { KUBERNETES_BOUNDS, KUBERNETES_DEFAULTS, type KubernetesBounds, type KubernetesSettings } from './settings.ts';

/** What may be given beside the settings; all have defaults. */
export interface KubernetesParts {
  readonly clock?: Clock;
  readonly bounds?: Partial<KubernetesBounds>;
  /** Where the pod of the layer finds its API server and service account. */
  readonly source?: Pick<ConnectionSource, 'environment' | 'serviceAccountFolder'>;
}

/** A driver that keeps connections. */
export interface KubernetesDriver extends SandboxDriver {
  /** Ends idle connections to the API server. Running sandboxes continue. */
  close(): void;
}

/**
 * Sandboxes by the Kubernetes Agent Sandbox: each is a pod of a warm pool, claimed for one tool and deleted after it
 * (SBX-02). Programs are those of the pod's image. It supports neither host folders nor network access.
 * docs/sandboxes/kubernetes.md lists its needs.
 */
export function createKubernetesDriver(
  given: Pick<KubernetesSettings, 'pool'> & Partial<KubernetesSettings>,
  { clock = systemClock, bounds: changed = {}, source = {} }: KubernetesParts = {},
): KubernetesDriver {
  const settings: KubernetesSettings = { ...KUBERNETES_DEFAULTS, ...given };
  const bounds: KubernetesBounds = { ...KUBERNETES_BOUNDS, ...changed };
  const ready = createReadiness({ settings, bounds, clock, source });
  return {
    name: 'kubernetes',
    isolation: settings.isolation,
    supports: { egress: false, mounts: false, programs: 'image' },
    probe: async () => (await ready.get()).probe,
    async start(spec) {
      refuseUnclaimed(spec);
      const job = jobOf(spec);
      const { probe, client } = await ready.get();
      if (client === undefined || !probe.works) {
        throw new ToolLayerError('E3101', `No sandbox can be made. ${probe.problem ?? ''}`);
      }
      return startIn({ client, settings, bounds, clock }, spec, job, probe);
    },
    close: ready.close,
  };
}

interface Readiness {
  readonly probe: DriverProbe;
  readonly client?: ApiClient;
}

type ReadinessParts = Omit<ClaimParts, 'client'> & { readonly source: NonNullable<KubernetesParts['source']> };

/**
 * A working cluster is probed once; a problem is cached for a while only, since clusters are repaired independently of
 * the layer. Leftovers of dead layers are deleted at the first success.
 */
function createReadiness({ settings, bounds, clock, source }: ReadinessParts): {
  get(): Promise<Readiness>;
  close(): void;
} {
  let known: { readonly until: number; readonly value: Promise<Readiness> } | undefined;
  let client: ApiClient | undefined;
  const examine = async (): Promise<Readiness> => {
    try {
      await loadWebSocket();
      client ??= createApiClient(await openConnection({ ...source, ...settings }), bounds);
    } catch (error) {
      return { probe: fails(explain(error)) };
    }
    const probe = await probeCluster(client, settings);
    if (!probe.works) return { probe };
    // A failure costs nothing: those claims end with their leases.
    await clearLeftClaims({ client, settings, bounds, clock }).catch(() => 0);
    return { probe, client };
  };
  return {
    get() {
      if (known === undefined || performance.now() > known.until) {
        const value = examine();
        const entry = { until: Number.POSITIVE_INFINITY, value };
        known = entry;
        void value.then(({ probe }) => {
          if (!probe.works && known === entry) known = { value, until: performance.now() + bounds.problemKeptMs };
        });
      }
      return known.value;
    },
    close: () => client?.close(),
  };
}

/** Refuses capabilities that the driver does not claim. */
function refuseUnclaimed({ label, mounts, network }: SandboxSpec): void {
  const [mount] = mounts;
  if (mount !== undefined) {
    const message = `The sandbox of ${label} is a pod of a cluster, which shows no folders of the host. Use a tool without filesystem permissions.`;
    throw new ToolLayerError('E3105', message, { details: { path: mount.path } });
  }
  const [address] = network;
  if (address !== undefined) {
    const { host, port } = address;
    throw new ToolLayerError(
      'E3104',
      `There is no way out to ${host}:${port} from a pod of the cluster. Use a tool without network permissions.`,
      { details: { host, port } },
    );
  }
}

/** Claim, pod, launcher. Whatever fails on the way, the claim is deleted. */
async function startIn(
  parts: ClaimParts,
  spec: SandboxSpec,
  job: Job,
  { weakerLimits = [] }: DriverProbe,
): Promise<SandboxProcess> {
  const { client, settings, bounds } = parts;
  let claim: Claim | undefined;
  try {
    claim = await createClaim(parts, spec.label);
    const { name: pod, pod: found } = await readyPod(client, claim, bounds);
    const podSpec = found.spec ?? {};
    checkPod(podSpec, spec, settings);
    const container = containerOf(podSpec, settings.container)?.name ?? '';
    const exec = await openExec(client, { pod, container, command: LAUNCHER_COMMAND }, bounds);
    return runSandbox({ client, bounds, claim, pod, container, exec, job, limits: spec.limits, weakerLimits });
  } catch (error) {
    await claim?.delete();
    throw cannotStart(spec.label, error);
  }
}
