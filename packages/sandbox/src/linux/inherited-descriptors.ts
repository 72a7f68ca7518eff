import { readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2_000_000;
const FIRST_AFTER_STANDARD = 3;

/**
 * Descriptors of this process that every child would inherit, because the program that started the layer left them
 * open. They are not closed, since an embedding program may need them; the launcher covers them instead.
 */
export function inheritableDescriptors(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor >= FIRST_AFTER_STANDARD && isInheritable(descriptor));
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // Closed in between: the descriptor of the listing itself.
    return false;
  }
}

/** Kind of a child's descriptor. */
export type Stdio = 'pipe' | 'ignore' | 'ipc' | number;

/**
 * The stdio of a child that inherits no open descriptors.
 * @param cover put in the place of an inherited descriptor
 */
export function withCover(used: readonly Stdio[], inherited: readonly number[], cover: Stdio): Stdio[] {
  const last = Math.max(used.length - 1, ...inherited);
  return Array.from({ length: last + 1 }, (_, index) => used[index] ?? (inherited.includes(index) ? cover : 'ignore'));
}
