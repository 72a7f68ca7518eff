import type { Pool, QueryResult, QueryResultRow } from 'pg';

/** A statement over rows that it receives as texts: one form for one row, and one for any number. */
export interface GivenStatement {
  readonly one: { readonly name: string; readonly text: string };
  readonly many: { readonly name: string; readonly text: string };
}

/**
 * A single row is passed as a row of values: the number of rows in an array is examined at each execution, and such a
 * statement is planned anew each time, which costs more than its work.
 * @param columns number of texts in a row
 * @param text the statement around the rows, which it names
 */
export function overGivenRows(name: string, columns: number, text: (given: string) => string): GivenStatement {
  const parameters = Array.from({ length: columns }, (_, at) => `$${at + 1}::text`);
  return {
    one: { name: `${name}-one`, text: text(`(values (${parameters.join(', ')}))`) },
    many: { name: `${name}-many`, text: text(`unnest(${parameters.map((each) => `${each}[]`).join(', ')})`) },
  };
}

/** @param columns the texts of all rows, column by column */
export function queryGivenRows<Row extends QueryResultRow>(
  pool: Pool,
  { one, many }: GivenStatement,
  columns: readonly (readonly string[])[],
): Promise<QueryResult<Row>> {
  const isLonely = columns[0]?.length === 1;
  return isLonely
    ? pool.query<Row>({ ...one, values: columns.map(([only]) => only) })
    : pool.query<Row>({ ...many, values: [...columns] });
}
