import { hash, timingSafeEqual } from 'node:crypto';
import { systemClock } from '@sallyport/std/clock';

/** Compares sent login codes with the right one, slowly enough that none can be guessed. */
export interface CodeGuesses {
  /** Why a code does not count; undefined when it is right. */
  fault(code: string): string | undefined;
}

/** Wrong codes within a window; more are refused unread, and so is the right one. */
const WRONG_MAX = 5;
const WINDOW_MS = 60_000;

/** @param right letters and digits; case, spaces and dashes do not count */
export function createCodeGuesses(right: string): CodeGuesses {
  const wanted = digest(right);
  let wrong: readonly number[] = [];
  return {
    fault: (code) => {
      const now = systemClock.monotonic();
      wrong = wrong.filter((at) => now - at < WINDOW_MS);
      if (wrong.length >= WRONG_MAX) return 'Too many wrong codes came. Wait a minute, then try again.';
      if (timingSafeEqual(digest(code), wanted)) return undefined;
      wrong = [...wrong, now];
      return 'This is not the login code. It is on the terminal of sallyport auth dev, and new at each start.';
    },
  };
}

const digest = (code: string): Buffer => hash('sha256', code.toUpperCase().replaceAll(/[\s-]/g, ''), 'buffer');
