import { SYSCALL_NUMBERS } from '../../../linux/syscall-numbers.ts';
import { branch, encode, give, type Instruction, load } from './bpf.ts';
import {
  ALLOWED,
  type ArgumentRule,
  type ArgumentTest,
  REFUSED,
  type Refusal,
  RULES,
  UNCOUNTED_RULES,
} from './policy.ts';

/** Processors that the filter supports. */
export type Architecture = 'x64' | 'arm64';

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h. */
export const AUDIT_ARCHITECTURES = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const;

/** SECCOMP_RET_* of linux/seccomp.h. */
export const ACTIONS = { allow: 0x7fff_0000, kill: 0x8000_0000, refuse: 0x0005_0000 } as const;

/** Error numbers, equal on both processors. */
export const ERROR_NUMBERS: Readonly<Record<Refusal, number>> = {
  EPERM: 1,
  ENOSYS: 38,
  EAFNOSUPPORT: 97,
  unheeded: 0,
};

/** Byte offsets in `struct seccomp_data`. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const ARGUMENTS_AT = 16;
const ARGUMENT_BYTES = 8;
/** Numbers from here on belong to the x32 calling convention, which would bypass every comparison below. */
const X32_BIT = 0x4000_0000;

/** Decision for a range of call numbers, from `first` to the next entry's `first`. */
interface NumberRange {
  readonly first: number;
  readonly key: string;
  readonly code: readonly Instruction[];
}

/**
 * The allow list of `policy.ts` as a program for the kernel: a call in another calling convention ends the process, an
 * unlisted call is answered as unknown (ENOSYS).
 * @param isCounted true when control groups count the memory that the kernel holds for a tool. Default true; otherwise
 *   more is refused (`UNCOUNTED_RULES`)
 */
export function compileFilter(architecture: Architecture, isCounted = true): Buffer {
  const calls = decide(rangesOf(architecture, isCounted));
  const known = [load(NUMBER_AT), ...(architecture === 'x64' ? killX32(calls) : calls)];
  return encode([
    load(ARCHITECTURE_AT),
    ...branch('jumpIfEqual', AUDIT_ARCHITECTURES[architecture], known, give(ACTIONS.kill)),
  ]);
}

function killX32(calls: readonly Instruction[]): readonly Instruction[] {
  return branch('jumpIfAtLeast', X32_BIT, give(ACTIONS.kill), calls);
}

/** Binary search, so that the last call costs no more than the first. */
function decide(ranges: readonly NumberRange[]): readonly Instruction[] {
  const [only, ...others] = ranges;
  if (only === undefined) return refusal('ENOSYS');
  if (others.length === 0) return only.code;
  const middle = Math.ceil(ranges.length / 2);
  const upper = ranges.slice(middle);
  const pivot = upper[0]?.first ?? 0;
  return branch('jumpIfAtLeast', pivot, decide(upper), decide(ranges.slice(0, middle)));
}

function rangesOf(architecture: Architecture, isCounted: boolean): NumberRange[] {
  const byNumber = new Map<number, { key: string; code: readonly Instruction[] }>();
  const put = (name: string, key: string, code: readonly Instruction[]): void => {
    const number = SYSCALL_NUMBERS[name]?.[architecture];
    if (number !== undefined) byNumber.set(number, { key, code });
  };
  for (const name of ALLOWED) put(name, 'allow', give(ACTIONS.allow));
  for (const name of REFUSED) put(name, 'EPERM', refusal('EPERM'));
  for (const [name, rule] of Object.entries(isCounted ? RULES : { ...RULES, ...UNCOUNTED_RULES }))
    put(name, name, ruleCode(rule));
  return mergeRuns(byNumber);
}

function mergeRuns(byNumber: ReadonlyMap<number, { key: string; code: readonly Instruction[] }>): NumberRange[] {
  const unknown = { key: 'ENOSYS', code: refusal('ENOSYS') };
  const ranges: NumberRange[] = [];
  const last = Math.max(...byNumber.keys());
  for (let number = 0; number <= last + 1; number += 1) {
    const found = byNumber.get(number) ?? unknown;
    if (ranges.at(-1)?.key !== found.key) ranges.push({ first: number, ...found });
  }
  return ranges;
}

function ruleCode(rule: ArgumentRule): readonly Instruction[] {
  const refused = refusal(rule.refusal);
  const allowed = give(ACTIONS.allow);
  if (rule.allowOnlyWhen !== undefined) return allOf(rule.allowOnlyWhen, allowed, refused);
  return allOf(rule.refuseWhen ?? [], refused, allowed);
}

function allOf(
  tests: readonly ArgumentTest[],
  then: readonly Instruction[],
  otherwise: readonly Instruction[],
): readonly Instruction[] {
  return tests.reduceRight<readonly Instruction[]>((next, test) => testCode(test, next, otherwise), then);
}

function testCode(
  { argument, anyBit, oneOf }: ArgumentTest,
  then: readonly Instruction[],
  otherwise: readonly Instruction[],
): readonly Instruction[] {
  const loaded = load(ARGUMENTS_AT + argument * ARGUMENT_BYTES);
  if (anyBit !== undefined) return [loaded, ...branch('jumpIfAnyBit', anyBit, then, otherwise)];
  const comparisons = (oneOf ?? []).reduceRight<readonly Instruction[]>(
    (next, value) => branch('jumpIfEqual', value, then, next),
    otherwise,
  );
  return [loaded, ...comparisons];
}

function refusal(name: Refusal): readonly Instruction[] {
  return give(ACTIONS.refuse | ERROR_NUMBERS[name]);
}
