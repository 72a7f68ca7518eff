import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { DatabaseError } from 'pg';
import { rowTaken } from '../../domain/invocation/rows-of-batch.ts';

/**
 * Does work in the database, and turns every failure into one error.
 * @param action what was tried, to follow "could not"
 * @throws ToolLayerError E3812; the message says what to change, the cause is the database's own error
 */
export async function inDatabase<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw databaseError(action, error);
  }
}

/** The layer's error for any error from the database or the connection to it. */
export function databaseError(action: string, error: unknown): ToolLayerError {
  if (error instanceof ToolLayerError) return error;
  if (isRowTaken(error)) return rowTaken();
  return new ToolLayerError('E3812', `The database could not ${action}: ${reasonOf(error)}`, { cause: error });
}

/** The append sets the document of a row that it must not replace to null, which the table refuses. */
const isRowTaken = (error: unknown): boolean =>
  error instanceof DatabaseError && error.table === 'tool_invocations' && error.column === 'record';

function reasonOf(error: unknown): string {
  if (!(error instanceof DatabaseError)) return UNREACHABLE;
  const { code = '', constraint, column } = error;
  if (constraint === 'audit_events_chain_place' || column === 'first_seq') return PLACE_TAKEN;
  return (
    REASONS[code] ??
    CLASSES[code.slice(0, 2)] ??
    `it refused with SQLSTATE ${code}. The operator finds the cause in the log.`
  );
}

/** Why an event was refused: another event has its position in the chain. */
export const PLACE_TAKEN = 'the place in the hash chain is taken. Two writers use one chain id; give each its own.';

const UNREACHABLE = 'it cannot be reached or does not answer. Check that it runs and that its address is right.';
const TRY_AGAIN = 'it was busy with the same rows. Try again.';

/** By SQLSTATE (PostgreSQL manual, appendix A). */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'the password is wrong. Correct SALLYPORT_DATABASE_URL.',
  '28000': 'this user may not connect. Correct SALLYPORT_DATABASE_URL or the rules of the server.',
  '3D000': 'the database does not exist. Make it, or correct SALLYPORT_DATABASE_URL.',
  '42501': 'the user lacks a privilege. Grant it all rights on schema sallyport.',
  '40001': TRY_AGAIN,
  '40P01': TRY_AGAIN,
  '53100': 'its disk is full. Free some space.',
  '53300': 'it has no connection left. Raise its max_connections or lower the pool of the layer.',
  '55000': 'the object of the checkpoint took too long to be written. Try again.',
  '25006': 'it is read-only. Connect to the primary server.',
};

/** By class of SQLSTATE. */
const CLASSES: Readonly<Record<string, string>> = {
  '08': UNREACHABLE,
  '57': 'it is starting, stopping or gave up the query. Try again.',
  '53': 'it is out of a resource. Look into its log.',
  '58': 'its files cannot be read or written. Look into its log.',
};
