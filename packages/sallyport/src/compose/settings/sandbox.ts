import type { Setting } from './setting.ts';

/** What is kept ready for sandboxes (docs/sandboxes/warm-pool.md). */
export const SANDBOX_SETTINGS = [
  {
    key: 'sandbox.warm_max',
    type: 'integer',
    default: 4,
    minimum: 0,
    unit: 'sandboxes',
    sentence:
      'Sandboxes that stand ready for calls at most, all kinds together; each holds some 3 MB, with a waiting Node some 18 MB. 0 keeps none.',
  },
  {
    key: 'sandbox.warm_keep_minutes',
    type: 'integer',
    default: 10,
    minimum: 1,
    unit: 'minutes',
    sentence: 'How long after its last call something stands ready for calls of the same kind.',
  },
  {
    key: 'sandbox.warm_age_minutes',
    type: 'integer',
    default: 5,
    minimum: 1,
    unit: 'minutes',
    sentence: 'Age at which a sandbox that stands ready is replaced by a fresh one.',
  },
  {
    key: 'sandbox.warm_launchers',
    type: 'integer',
    default: 2,
    minimum: 0,
    unit: 'processes',
    sentence:
      'Launchers that wait for a cold start, so that it need not begin with a new process; each holds under 1 MB.',
  },
  {
    key: 'sandbox.drivers',
    type: 'list',
    default: ['bubblewrap', 'gvisor'],
    sentence:
      'Sandbox drivers in the order in which they are preferred, of bubblewrap, gvisor, qemu, firecracker and kubernetes. A tool runs in the first that is as strong as it asks for and works here; never in a weaker one.',
  },
  {
    key: 'sandbox.isolation',
    type: 'string',
    oneOf: ['namespaces', 'user_kernel', 'microvm'],
    default: 'namespaces',
    sentence: 'The least that stands between any sandboxed program and the host, whatever its tool asks for.',
  },
  {
    key: 'sandbox.require_limits',
    type: 'list',
    default: [],
    sentence:
      'Limits without which no tool runs in a sandbox where they cannot be kept in full, of memory, cpu, processes, usage and disk; calls are then refused (E3101). /healthz and sallyport doctor name those that are weaker here. disk refuses tools with writable folders, whose growth nothing bounds.',
  },
  {
    key: 'sandbox.refuse_known_holes',
    type: 'boolean',
    default: false,
    sentence:
      'A bubblewrap or runsc with a known hole, also one that does not reach the sandboxes here, or with a version that nobody knows makes no sandbox; calls are then refused (E3101). sallyport doctor names them.',
  },
  {
    key: 'sandbox.gvisor_program',
    type: 'string',
    default: 'runsc',
    sentence: 'Name or absolute path of gVisor.',
  },
  {
    key: 'sandbox.microvm_folder',
    type: 'string',
    default: '',
    sentence:
      'Folder with kernel and initrd of virtual machines, as scripts/machine/prepare-microvm.ts makes it; microvm in the data folder when empty.',
  },
  {
    key: 'sandbox.qemu_accelerator',
    type: 'string',
    oneOf: ['tcg', 'kvm'],
    default: 'tcg',
    sentence: 'How QEMU runs its machines: tcg emulates the processor anywhere; kvm needs hardware that lets it.',
  },
  {
    key: 'sandbox.kubernetes_pool',
    type: 'string',
    default: '',
    sentence: 'Name of the SandboxWarmPool that the driver kubernetes claims from.',
  },
  {
    key: 'sandbox.kubernetes_namespace',
    type: 'string',
    default: '',
    sentence: 'Namespace of the pool; that of the service account or of the kubeconfig when empty.',
  },
  {
    key: 'sandbox.kubernetes_kubeconfig',
    type: 'string',
    default: '',
    sentence: 'Path of a kubeconfig; the service account of the pod that the layer runs in when empty.',
  },
  {
    key: 'sandbox.kubernetes_isolation',
    type: 'string',
    oneOf: ['namespaces', 'user_kernel', 'microvm'],
    default: 'namespaces',
    sentence: "What the pool's pods are at least; each is looked at before anything runs in it.",
  },
] as const satisfies readonly Setting[];
