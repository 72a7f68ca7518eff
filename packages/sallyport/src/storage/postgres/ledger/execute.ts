import type { PoolClient, Submittable } from 'pg';
import type { AppendStatement } from './append-statements.ts';
import type { BindMessages, Value } from './bind-message.ts';

/** Callbacks for the client while an answer arrives. No result is described, so there are no rows to read. */
interface AnswerHandlers extends Submittable {
  /** The client replaces it to end its timeout. */
  callback(error?: Error | null): void;
  handleCommandComplete(): void;
  handleDataRow(): void;
  handleEmptyQuery(): void;
  handleError(error: Error): void;
  handlePortalSuspended(): void;
  handleReadyForQuery(): void;
  handleRowDescription(): void;
}

/** State of a connection. */
export interface Connected {
  /** Names of the statements prepared there; executed ones are added. */
  readonly names: Set<string>;
  /** Its buffer is free again when an answer came: by then the whole statement was sent. */
  readonly bind: BindMessages;
}

/**
 * Runs a statement on a connection that nobody else uses meanwhile, by the extended query protocol (PostgreSQL manual,
 * 53.2.3): bind, execute and sync in one write, without describing a result, since there is none.
 */
export function execute(
  client: PoolClient,
  { name, text }: AppendStatement,
  values: readonly Value[],
  { names, bind }: Connected,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const handlers: AnswerHandlers = {
    submit(connection) {
      const { stream } = connection;
      const messages = bind(name, values);
      stream.cork();
      try {
        if (!names.has(name)) connection.parse({ name, text, types: [] }, true);
        names.add(name);
        // The client reports the end of a connection separately.
        if (stream.writable) stream.write(messages);
      } finally {
        stream.uncork();
      }
    },
    callback: (error) => (error ? reject(error) : resolve()),
    handleError: (error) => handlers.callback(error),
    handleReadyForQuery: () => handlers.callback(),
    handleCommandComplete: nothing,
    handleDataRow: nothing,
    handleEmptyQuery: nothing,
    handlePortalSuspended: nothing,
    handleRowDescription: nothing,
  };
  client.query(handlers);
  return promise;
}

const nothing = (): void => undefined;
