import { readdirSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { strictAjv } from '../../../../test/strict-ajv.ts';

const FOLDER = new URL('../schemas/', import.meta.url);

/** Every schema of the contract, by name. */
const SCHEMAS = await allSchemas();

/**
 * The only open objects: documents of others, maps with places as keys, and events, tokens and details that may grow.
 */
const OPEN = ['ArgumentContents', 'JsonSchemaDocument', 'JsonObject', 'CapabilityClaims', 'InvocationEventData'];

test('the contract is there', () => {
  expect(SCHEMAS.length).toBeGreaterThan(80);
  expect(new Set(SCHEMAS.map(([name]) => name)).size).toBe(SCHEMAS.length);
});

test.each(SCHEMAS)('%s is a sound JSON Schema 2020-12', (_, schema) => {
  expect(() => strictAjv().compile(structuredClone(schema))).not.toThrow();
});

test.each(SCHEMAS)('%s is plain JSON, so that it can be published as it is', (_, schema) => {
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
});

test('objects are closed: an unknown member is a fault, never ignored', () => {
  const open = SCHEMAS.filter(([, schema]) => {
    const { type, additionalProperties } = schema as { type?: string; additionalProperties?: unknown };
    return type === 'object' && additionalProperties !== false;
  });
  expect(open.map(([name]) => name).sort()).toEqual([...OPEN].sort());
});

/** The one member name that is not ours: desktop clients use it in their configuration files. */
const THEIRS = ['mcpServers'];

test('members are in snake_case, those of events in the lower case of CloudEvents', () => {
  const names = SCHEMAS.flatMap(([, schema]) => Object.keys((schema as { properties?: object }).properties ?? {}));
  expect(names.filter((name) => !/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(name))).toEqual(THEIRS);
});

async function allSchemas(): Promise<[string, TSchema][]> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const modules = await Promise.all(
    files.map((name): Promise<Record<string, TSchema>> => import(new URL(name, FOLDER).href)),
  );
  return modules.flatMap((module) => Object.entries(module));
}
