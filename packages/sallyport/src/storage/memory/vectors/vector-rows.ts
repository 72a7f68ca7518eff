import { KiB, MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { createKernel, KERNEL_BYTES, type KernelMemory } from './dot-kernel.ts';

/** Vectors of one length, each in a row of one memory. */
export interface VectorRows {
  /** Size of the memory in bytes. */
  bytes(): number;
  /**
   * Puts a vector of norm 1 into a free row and returns its address.
   * @throws ToolLayerError E3810 when the memory is full
   */
  add(vector: Float32Array): number;
  /** Replaces the vector in a row. */
  replace(address: number, vector: Float32Array): void;
  /** Frees a row. */
  remove(address: number): void;
  /** For each row, its cosine with the nearest of the queries, -1 to 1, exact to 0.0001. */
  nearest(queries: readonly Float32Array[], addresses: Uint32Array): Float32Array;
}

const PAGE_BYTES = 64 * KiB;
/** Addresses have 32 bits. */
const BYTES_MAX = 4096 * MiB - PAGE_BYTES;
/** Smallest growth of the memory. */
const GROWTH_BYTES_MIN = 1 * MiB;
/**
 * Scale of a component. The partial sums of a product of two vectors of norm 1 never exceed its square, which fits into
 * 32 bits.
 */
const SCALE = 32_000;
/** Rows of one call of the kernel: they stay in the processor's cache for the next query. */
const ROWS_AT_ONCE = 512;

/** Places of the addresses, the sums and the query of a call; rows follow. */
const ADDRESSES_AT = 0;
const SUMS_AT = ROWS_AT_ONCE * 4;
const QUERY_AT = SUMS_AT * 2;

/** Creates rows for vectors of `dimensions` numbers, all free. */
export function createVectorRows(dimensions: number): VectorRows {
  const rowBytes = Math.ceil((dimensions * 2) / KERNEL_BYTES) * KERNEL_BYTES;
  const firstRow = Math.ceil((QUERY_AT + rowBytes) / KERNEL_BYTES) * KERNEL_BYTES;
  const { memory, dot } = createKernel(Math.ceil((firstRow + rowBytes) / PAGE_BYTES));
  const free: number[] = [];
  let next = firstRow;

  const write = (address: number, vector: Float32Array): void => {
    const row = new Int16Array(memory.buffer, address, rowBytes / 2).fill(0);
    for (let at = 0; at < dimensions; at += 1) row[at] = Math.round((vector[at] ?? 0) * SCALE);
  };
  const reserve = (): number => {
    const reused = free.pop();
    if (reused !== undefined) return reused;
    const address = next;
    grow(memory, address + rowBytes);
    next += rowBytes;
    return address;
  };
  return {
    bytes: () => memory.buffer.byteLength,
    add(vector) {
      const address = reserve();
      write(address, vector);
      return address;
    },
    replace: write,
    remove: (address) => void free.push(address),
    nearest(queries, addresses) {
      const cosines = new Float32Array(addresses.length).fill(-1);
      const given = new Uint32Array(memory.buffer, ADDRESSES_AT, ROWS_AT_ONCE);
      const sums = new Int32Array(memory.buffer, SUMS_AT, ROWS_AT_ONCE);
      for (let from = 0; from < addresses.length; from += ROWS_AT_ONCE) {
        const part = addresses.subarray(from, from + ROWS_AT_ONCE);
        given.set(part);
        for (const query of queries) {
          write(QUERY_AT, query);
          dot(ADDRESSES_AT, part.length, QUERY_AT, rowBytes, SUMS_AT);
          for (let at = 0; at < part.length; at += 1) {
            const cosine = (sums[at] as number) / (SCALE * SCALE);
            if (cosine > (cosines[from + at] as number)) cosines[from + at] = cosine;
          }
        }
      }
      return cosines;
    },
  };
}

function grow(memory: KernelMemory, bytes: number): void {
  const has = memory.buffer.byteLength;
  if (bytes <= has) return;
  const wanted = Math.min(BYTES_MAX, Math.max(bytes, has + GROWTH_BYTES_MIN, has * 1.25));
  if (bytes > wanted) throw full();
  try {
    memory.grow(Math.ceil((wanted - has) / PAGE_BYTES));
  } catch (cause) {
    throw full(cause);
  }
}

const full = (cause?: unknown): ToolLayerError =>
  new ToolLayerError('E3810', 'The vectors of all tools do not fit into memory. Use pgvector: search.vector_index.', {
    ...(cause === undefined ? {} : { cause }),
  });
