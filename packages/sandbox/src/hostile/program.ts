import { arch } from 'node:process';
import type { SandboxSpec } from '../driver.port.ts';

/** A program that tries to leave its sandbox and prints `ESCAPED` when it can. It ends at once and does no harm. */
export interface HostileProgram {
  readonly name: string;
  readonly command: SandboxSpec['command'];
  /**
   * Whether it tries what only weighs where the kernel is the host's: in a sandbox with a kernel of its own
   * (`user_kernel` and stronger) that kernel may say yes, and only the host must not have changed.
   */
  readonly ownKernelMay?: true;
}

/** Numbers of system calls that perl and sh do not define: x86-64, arm64. */
const CALLS = {
  bpf: [321, 280],
  chroot: [161, 51],
  fsopen: [430, 430],
  ioUringSetup: [425, 425],
  kexecLoad: [246, 104],
  keyctl: [250, 219],
  memfdCreate: [319, 279],
  memfdSecret: [447, 447],
  mount: [165, 40],
  openByHandle: [304, 265],
  openTree: [428, 428],
  perfEventOpen: [298, 241],
  personality: [135, 92],
  pidfdGetfd: [438, 438],
  pivotRoot: [155, 41],
  processVmReadv: [310, 270],
  processVmWritev: [311, 271],
  ptrace: [101, 117],
  setns: [308, 268],
  shmget: [29, 194],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  addKey: [248, 217],
} as const;

/** Marks a program as one that a kernel of the sandbox's own may allow. */
export function ownKernelMay(program: HostileProgram): HostileProgram {
  return { ...program, ownKernelMay: true };
}

/** Escapes when the script ends with 0. */
export function sh(name: string, attempt: string): HostileProgram {
  return {
    name,
    command: ['/bin/sh', '-c', `if (${attempt}) >/dev/null 2>&1; then echo ESCAPED; else echo contained; fi`],
  };
}

/** A perl program that reports the outcome itself. */
export function perl(name: string, code: string): HostileProgram {
  return { name, command: ['/usr/bin/perl', '-e', code] };
}

/** Makes a system call that the filter must refuse, not chance: a wrong argument would be EFAULT or EINVAL. */
export function call(name: string, callName: keyof typeof CALLS, args: string): HostileProgram {
  return perl(
    name,
    `my @a = (${args}); my $r = syscall(${callNumber(callName)}, @a); ${escapedUnless('$r < 0 && ($! == 1 || $! == 38)')}`,
  );
}

/** Opens a socket that nothing inside needs. */
export function socket(name: string, family: number, type: number, protocol: number): HostileProgram {
  return perl(`opens a ${name} socket`, escapedUnless(`!socket(my $s, ${family}, ${type}, ${protocol})`));
}

export function escapedUnless(condition: string): string {
  return `print((${condition}) ? "contained\\n" : "ESCAPED\\n");`;
}

export function callNumber(name: keyof typeof CALLS): number {
  return CALLS[name][arch === 'arm64' ? 1 : 0];
}
