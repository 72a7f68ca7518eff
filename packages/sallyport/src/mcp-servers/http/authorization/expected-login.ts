import type { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { AuthorizationContext } from './context.ts';

/** How often an instance looks whether a login was ended elsewhere, ms. */
const LOOK_MS = 1_000;
/** Looks after the redirect came to another instance, before its exchange for tokens counts as failed. */
const LOOKS_MAX = 20;

/** A login that a person was asked for at their client. */
export interface ExpectedLogin extends Disposable {
  /**
   * Resolves once the holder is logged in, wherever the login is ended, and once that seems to have failed elsewhere.
   * @throws the signal's reason; why the login failed, where this instance ended it
   */
  finished(signal: AbortSignal): Promise<void>;
}

/**
 * The login that waits for its redirect now; one that is over already is finished.
 * @param ends emits the state of each login that this instance ends, with the error of one that failed
 */
export async function expectedLogin({ held }: AuthorizationContext, ends: EventEmitter) {
  const { login, tokens: before } = (await held.read()).value;
  const state = login?.state ?? '';
  const { promise: ended, resolve } = Promise.withResolvers<{ readonly failed: unknown }>();
  const onEnded = (failed?: unknown): void => resolve({ failed });
  if (login !== undefined) ends.on(state, onEnded);
  const expected: ExpectedLogin = {
    async finished(signal) {
      for (let looks = 0; login !== undefined && looks < LOOKS_MAX; ) {
        const { login: pending, tokens } = (await held.read()).value;
        const isTaken = pending?.state !== state;
        if (isTaken && tokens?.access !== before?.access) return;
        if (isTaken) looks += 1;
        const waited = pause(LOOK_MS, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted());
        const end = await Promise.race([ended, waited]);
        if (end?.failed !== undefined) throw end.failed;
        if (end !== undefined) return;
      }
    },
    [Symbol.dispose]: () => void ends.off(state, onEnded),
  };
  return { login, expected };
}
