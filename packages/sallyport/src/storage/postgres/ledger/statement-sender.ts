// The client's own queries spend more on their options and results than an append does on its rows.
import type { Pool, PoolClient } from 'pg';
import type { AppendStatement } from './append-statements.ts';
import { createBindMessages, type Value } from './bind-message.ts';
import { type Connected, execute } from './execute.ts';

/** Sends statements without result rows; each is prepared once on a connection. */
export interface StatementSender {
  /**
   * Resolves when the transaction is over.
   * @param lane statements of one lane run in the order in which they are sent, one after the other
   * @throws the database's or the connection's error
   */
  send(statement: AppendStatement, values: readonly Value[], lane?: string): Promise<void>;
  /** Waits for running statements and gives the connections back. The pool refuses later statements. */
  close(): Promise<void>;
}

/** A connection and its users. */
interface Seat extends Connected {
  readonly client: PoolClient;
  readonly onLost: () => void;
}

interface Lane {
  readonly seat: Promise<Seat>;
  /** Resolves when the statement that was sent last is over, however it ended. */
  last: Promise<void>;
}

/**
 * Keeps one connection of the pool, so that a single call need not request one; simultaneous lanes take others. A
 * connection on which a statement failed is closed, and later statements on it fail too.
 */
export function createStatementSender(pool: Pool): StatementSender {
  const seats = createSeats(pool);
  const lanes = new Map<string, Lane>();
  const running = new Set<Promise<void>>();

  const run = async (statement: AppendStatement, values: readonly Value[], name: string | undefined): Promise<void> => {
    const known = name === undefined ? undefined : lanes.get(name);
    const lane = known ?? { seat: seats.take(), last: Promise.resolve() };
    if (name !== undefined) lanes.set(name, lane);
    const leave = (): void => {
      if (name !== undefined && lanes.get(name) === lane) lanes.delete(name);
    };
    const earlier = lane.last;
    const { promise: end, resolve: over } = Promise.withResolvers<void>();
    lane.last = end;
    let seat: Seat | undefined;
    try {
      seat = await lane.seat;
      await earlier;
      await execute(seat.client, statement, values, seat);
    } catch (error) {
      leave();
      if (seat !== undefined) seats.close(seat);
      throw error;
    } finally {
      over();
      if (lane.last === end) leave();
    }
    if (lane.last === end) seats.giveBack(seat);
  };

  return {
    send(statement, values, lane) {
      const sent = run(statement, values, lane);
      running.add(sent);
      const done = (): void => void running.delete(sent);
      sent.then(done, done);
      return sent;
    },
    async close() {
      await Promise.allSettled(running);
      seats.end();
    },
  };
}

interface Seats {
  /** The kept connection, or another from the pool. */
  take(): Promise<Seat>;
  giveBack(seat: Seat): void;
  /** Discards a broken connection. Idempotent. */
  close(seat: Seat): void;
  end(): void;
}

function createSeats(pool: Pool): Seats {
  /** By connection, since one that was given back to the pool may be used again. */
  const known = new WeakMap<PoolClient, Connected>();
  const open = new Set<Seat>();
  let kept: Seat | undefined;
  let ended = false;

  const drop = (seat: Seat, isBroken: boolean): void => {
    if (!open.delete(seat)) return;
    if (kept === seat) kept = undefined;
    seat.client.off('error', seat.onLost);
    seat.client.release(isBroken);
  };
  const takeNew = async (): Promise<Seat> => {
    const client = await pool.connect();
    const connected = known.get(client) ?? { names: new Set(), bind: createBindMessages() };
    known.set(client, connected);
    // A running statement gets the error too; without a listener the process would end.
    const seat: Seat = { ...connected, client, onLost: () => (kept === seat ? drop(seat, true) : undefined) };
    client.on('error', seat.onLost);
    open.add(seat);
    return seat;
  };
  return {
    take() {
      const taken = kept;
      kept = undefined;
      return taken === undefined ? takeNew() : Promise.resolve(taken);
    },
    giveBack(seat) {
      if (!open.has(seat)) return;
      if (kept === undefined && !ended && mayKeep(pool)) kept = seat;
      else drop(seat, false);
    },
    close: (seat) => drop(seat, true),
    end() {
      ended = true;
      if (kept !== undefined) drop(kept, false);
    },
  };
}

/** False when it is the pool's only connection, or somebody waits for one. */
const mayKeep = ({ options, waitingCount }: Pool): boolean => options.max > 1 && waitingCount === 0;
