/**
 * Calls that no tool needs, refused inside too (EPERM). gVisor handles them itself and none reaches the host; refusing
 * them exposes less of gVisor.
 */
const DENIED: readonly string[] = [
  'add_key',
  'bpf',
  'chroot',
  'fsconfig',
  'fsmount',
  'fsopen',
  'fspick',
  'init_module',
  'finit_module',
  'io_uring_enter',
  'io_uring_register',
  'io_uring_setup',
  'kexec_load',
  'keyctl',
  'mount',
  'move_mount',
  'name_to_handle_at',
  'open_by_handle_at',
  'open_tree',
  'perf_event_open',
  'personality',
  'pivot_root',
  'process_vm_readv',
  'process_vm_writev',
  'ptrace',
  'request_key',
  'setns',
  'shmat',
  'shmget',
  'swapoff',
  'swapon',
  'umount2',
  'unshare',
  'userfaultfd',
];

const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const AF_PACKET = 17;
const SOCK_RAW = 3;
/** Of `socket`'s second argument; the rest are flags. */
const SOCKET_TYPE_BITS = 0xf;

/**
 * Position of a call's mode argument. A set-id program in a granted folder would belong to the layer's owner and give
 * its rights to whoever runs it.
 */
const MODE_ARGUMENTS: Readonly<Record<string, number>> = {
  chmod: 1,
  creat: 1,
  fchmod: 1,
  fchmodat: 2,
  fchmodat2: 2,
  mknod: 1,
  mknodat: 2,
  open: 2,
  openat: 3,
};
const SET_ID_BITS = [0o4000, 0o2000];
/** Block and character devices. */
const DEVICE_TYPES = [0o060_000, 0o020_000];
const FILE_TYPE_BITS = 0o170_000;
/** Calls that arm64 has only in a newer form. */
const OLD_CALLS: readonly string[] = ['chmod', 'creat', 'mknod', 'open'];
const WITHOUT_OLD = process.arch === 'arm64';

interface Rule {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ERRNO';
  readonly args?: readonly { index: number; value: number; valueTwo?: number; op: string }[];
}

/**
 * The filter in the format of the OCI runtime specification.
 * @param netlink true when sockets of the kernel's settings stay allowed, which are needed to give the loopback an
 *   address
 */
export function deniedCalls(netlink: boolean): object {
  const families = netlink ? [AF_PACKET] : [AF_NETLINK, AF_PACKET];
  const rules: Rule[] = [
    { names: DENIED, action: 'SCMP_ACT_ERRNO' },
    ...modeRules(),
    ...deviceRules(),
    ...families.map((value) => socketRule([{ index: 0, value, op: 'SCMP_CMP_EQ' }])),
    ...[AF_INET, AF_INET6].map((value) =>
      socketRule([
        { index: 0, value, op: 'SCMP_CMP_EQ' },
        { index: 1, value: SOCKET_TYPE_BITS, valueTwo: SOCK_RAW, op: 'SCMP_CMP_MASKED_EQ' },
      ]),
    ),
  ];
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    architectures: [process.arch === 'arm64' ? 'SCMP_ARCH_AARCH64' : 'SCMP_ARCH_X86_64'],
    syscalls: rules,
  };
}

function modeRules(): Rule[] {
  const names = Object.entries(MODE_ARGUMENTS).filter(([name]) => !WITHOUT_OLD || !OLD_CALLS.includes(name));
  return names.flatMap(([name, index]) =>
    SET_ID_BITS.map((bit) => ({
      names: [name],
      action: 'SCMP_ACT_ERRNO' as const,
      args: [{ index, value: bit, valueTwo: bit, op: 'SCMP_CMP_MASKED_EQ' }],
    })),
  );
}

/** gVisor of 2022 lets anyone make devices; they lead nowhere, but no tool needs them. */
function deviceRules(): Rule[] {
  const names = WITHOUT_OLD ? ['mknodat'] : ['mknod', 'mknodat'];
  return names.flatMap((name) =>
    DEVICE_TYPES.map((type) => ({
      names: [name],
      action: 'SCMP_ACT_ERRNO' as const,
      args: [{ index: MODE_ARGUMENTS[name] ?? 0, value: FILE_TYPE_BITS, valueTwo: type, op: 'SCMP_CMP_MASKED_EQ' }],
    })),
  );
}

const socketRule = (args: NonNullable<Rule['args']>): Rule => ({ names: ['socket'], action: 'SCMP_ACT_ERRNO', args });
