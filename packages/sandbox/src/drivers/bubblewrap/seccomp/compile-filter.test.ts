import { expect, test } from 'vitest';
import { SYSCALL_NUMBERS } from '../../../linux/syscall-numbers.ts';
import { INSTRUCTION_BYTES, OPCODES } from './bpf.ts';
import { ACTIONS, type Architecture, AUDIT_ARCHITECTURES, compileFilter } from './compile-filter.ts';
import { ALLOWED, REFUSED, RULES } from './policy.ts';

const EPERM = ACTIONS.refuse | 1;
const ENOSYS = ACTIONS.refuse | 38;
const EAFNOSUPPORT = ACTIONS.refuse | 97;
const ARCHITECTURES: readonly Architecture[] = ['x64', 'arm64'];
const FILTERS = { x64: compileFilter('x64'), arm64: compileFilter('arm64') };

/**
 * Interprets a classic BPF program as linux/filter.h describes it, and returns the answer that the kernel would give.
 */
function run(program: Buffer, number: number, audit: number, args: readonly number[]): number {
  const seen = Buffer.alloc(64);
  seen.writeUInt32LE(number >>> 0, 0);
  seen.writeUInt32LE(audit, 4);
  args.forEach((value, index) => {
    seen.writeUInt32LE(value >>> 0, 16 + 8 * index);
  });
  let loaded = 0;
  for (let at = 0; at < program.length / INSTRUCTION_BYTES; at += 1) {
    const from = at * INSTRUCTION_BYTES;
    const value = program.readUInt32LE(from + 4);
    const jump = (holds: boolean) => program.readUInt8(from + (holds ? 2 : 3));
    const code = program.readUInt16LE(from);
    if (code === OPCODES.give) return value;
    if (code === OPCODES.load) loaded = seen.readUInt32LE(value);
    else if (code === OPCODES.jump) at += value;
    else if (code === OPCODES.jumpIfEqual) at += jump(loaded === value);
    else if (code === OPCODES.jumpIfAtLeast) at += jump(loaded >= value);
    else if (code === OPCODES.jumpIfAnyBit) at += jump((loaded & value) !== 0);
    else throw new Error(`unknown instruction ${code} at ${at}`);
  }
  throw new Error('the program ran off its end');
}

function answer(architecture: Architecture, name: string, args: readonly number[] = []): number | undefined {
  const number = SYSCALL_NUMBERS[name]?.[architecture];
  if (number === undefined) return undefined;
  return run(FILTERS[architecture], number, AUDIT_ARCHITECTURES[architecture], args) >>> 0;
}

test.each(ARCHITECTURES)('every call is answered as the policy says on %s', (architecture) => {
  for (const name of ALLOWED) expect([undefined, ACTIONS.allow], name).toContain(answer(architecture, name));
  for (const name of REFUSED) expect([undefined, EPERM], name).toContain(answer(architecture, name));
});

test('each named call has a number on x86-64, and stands in one list', () => {
  const names = [...ALLOWED, ...REFUSED, ...Object.keys(RULES)];
  expect(names.filter((name) => SYSCALL_NUMBERS[name]?.x64 === undefined)).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

test('a call of another architecture or of x32 ends the process', () => {
  expect(run(FILTERS.x64, 0, 0x4000_0003, [])).toBe(ACTIONS.kill);
  expect(run(FILTERS.arm64, 63, AUDIT_ARCHITECTURES.x64, [])).toBe(ACTIONS.kill);
  expect(run(FILTERS.x64, 0x4000_0000, AUDIT_ARCHITECTURES.x64, [])).toBe(ACTIONS.kill);
  expect(run(FILTERS.x64, 0xffff_ffff, AUDIT_ARCHITECTURES.x64, [])).toBe(ACTIONS.kill);
});

test.each(ARCHITECTURES)('clone3, openat2, io_uring and numbers of the future are unknown on %s', (architecture) => {
  const audit = AUDIT_ARCHITECTURES[architecture];
  for (const number of [435, 437, 425, 426, 427, 460, 600, 0x3fff_ffff]) {
    expect(run(FILTERS[architecture], number, audit, []) >>> 0, String(number)).toBe(ENOSYS);
  }
});

test.each<[string, readonly number[], number]>([
  ['clone', [0x0001_1200], ACTIONS.allow],
  ['clone', [0x1000_0011], EPERM],
  ['clone', [0x4000_0000], EPERM],
  ['clone', [0x0002_0000], EPERM],
  ['socket', [1, 1, 0], ACTIONS.allow],
  ['socket', [2, 1, 6], ACTIONS.allow],
  ['socket', [10, 2, 17], ACTIONS.allow],
  ['socket', [2, 1, 262], EAFNOSUPPORT],
  ['socket', [16, 3, 0], EAFNOSUPPORT],
  ['socket', [17, 3, 0], EAFNOSUPPORT],
  ['socket', [40, 1, 0], EAFNOSUPPORT],
  ['socket', [38, 5, 0], EAFNOSUPPORT],
  ['socketpair', [1, 1, 0], ACTIONS.allow],
  ['socketpair', [30, 1, 0], EAFNOSUPPORT],
  ['ioctl', [0, 0x5401], ACTIONS.allow],
  ['ioctl', [0, 0x5412], EPERM],
  ['ioctl', [0, 0x541c], EPERM],
  ['personality', [0xffff_ffff], ACTIONS.allow],
  ['personality', [0], ACTIONS.allow],
  ['personality', [0x0004_0000], EPERM],
  ['fchmod', [3, 0o755], ACTIONS.allow],
  ['fchmod', [3, 0o4755], EPERM],
  ['fchmodat', [3, 0, 0o1777], ACTIONS.allow],
  ['fchmodat', [3, 0, 0o2755], EPERM],
  ['mknodat', [3, 0, 0o104755], EPERM],
  ['mknodat', [3, 0, 0o010644], ACTIONS.allow],
  ['openat', [3, 0, 0o101, 0o644], ACTIONS.allow],
  ['openat', [3, 0, 0o101, 0o4755], EPERM],
  ['openat', [3, 0, 0o20_200_001, 0o6755], EPERM],
  // Without O_CREAT the kernel ignores the mode, and callers may pass any value.
  ['openat', [3, 0, 0, 0o6000], ACTIONS.allow],
])('%s %j is answered with %i on both processors', (name, args, expected) => {
  for (const architecture of ARCHITECTURES) expect(answer(architecture, name, args)).toBe(expected >>> 0);
});

test.each<[string, readonly number[]]>([
  ['chmod', [0, 0o4755]],
  ['creat', [0, 0o2755]],
  ['mknod', [0, 0o104755]],
  ['open', [0, 0o101, 0o4755]],
])('%s with set-id bits is refused on x86-64 and does not exist on arm64', (name, args) => {
  expect(answer('x64', name, args)).toBe(EPERM);
  expect(answer('arm64', name, args)).toBeUndefined();
});
