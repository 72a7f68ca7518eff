import { GVISOR_DEFAULTS } from '@sallyport/sandbox/gvisor/settings';
import { KUBERNETES_DEFAULTS } from '@sallyport/sandbox/kubernetes/settings';
import { QEMU_DEFAULTS } from '@sallyport/sandbox/microvm/settings';
import { WARM_POOL_DEFAULTS } from '@sallyport/sandbox/warm-pool/settings';
import { boolean, integer, list, minutes, oneOf, text } from '../../domain/settings/rows.ts';

/** The available sandboxes, and their required strength. */
export const SANDBOX_ROWS = [
  integer('sandbox.warm_launchers', {
    unit: 'processes',
    minimum: 0,
    default: 2,
    sentence:
      'Launchers that wait for a cold start, so that it need not begin with a new process; each holds under 1 MB.',
  }),
  list('sandbox.drivers', {
    default: ['bubblewrap', 'gvisor'],
    sentence:
      'Sandbox drivers in the order in which they are preferred, of bubblewrap, gvisor, qemu, firecracker and kubernetes. A tool runs in the first that is as strong as it asks for and works here; never in a weaker one.',
  }),
  oneOf('sandbox.isolation', ['namespaces', 'user_kernel', 'microvm'], {
    default: 'namespaces',
    sentence:
      'The least that stands between any sandboxed program and the host, whatever its tool asks for. With namespaces, modules that ask for no more run in an interpreter.',
  }),
  list('sandbox.require_limits', {
    default: [],
    sentence:
      'Limits without which no tool runs in a sandbox where they cannot be kept in full, of memory, cpu, processes, usage and disk; calls are then refused (E3101). /healthz and sallyport doctor name those that are weaker here. disk refuses tools with writable folders, whose growth nothing bounds.',
  }),
  boolean('sandbox.refuse_known_holes', {
    default: false,
    sentence:
      'A bubblewrap or runsc with a known hole, also one that does not reach the sandboxes here, or with a version that nobody knows makes no sandbox; calls are then refused (E3101). sallyport doctor names them.',
  }),
  text('sandbox.gvisor_program', { default: GVISOR_DEFAULTS.program, sentence: 'Name or absolute path of gVisor.' }),
  text('sandbox.microvm_folder', {
    default: '',
    sentence:
      'Folder with kernel and initrd of virtual machines, as scripts/machine/prepare-microvm.ts makes it; microvm in the data folder when empty.',
  }),
  oneOf('sandbox.qemu_accelerator', ['tcg', 'kvm'], {
    default: QEMU_DEFAULTS.accelerator,
    sentence: 'How QEMU runs its machines: tcg emulates the processor anywhere; kvm needs hardware that lets it.',
  }),
  text('sandbox.kubernetes_pool', {
    default: '',
    sentence: 'Name of the SandboxWarmPool that the driver kubernetes claims from.',
  }),
  text('sandbox.kubernetes_namespace', {
    default: '',
    sentence: 'Namespace of the pool; that of the service account or of the kubeconfig when empty.',
  }),
  text('sandbox.kubernetes_kubeconfig', {
    default: '',
    sentence: 'Path of a kubeconfig; the service account of the pod that the layer runs in when empty.',
  }),
  oneOf('sandbox.kubernetes_isolation', ['namespaces', 'user_kernel', 'microvm'], {
    default: KUBERNETES_DEFAULTS.isolation,
    sentence: "What the pool's pods are at least; each is looked at before anything runs in it.",
  }),
];

const MINUTE_MS = 60_000;

/** Warm sandboxes (docs/sandboxes/warm-pool.md). */
export const WARM_POOL_SETTINGS = {
  standingMax: integer('sandbox.warm_max', {
    unit: 'sandboxes',
    minimum: 0,
    default: WARM_POOL_DEFAULTS.standingMax,
    sentence:
      'Sandboxes that stand ready for calls at most, all kinds together; each holds some 3 MB, with a waiting Node some 18 MB. 0 keeps none.',
  }),
  keepMs: minutes('sandbox.warm_keep_minutes', {
    timed: true,
    whole: true,
    minimum: 1,
    default: WARM_POOL_DEFAULTS.keepMs / MINUTE_MS,
    sentence: 'How long after its last call something stands ready for calls of the same kind.',
  }),
  ageMaxMs: minutes('sandbox.warm_age_minutes', {
    timed: true,
    whole: true,
    minimum: 1,
    default: WARM_POOL_DEFAULTS.ageMaxMs / MINUTE_MS,
    sentence: 'Age at which a sandbox that stands ready is replaced by a fresh one.',
  }),
};
