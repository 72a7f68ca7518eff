import { readdirSync, readFileSync } from 'node:fs';

const O_CLOEXEC = 0o2_000_000;
const FIRST_AFTER_STANDARD = 3;

/**
 * Descriptors of this process that every child would get too: whoever started the layer left them open. They are not
 * closed, since an embedding program may need them; the launcher covers them instead.
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
