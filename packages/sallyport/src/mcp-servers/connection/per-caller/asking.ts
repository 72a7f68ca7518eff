import type { Askers } from '../../incoming/asker.ts';
import type { KnownCaller } from './caller-credentials.ts';

/**
 * Keeps the connections of clients apart once a server asks without saying for which call, so that a question belongs to one
 * client whatever call it is for.
 */
export interface Asking {
  /** The server asked on the connection that all clients shared until then. */
  onAsks(askers: Askers): void;
  /** The server asked on a connection of one caller. */
  onAsksApart(): void;
  /** Whether calls of this client use the shared connection. @param client undefined: nobody can be asked there */
  sharesWith(client: string | undefined): boolean;
  /** Whose connection a call uses that does not use the shared one. @param caller undefined where connections have no credentials */
  placeOf(caller: KnownCaller | undefined, client: string | undefined): KnownCaller;
}

/** The server has asked nothing yet. */
export function createAsking(): Asking {
  let hasAsked = false;
  /** The client that keeps the shared connection, and the state that the server has there; undefined: calls without a client do. */
  let keeper: string | undefined;
  return {
    onAsks({ running, gone }) {
      if (hasAsked) return;
      hasAsked = true;
      const clients = new Set([...running, ...gone].map(({ client }) => client));
      // Where calls of several run, a question may come yet for each of them, and would be shown to the one that stays.
      keeper = clients.size === 1 ? [...clients][0] : undefined;
    },
    onAsksApart() {
      hasAsked = true;
    },
    sharesWith: (client) => !hasAsked || client === keeper,
    placeOf(caller, client) {
      if (caller !== undefined && (!hasAsked || client === undefined)) return caller;
      const { identity, key, values } = caller ?? ANYBODY;
      const name = client ?? 'no client';
      return { identity: `${identity} ${name}`, key: `${key} ${name}`, values };
    },
  };
}

/** Without credentials connections differ by client alone. */
const ANYBODY: KnownCaller = { identity: '', key: '', values: new Map() };
