import type { Pool, QueryResult, QueryResultRow } from 'pg';

/** A statement over rows that are given to it as texts: for one row, and for any number. */
export interface GivenStatement {
  readonly one: { readonly name: string; readonly text: string };
  readonly many: { readonly name: string; readonly text: string };
}

/**
 * A lonely row is given as a row of values: how many rows an array holds is looked at each time, and such a statement is
 * planned anew for each, which costs more than its work.
 * @param columns how many texts a row has
 * @param text the statement around the rows, which it names
 */
export function overGivenRows(name: string, columns: number, text: (given: string) => string): GivenStatement {
  const parameters = Array.from({ length: columns }, (_, at) => `$${at + 1}::text`);
  return {
    one: { name: `${name}-one`, text: text(`(values (${parameters.join(', ')}))`) },
    many: { name: `${name}-many`, text: text(`unnest(${parameters.map((each) => `${each}[]`).join(', ')})`) },
  };
}

/** @param columns for each column the texts of all rows */
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
