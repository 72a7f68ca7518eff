import type { LogListener } from '../../domain/invocation/log-message.ts';
import type { AskedClient } from '../../domain/questions/client-question.ts';

/** A running call from the point of view of its server's questions and log messages. */
export interface Asker {
  readonly invocationId: string;
  /** The client that is asked, equal for all calls of one client; undefined when nobody can be asked. */
  readonly client: string | undefined;
  /** What that client can be asked, as MCP's capabilities of a client. */
  readonly can?: AskedClient['can'] | undefined;
  /** Agent and user of the call; undefined when they are not known. */
  readonly owner?: string | undefined;
  /** Receives the log messages of the call. */
  readonly logs?: LogListener | undefined;
  /** Wraps the wait for the client. */
  whileAsking?<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
  /** Called when a question that may belong to this call was not put to the client, or got no usable answer. */
  onUnasked?(why: string): void;
}

/** The calls that a server may ask for. */
export interface Askers {
  /** Calls that wait for their result, oldest first. */
  readonly running: readonly Asker[];
  /** Recently abandoned calls: the server may not have stopped at once. */
  readonly gone: readonly Asker[];
  /** Owners of calls that were answered within a minute, undefined for one that is not known; two at most. */
  readonly ended: readonly (string | undefined)[];
}
