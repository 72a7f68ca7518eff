import type { Caller } from '../../domain/principal/principal.ts';
import type { Watch } from '../mcp-server.ts';

/** Listens with one caller's token at a time, until it is disposed. */
export type OneListener = Pick<Watch, 'listen'> & Disposable;

/**
 * Requests of a client run side by side: a second one may ask to listen while the first one begins to, and the client
 * may leave meanwhile. What was begun for an earlier caller, or for nobody any more, ends then.
 */
export function oneListener(begin: (caller: Caller) => Disposable | undefined | Promise<Disposable | undefined>) {
  let begun: Disposable | undefined;
  let latest = 0;
  let isOver = false;
  const stop = (): void => {
    latest += 1;
    begun?.[Symbol.dispose]();
    begun = undefined;
  };
  return {
    async listen(caller) {
      stop();
      if (caller === undefined || isOver) return;
      const own = latest;
      const fresh = await begin(caller);
      if (own === latest) begun = fresh;
      else fresh?.[Symbol.dispose]();
    },
    [Symbol.dispose]() {
      isOver = true;
      stop();
    },
  } satisfies OneListener;
}
