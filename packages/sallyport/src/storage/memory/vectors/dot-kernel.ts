// Hot path: a search over 100 000 tools multiplies 50 million pairs of numbers here.

/**
 * Dot products of 16-bit vectors with one 16-bit vector, all in one memory.
 * @param rows address of `count` addresses of vectors, each a 32-bit number
 * @param bytes length of a vector, a multiple of {@link KERNEL_BYTES}
 * @param out address for `count` sums, each a signed 32-bit number
 */
export type DotKernel = (rows: number, count: number, query: number, bytes: number, out: number) => void;

/** Vectors are padded with zeros to a multiple of this many bytes. */
export const KERNEL_BYTES = 32;

/** Memory that the kernel can read. It only grows, and then gets a new buffer. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  /** @param pages of 64 KiB */
  grow(pages: number): number;
}

/** The memory of a kernel and its function. */
export interface Kernel {
  readonly memory: KernelMemory;
  /** Sums must fit into 32 bits: the caller scales its vectors so that they do. */
  readonly dot: DotKernel;
}

/** A kernel with its own memory of `pages` pages of 64 KiB. */
export function createKernel(pages: number): Kernel {
  const memory = new WebAssembly.Memory({ initial: pages, maximum: PAGES_MAX });
  compiled ??= new WebAssembly.Module(
    Uint8Array.from([...HEADER, ...TYPES, ...IMPORTS, ...FUNCTIONS, ...EXPORTS, ...CODE]),
  );
  const { exports } = new WebAssembly.Instance(compiled, { e: { m: memory } });
  return { memory, dot: exports['d'] as DotKernel };
}

/** 4 GiB. */
const PAGES_MAX = 65_536;

/** The part of WebAssembly used here; Node's typings leave it to those of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: Record<string, Record<string, KernelMemory>>,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => KernelMemory;
};

let compiled: object | undefined;

// WebAssembly core specification 2.0, chapter 5 (binary format). V8 compiles 128-bit integer instructions, which
// JavaScript cannot express: five to ten times faster than a loop over typed arrays.

/** The length takes two bytes in LEB128, which hold 14 bits. */
const section = (id: number, content: readonly number[]): number[] => {
  if (content.length > 0x3fff) throw new RangeError('A section of the kernel is too long.');
  return [id, (content.length & 0x7f) | 0x80, content.length >> 7, ...content];
};

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const I32 = 0x7f;
const V128 = 0x7b;
const TYPES = section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]);
/** Memory `m` of module `e`, of one page at least. */
const IMPORTS = section(2, [1, 1, 0x65, 1, 0x6d, 0x02, 0x00, 1]);
const FUNCTIONS = section(3, [1, 0]);
const EXPORTS = section(7, [1, 1, 0x64, 0x00, 0]);

const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const constant = (value: number): number[] => [0x41, value];
const step = (local: number, by: number): number[] => [...get(local), ...constant(by), ADD, ...set(local)];
const ADD = 0x6a;
const SUBTRACT = 0x6b;
const LESS = 0x49;
const IS_ZERO = 0x45;
const load32 = [0x28, 2, 0];
const store32 = [0x36, 2, 0];
const loadVector = (offset: number): number[] => [0xfd, 0x00, 4, offset];
const zeroVector = [0xfd, 0x0c, ...new Array<number>(16).fill(0)];
const lane = (at: number): number[] => [0xfd, 0x1b, at];
const ADD_VECTORS = [0xfd, 0xae, 0x01];
/** Multiplies eight pairs of 16-bit numbers and adds neighbours: four 32-bit sums. */
const DOT = [0xfd, 0xba, 0x01];
const BLOCK = [0x02, 0x40];
const LOOP = [0x03, 0x40];
const END = 0x0b;
const branch = (depth: number): number[] => [0x0c, depth];
const branchIf = (depth: number): number[] => [0x0d, depth];

const [ROWS, COUNT, QUERY, BYTES, OUT, AT, IN_QUERY, AFTER, EVEN, ODD] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

/** Two sums that do not depend on one another. */
const addProducts = (sum: number, offset: number): number[] => [
  ...get(sum),
  ...get(AT),
  ...loadVector(offset),
  ...get(IN_QUERY),
  ...loadVector(offset),
  ...DOT,
  ...ADD_VECTORS,
  ...set(sum),
];

const BODY = [
  ...[2, 3, I32, 2, V128],
  ...BLOCK,
  ...LOOP,
  ...[...get(COUNT), IS_ZERO, ...branchIf(1)],
  ...[...get(ROWS), ...load32, ...set(AT)],
  ...[...get(AT), ...get(BYTES), ADD, ...set(AFTER)],
  ...[...get(QUERY), ...set(IN_QUERY)],
  ...[...zeroVector, ...set(EVEN), ...zeroVector, ...set(ODD)],
  ...LOOP,
  ...addProducts(EVEN, 0),
  ...addProducts(ODD, 16),
  ...step(AT, KERNEL_BYTES),
  ...step(IN_QUERY, KERNEL_BYTES),
  ...[...get(AT), ...get(AFTER), LESS, ...branchIf(0)],
  END,
  ...[...get(EVEN), ...get(ODD), ...ADD_VECTORS, ...set(EVEN)],
  ...get(OUT),
  ...[...get(EVEN), ...lane(0), ...get(EVEN), ...lane(1), ADD],
  ...[...get(EVEN), ...lane(2), ADD, ...get(EVEN), ...lane(3), ADD],
  ...store32,
  ...step(ROWS, 4),
  ...step(OUT, 4),
  ...[...get(COUNT), ...constant(1), SUBTRACT, ...set(COUNT)],
  ...branch(0),
  END,
  END,
  END,
];
const CODE = section(10, [1, (BODY.length & 0x7f) | 0x80, BODY.length >> 7, ...BODY]);
