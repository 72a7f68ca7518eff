import { KiB, MiB } from '@sallyport/std/bytes';
import type { IsolationLevel } from '../../driver.port.ts';

/** Settings of the driver. One driver serves one pool. */
export interface KubernetesSettings {
  /** Name of the SandboxWarmPool that sandboxes are claimed from. */
  readonly pool: string;
  /** Namespace of the pool and of the claims. Default: that of the service account, or of the kubeconfig's context. */
  readonly namespace?: string;
  /** Path of a kubeconfig file. Default: the service account of the pod that the layer runs in. */
  readonly kubeconfig?: string;
  /** Context of the kubeconfig. Default: its `current-context`. */
  readonly context?: string;
  /** Least isolation of the pool's pods. Default `namespaces`. Each pod is checked before anything runs in it. */
  readonly isolation: IsolationLevel;
  /** Isolation of each RuntimeClass of the cluster. Others, and none, give `namespaces`. */
  readonly runtimeClasses: Readonly<Record<string, IsolationLevel>>;
  /** Container of the pod that tools run in. Default: its first. */
  readonly container?: string;
  /** Layers with the same owner delete leftovers of dead ones among them; a label value, 1 to 63 characters. */
  readonly owner: string;
  /**
   * What keeps the pods off the network: `template`, a network policy of the template without egress, which is checked;
   * or `external`, something else that the operator vouches for. Default `template`.
   */
  readonly networkPolicy: 'template' | 'external';
}

export const KUBERNETES_DEFAULTS = {
  isolation: 'namespaces',
  runtimeClasses: {
    gvisor: 'user_kernel',
    kata: 'microvm',
    'kata-qemu': 'microvm',
    'kata-clh': 'microvm',
    'kata-fc': 'microvm',
  },
  owner: 'sallyport',
  networkPolicy: 'template',
} as const satisfies Omit<KubernetesSettings, 'pool'>;

/** Limits that need no configuration. */
export interface KubernetesBounds {
  /** One request to the API server, its answer included. */
  readonly requestTimeoutMs: number;
  /** Attempts of a repeatable request, and the pause before the second; it doubles. */
  readonly requestTries: number;
  readonly retryPauseMs: number;
  /** Until a claimed sandbox is ready. */
  readonly readyTimeoutMs: number;
  /** A watch silent for this long is restarted. */
  readonly watchQuietMs: number;
  /** Longest pause before a dropped watch is resumed. */
  readonly watchPauseMaxMs: number;
  /** A claim ends by itself after this time unless its layer renews it. */
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  /** Most that another layer's clock may lag. */
  readonly clockSkewMs: number;
  /** Interval of pings on the exec stream, and the silence after which it is given up. */
  readonly pingEveryMs: number;
  readonly silenceMaxMs: number;
  /** The second exec that ends all processes of a sandbox. */
  readonly reapTimeoutMs: number;
  readonly reapPauseMs: number;
  /** After a kill: until the stream is cut and the pod deleted without waiting further. */
  readonly killTimeoutMs: number;
  /** Longest wait for a deleted pod when its processes could not be ended before. */
  readonly goneTimeoutMs: number;
  /** How long a probe's problem is cached. */
  readonly problemKeptMs: number;
}

export const KUBERNETES_BOUNDS: KubernetesBounds = {
  requestTimeoutMs: 10_000,
  requestTries: 4,
  retryPauseMs: 100,
  readyTimeoutMs: 60_000,
  watchQuietMs: 10_000,
  watchPauseMaxMs: 2_000,
  leaseMs: 300_000,
  renewEveryMs: 100_000,
  clockSkewMs: 60_000,
  pingEveryMs: 5_000,
  silenceMaxMs: 30_000,
  reapTimeoutMs: 5_000,
  reapPauseMs: 200,
  killTimeoutMs: 5_000,
  goneTimeoutMs: 30_000,
  problemKeptMs: 30_000,
};

/** Sizes. */
export const KUBERNETES_SIZES = {
  answerBytesMax: 4 * MiB,
  watchLineBytesMax: MiB,
  /** One message of the exec stream; the API server passes on pieces of 32 KiB. */
  messageBytesMax: 4 * MiB,
  inputPieceBytes: 32 * KiB - 1,
  /** Unread output per stream, after which the API server is made to wait. */
  outputBufferBytes: MiB,
  /** The line that carries command, environment and folder. */
  jobBytesMax: 256 * KiB,
  environmentNamesMax: 1000,
  openFilesMax: 1024,
  /** Claims on one page when looking for leftovers of dead layers. */
  claimsPageMax: 500,
  tokenBytesMax: 64 * KiB,
} as const;
