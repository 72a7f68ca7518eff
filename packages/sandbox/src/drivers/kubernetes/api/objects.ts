/** Shapes of the Kubernetes API, as far as the driver reads them; everything that comes from outside may be missing. */

export interface KubeMeta {
  readonly name?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface KubeObject {
  readonly metadata?: KubeMeta;
}

export interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** `extensions.agents.x-k8s.io/v1beta1` */
export interface SandboxClaim extends KubeObject {
  readonly spec?: { readonly lifecycle?: { readonly shutdownTime?: string } };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly sandbox?: { readonly name?: string } };
}

/** `agents.x-k8s.io/v1beta1` */
export interface Sandbox extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface SandboxWarmPool extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly sandboxTemplateRef?: { readonly name?: string } };
  readonly status?: { readonly readyReplicas?: number };
}

export interface SandboxTemplate extends KubeObject {
  readonly spec?: {
    readonly podTemplate?: { readonly spec?: PodSpec };
    readonly networkPolicy?: { readonly egress?: readonly unknown[] };
    readonly networkPolicyManagement?: string;
  };
}

export interface Container {
  readonly name?: string;
  readonly resources?: { readonly limits?: Readonly<Record<string, string | number>> };
  readonly securityContext?: {
    readonly privileged?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly runAsNonRoot?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
  };
}

export interface Volume {
  readonly hostPath?: unknown;
  readonly projected?: { readonly sources?: readonly { readonly serviceAccountToken?: unknown }[] };
}

export interface PodSpec {
  readonly runtimeClassName?: string;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext?: { readonly runAsNonRoot?: boolean };
  readonly containers?: readonly Container[];
  readonly volumes?: readonly Volume[];
}

interface ContainerState {
  readonly terminated?: { readonly reason?: string };
}

export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: {
    readonly containerStatuses?: readonly {
      readonly name?: string;
      readonly state?: ContainerState;
      readonly lastState?: ContainerState;
    }[];
  };
}

/** `meta/v1` Status, the API server's way to say what went wrong. */
export interface Status {
  readonly status?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly message?: string }[];
  };
}

const AGENTS = '/apis/agents.x-k8s.io/v1beta1';
const EXTENSIONS = '/apis/extensions.agents.x-k8s.io/v1beta1';

/** Group versions that must be served, with the resources that are used of each. */
export const GROUP_VERSIONS: Readonly<Record<string, readonly string[]>> = {
  [AGENTS]: ['sandboxes'],
  [EXTENSIONS]: ['sandboxclaims', 'sandboxwarmpools', 'sandboxtemplates'],
};

/** Paths of the collections of a namespace. */
export function collections(
  namespace: string,
): Record<'claims' | 'sandboxes' | 'pools' | 'templates' | 'pods', string> {
  const inside = `namespaces/${encodeURIComponent(namespace)}`;
  return {
    claims: `${EXTENSIONS}/${inside}/sandboxclaims`,
    pools: `${EXTENSIONS}/${inside}/sandboxwarmpools`,
    templates: `${EXTENSIONS}/${inside}/sandboxtemplates`,
    sandboxes: `${AGENTS}/${inside}/sandboxes`,
    pods: `/api/v1/${inside}/pods`,
  };
}

export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}
