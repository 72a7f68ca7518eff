import type { Askers } from '../../incoming/asker.ts';
import type { KnownCaller } from './caller-credentials.ts';

/**
 * Separates the connections of clients once a server asks without naming the call, so that a question belongs to one
 * client whatever its call is.
 */
export interface Asking {
  /** The server asked on the connection that all clients shared until then. */
  onAsks(askers: Askers): void;
  /** The server asked on a connection of one caller. */
  onAsksApart(): void;
  /** True when calls of this client use the shared connection. @param client undefined: nobody can be asked there */
  sharesWith(client: string | undefined): boolean;
  /**
   * Owner of the connection for a call that does not use the shared one. @param caller undefined when connections have
   * no credentials
   */
  placeOf(caller: KnownCaller | undefined, client: string | undefined): KnownCaller;
}

/** Makes the state before any question. */
export function createAsking(): Asking {
  let hasAsked = false;
  /**
   * The client that keeps the shared connection, and the server's state there; undefined: calls without a client keep
   * it.
   */
  let keeper: string | undefined;
  return {
    onAsks({ running, gone }) {
      if (hasAsked) return;
      hasAsked = true;
      const clients = new Set([...running, ...gone].map(({ client }) => client));
      // With calls of several clients running, a question may still come for any of them, and would be shown to the
      // client that stays.
      keeper = clients.size === 1 ? [...clients][0] : undefined;
    },
    onAsksApart() {
      hasAsked = true;
    },
    sharesWith: (client) => !hasAsked || client === keeper,
    placeOf(caller, client) {
      if (caller !== undefined && (!hasAsked || client === undefined)) return caller;
      const known = caller ?? ANYBODY;
      const name = client ?? 'no client';
      return { ...known, identity: `${known.identity} ${name}`, key: `${known.key} ${name}` };
    },
  };
}

/** Without credentials, connections differ by client alone. */
const ANYBODY: KnownCaller = { identity: '', key: '', values: new Map() };
