import type { Printer } from './printer.ts';

/** How an answer that is a list is printed. */
export interface ListTemplate<A> {
  readonly head: readonly string[];
  readonly rows: (answer: A) => readonly (readonly string[])[];
  /** Printed when there are no rows. */
  readonly empty?: string;
  /** Option that asks for the next page; printed when the answer has `next`. */
  readonly more?: string;
}

/** Prints a list as a table, and the option for the next page. */
export function list<A extends object>({
  head,
  rows,
  empty,
  more,
}: ListTemplate<A>): (answer: A, print: Printer) => void {
  return (answer, print) => {
    const found = rows(answer);
    if (found.length === 0 && empty !== undefined) {
      print.note(empty);
      return;
    }
    print.table(head, found);
    if (more !== undefined && 'next' in answer && answer.next !== undefined) print.note(`More: ${more} ${answer.next}`);
  };
}

/** Prints each member of an answer on a line of its own. */
export function members(answer: object, print: Printer): void {
  for (const [name, value] of Object.entries(answer)) print.line(`${name}: ${wordsOf(value)}`);
}

/** Text unchanged, anything else as JSON. */
export const wordsOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
