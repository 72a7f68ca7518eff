import { isAsStrong } from '../../choose-driver.ts';
import type { DriverProbe, IsolationLevel } from '../../driver.port.ts';
import type { ApiClient } from './api/api-client.ts';
import { explain, isStatus } from './api/api-fault.ts';
import {
  collections,
  GROUP_VERSIONS,
  type PodSpec,
  type SandboxTemplate,
  type SandboxWarmPool,
} from './api/objects.ts';
import { containerOf, isolationOf, podFaults, podWeaknesses } from './claim/pod-check.ts';
import type { KubernetesSettings } from './settings.ts';

/** Every permission that the driver uses: verb, group, resource. */
export const PERMISSIONS: readonly (readonly [verb: string, group: string, resource: string])[] = [
  ...['create', 'get', 'list', 'watch', 'patch', 'delete'].map(
    (verb) => [verb, 'extensions.agents.x-k8s.io', 'sandboxclaims'] as const,
  ),
  ['get', 'extensions.agents.x-k8s.io', 'sandboxwarmpools'],
  ['get', 'extensions.agents.x-k8s.io', 'sandboxtemplates'],
  ['get', 'agents.x-k8s.io', 'sandboxes'],
  ['watch', 'agents.x-k8s.io', 'sandboxes'],
  ['get', '', 'pods'],
  ['watch', '', 'pods'],
  // A WebSocket begins as a GET; newer API servers ask for `create` as well.
  ['get', '', 'pods/exec'],
  ['create', '', 'pods/exec'],
];

/** The first version that can signal the end of stdin over WebSocket without a feature gate. */
const MINOR_MIN = 30;

const ALWAYS_WEAK: readonly string[] = [
  'The number of processes is bounded for each user of the pod, not for the sandbox; set podPidsLimit on the nodes.',
  'What a sandbox writes is bounded for each file; all of it is measured by its node, from time to time.',
  'Whether network policies hold is up to the network plugin of the cluster.',
];

/** Checks that the cluster has everything needed. Never rejects. */
export async function probeCluster(client: ApiClient, settings: KubernetesSettings): Promise<DriverProbe> {
  try {
    const version = await client.send<Version>({ method: 'GET', path: '/version' });
    const found = oldVersion(version) ?? (await missingKinds(client)) ?? (await missingPermissions(client));
    if (found !== undefined) return fails(found);
    const pool = await examinePool(client, settings);
    if (typeof pool === 'string') return fails(pool);
    return {
      works: true,
      ...(version.gitVersion === undefined ? {} : { version: version.gitVersion }),
      weaknesses: [...pool.weaknesses, ...ALWAYS_WEAK],
      weakerLimits: pool.weakerLimits,
    };
  } catch (error) {
    return fails(explain(error));
  }
}

/** A probe that found a problem. */
export function fails(problem: string): DriverProbe {
  return { works: false, problem, weaknesses: [] };
}

interface Version {
  readonly major?: string;
  readonly minor?: string;
  readonly gitVersion?: string;
}

function oldVersion({ major, minor, gitVersion }: Version): string | undefined {
  const isOld = Number(major) === 1 && Number.parseInt(minor ?? '', 10) < MINOR_MIN;
  return isOld ? `The cluster runs Kubernetes ${gitVersion}; 1.${MINOR_MIN} or newer is needed.` : undefined;
}

async function missingKinds(client: ApiClient): Promise<string | undefined> {
  for (const [path, resources] of Object.entries(GROUP_VERSIONS)) {
    const list = await client
      .send<{ resources?: readonly { name?: string }[] }>({ method: 'GET', path })
      .catch((error: unknown) => {
        if (isStatus(error, 404)) return { resources: [] };
        throw error;
      });
    const missing = resources.find((name) => !list.resources?.some((resource) => resource.name === name));
    if (missing !== undefined) {
      return `The cluster does not serve ${missing} at ${path.slice('/apis/'.length)}. Install agent-sandbox with its extensions.`;
    }
  }
  return undefined;
}

async function missingPermissions(client: ApiClient): Promise<string | undefined> {
  const answers = await Promise.all(
    PERMISSIONS.map(async (permission) => ((await isAllowed(client, permission)) ? [] : [permission])),
  );
  const missing = answers.flat().map(([verb, , resource]) => `${verb} ${resource}`);
  if (missing.length === 0) return undefined;
  return `The layer may not ${missing.join(', ')} in the namespace ${client.namespace}. Grant the role in docs/sandboxes/kubernetes.md.`;
}

async function isAllowed(client: ApiClient, [verb, group, name]: (typeof PERMISSIONS)[number]): Promise<boolean> {
  const [resource, subresource] = name.split('/');
  const resourceAttributes = {
    namespace: client.namespace,
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
  };
  const review = await client.send<{ status?: { allowed?: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } },
  });
  return review.status?.allowed === true;
}

/** The weaknesses of the pool's sandboxes, or the problem. */
async function examinePool(
  client: ApiClient,
  settings: KubernetesSettings,
): Promise<Required<Pick<DriverProbe, 'weaknesses' | 'weakerLimits'>> | string> {
  const paths = collections(client.namespace);
  const where = `in the namespace ${client.namespace}`;
  const pool = await found<SandboxWarmPool>(client, `${paths.pools}/${settings.pool}`);
  if (pool === undefined) return `There is no warm pool ${settings.pool} ${where}. Create it, or name another.`;
  const name = pool.spec?.sandboxTemplateRef?.name ?? '';
  const template = await found<SandboxTemplate>(client, `${paths.templates}/${name}`);
  if (template === undefined) return `The template ${name} of the warm pool ${settings.pool} is not there ${where}.`;
  const pod = template.spec?.podTemplate?.spec ?? {};
  const [fault] = podFaults(pod, settings.container, true);
  if (fault !== undefined) return `The template ${name} makes no sandbox. ${fault}`;
  const level = isolationOf(pod, settings.runtimeClasses);
  if (!isAsStrong(level, settings.isolation)) {
    return `The template ${name} gives the isolation ${level}, and the settings ask for ${settings.isolation}: set its runtimeClassName.`;
  }
  if (settings.networkPolicy === 'template' && !isClosed(template)) {
    return `The template ${name} lets its sandboxes out to the network: set networkPolicy with an empty list of egress.`;
  }
  const isEmpty = (pool.status?.readyReplicas ?? 0) === 0;
  const empty = `The warm pool ${settings.pool} has no sandbox ready now, so that calls wait for one.`;
  return {
    weaknesses: [...(isEmpty ? [empty] : []), ...podWeaknesses(pod, settings.container)],
    weakerLimits: isMeasured(pod, settings, level) ? ['processes', 'disk'] : ['processes', 'disk', 'usage'],
  };
}

/**
 * Only the node's own kernel shows the pod's control group inside; and a tool that may change its image may change the
 * program that reads it.
 */
function isMeasured(pod: PodSpec, { container }: KubernetesSettings, level: IsolationLevel): boolean {
  return level === 'namespaces' && containerOf(pod, container)?.securityContext?.readOnlyRootFilesystem === true;
}

async function found<Kind>(client: ApiClient, path: string): Promise<Kind | undefined> {
  try {
    return await client.send<Kind>({ method: 'GET', path });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/** Without its own policy a template gets the controller's, which permits the public Internet. */
function isClosed({ spec }: SandboxTemplate): boolean {
  const isManaged = (spec?.networkPolicyManagement ?? 'Managed') === 'Managed';
  return isManaged && spec?.networkPolicy !== undefined && (spec.networkPolicy.egress ?? []).length === 0;
}
