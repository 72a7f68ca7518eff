import type { AskedClient } from '../../elicitation.port.ts';
import type { KnownCaller } from './caller-credentials.ts';

/** Whose connection a call gets. */
export interface ClientPlace extends Disposable {
  readonly caller: KnownCaller;
  /** No other call is on that connection as long as this one runs. */
  readonly isExclusive: boolean;
}

/** Tells the connections of clients apart, so that a question of the server belongs to one client whatever call it is for. */
export interface ClientPlaces {
  /** @param client undefined: calls of the caller share a connection */
  take(caller: KnownCaller, client: AskedClient | undefined): ClientPlace;
}

/**
 * The calls of one session share a connection. Of a client without sessions nobody knows which calls are of one client: each
 * of its calls that run at once has a connection alone, and one that is free is used again.
 */
export function createClientPlaces(): ClientPlaces {
  const taken = new Set<string>();
  const placeOf = ({ identity, key, values }: KnownCaller, name: string): KnownCaller => ({
    identity: `${identity} ${name}`,
    key: `${key} ${name}`,
    values,
  });
  return {
    take(caller, client) {
      const shared = { isExclusive: false, [Symbol.dispose]: () => {} };
      if (client === undefined) return { caller, ...shared };
      if (client.session !== undefined) return { caller: placeOf(caller, `session ${client.session}`), ...shared };
      let at = 0;
      while (taken.has(`${caller.key} ${at}`)) at += 1;
      const place = `${caller.key} ${at}`;
      taken.add(place);
      return {
        caller: placeOf(caller, `place ${at}`),
        isExclusive: true,
        [Symbol.dispose]: () => void taken.delete(place),
      };
    },
  };
}
