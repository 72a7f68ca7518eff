/** One classic BPF instruction (linux/filter.h `struct sock_filter`). Jumps count instructions to skip. */
export interface Instruction {
  readonly code: number;
  readonly ifTrue: number;
  readonly ifFalse: number;
  readonly value: number;
}

/** Size of one instruction in a program. */
export const INSTRUCTION_BYTES = 8;
/** Longest program that the kernel takes (BPF_MAXINSNS). */
export const INSTRUCTIONS_MAX = 4096;
const SHORT_JUMP_MAX = 255;

/** BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JA, BPF_JMP|(JEQ, JGE, JSET)|BPF_K, BPF_RET|BPF_K. */
export const OPCODES = {
  load: 0x20,
  jump: 0x05,
  jumpIfEqual: 0x15,
  jumpIfAtLeast: 0x35,
  jumpIfAnyBit: 0x45,
  give: 0x06,
} as const;

export type Comparison = 'jumpIfEqual' | 'jumpIfAtLeast' | 'jumpIfAnyBit';

/** Loads 32 bits of `struct seccomp_data` at a byte offset. */
export function load(offset: number): Instruction {
  return { code: OPCODES.load, ifTrue: 0, ifFalse: 0, value: offset };
}

/** Ends the program with an action. */
export function give(action: number): readonly Instruction[] {
  return [{ code: OPCODES.give, ifTrue: 0, ifFalse: 0, value: action }];
}

/**
 * Runs `then` when the comparison of the loaded value with `value` holds, else `otherwise`. Both must end the program
 * themselves.
 */
export function branch(
  comparison: Comparison,
  value: number,
  then: readonly Instruction[],
  otherwise: readonly Instruction[],
): readonly Instruction[] {
  const code = OPCODES[comparison];
  if (otherwise.length <= SHORT_JUMP_MAX) {
    return [{ code, ifTrue: otherwise.length, ifFalse: 0, value }, ...otherwise, ...then];
  }
  // A conditional jump has 8 bits; longer distances use an unconditional jump, which has 32.
  const far: Instruction = { code: OPCODES.jump, ifTrue: 0, ifFalse: 0, value: otherwise.length };
  return [{ code, ifTrue: 0, ifFalse: 1, value }, far, ...otherwise, ...then];
}

/** The bytes that the kernel reads, in the byte order of x86-64 and arm64 Linux. */
export function encode(program: readonly Instruction[]): Buffer {
  if (program.length > INSTRUCTIONS_MAX) {
    throw new RangeError(`a filter has at most ${INSTRUCTIONS_MAX} instructions, this one has ${program.length}`);
  }
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  program.forEach(({ code, ifTrue, ifFalse, value }, index) => {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(ifTrue, at + 2);
    bytes.writeUInt8(ifFalse, at + 3);
    bytes.writeUInt32LE(value, at + 4);
  });
  return bytes;
}
