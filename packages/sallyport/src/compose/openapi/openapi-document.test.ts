import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { validate } from '@readme/openapi-parser';
import { expect, it } from 'vitest';
import { OPERATIONS, type OperationEntry } from '../../operations/catalogue.ts';
import { VERSION } from '../version.ts';
import { openApiDocument } from './openapi-document.ts';

type Operation = {
  operationId: string;
  security?: unknown[];
  responses: object;
  parameters?: { name: string; in: string }[];
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};

// As a client receives it: through JSON.
const text = JSON.stringify(openApiDocument('1.2.3'));
const document = JSON.parse(text) as Document;

it('API-01.7 is a valid OpenAPI 3.1 document', async () => {
  expect(await validate(JSON.parse(text))).toEqual({ valid: true, warnings: [], specification: 'OpenAPI' });
});

it('API-01.7 has each operation of the table once, and no other', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  );
  const wanted = Object.entries<OperationEntry>(OPERATIONS).map(
    ([name, { method, path }]) => `${name} ${method} ${path}`,
  );
  expect(described.sort()).toEqual(wanted.sort());
});

it('schemas with a title are components, and every reference leads to one', () => {
  const names = Object.keys(document.components.schemas);
  expect(names).toEqual(
    expect.arrayContaining(['ToolManifest', 'ToolInvokeRequest', 'ProblemDetails', 'CloudEvent10']),
  );
  for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) expect(names).toContain(name);
  expect(names.every((name) => text.includes(`"#/components/schemas/${name}"`))).toBe(true);
});

it('members that are not in the body are parameters of path or query', () => {
  const parameters = document.paths['/v1/tools/{tool_id}']?.['get']?.parameters?.map(({ name, in: place }) => [
    name,
    place,
  ]);
  expect(parameters).toEqual([
    ['tool_id', 'path'],
    ['version', 'query'],
  ]);
});

it('only open operations need no token', () => {
  const open = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ security }) => security !== undefined);
  // The answer to an approval needs no token, because its body contains a credential.
  expect(open.map(({ operationId }) => operationId)).toEqual(['approvals.answer', 'keys.published', 'health']);
});

it('API-01.7 is the document that the package holds', () => {
  const published = fileURLToPath(new URL('../../../api/openapi.json', import.meta.url));
  expect(openApiDocument(VERSION)).toEqual(JSON.parse(readFileSync(published, 'utf8')));
  expect(document).toMatchObject({ info: { version: '1.2.3' } });
});
