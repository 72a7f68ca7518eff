// Hot path: the messages of one statement, and what comes back.
import type { Connection, PoolClient, Submittable } from 'pg';
import type { AppendStatement } from './append-statements.ts';

/** A parameter in text form. */
export type Value = string | null;

/** What the client calls while an answer comes in. Nothing is described, so there are no rows to read. */
interface AnswerHandlers extends Submittable {
  /** The client replaces it by one that ends its timeout. */
  callback(error?: Error | null): void;
  handleCommandComplete(): void;
  handleDataRow(): void;
  handleEmptyQuery(): void;
  handleError(error: Error): void;
  handlePortalSuspended(): void;
  handleReadyForQuery(): void;
  handleRowDescription(): void;
}

/**
 * Runs a statement on a connection that nobody else uses meanwhile, by the extended query protocol (PostgreSQL manual,
 * 53.2.3): bind, execute and sync in one write, without describing a result that is not there.
 * @param prepared names of the statements that this connection knows; this one is added
 */
export function execute(
  client: PoolClient,
  { name, text }: AppendStatement,
  values: readonly Value[],
  prepared: Set<string>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const handlers: AnswerHandlers = {
    submit(connection) {
      connection.stream.cork();
      try {
        if (!prepared.has(name)) connection.parse({ name, text, types: [] }, true);
        prepared.add(name);
        send(connection, name, values);
      } finally {
        connection.stream.uncork();
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

function send(connection: Connection, statement: string, values: readonly Value[]): void {
  connection.bind({ statement, values: [...values] }, true);
  connection.execute(null, true);
  connection.sync();
}

const nothing = (): void => undefined;
