import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { strictAjv } from './strict-ajv.ts';

const ajv = strictAjv();

/** Adds a test that a schema accepts the good values and refuses the bad ones. */
export function checkSchema(name: string, schema: TSchema, good: readonly unknown[], bad: readonly unknown[]): void {
  const matches = ajv.compile(structuredClone(schema));
  test(`${name} takes what it should and refuses the rest`, () => {
    for (const value of good) expect(matches(value), `${show(value)} ${ajv.errorsText(matches.errors)}`).toBe(true);
    for (const value of bad) expect(matches(value), show(value)).toBe(false);
  });
}

function show(value: unknown): string {
  return JSON.stringify(value).slice(0, 200);
}
