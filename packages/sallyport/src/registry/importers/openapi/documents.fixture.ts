import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import type { HttpOperation } from '../../http-operation.ts';
import type { ImportedTools } from '../../importer.port.ts';
import { importOpenApi } from './openapi-importer.ts';

/** Members of a document. */
export type Members = Record<string, unknown>;

/** Imports a small OpenAPI 3.0 document with a server; `document` replaces members of it. */
export const load = (document: Members, options: Parameters<typeof importOpenApi>[1] = {}): Promise<ImportedTools> =>
  importOpenApi(
    JSON.stringify({
      openapi: '3.0.3',
      info: { title: 'Pet Store', version: '1.2' },
      servers: [{ url: 'https://api.example.com/v1/' }],
      ...document,
    }),
    options,
  );

/** Imports a document with one operation; returns its manifest. */
export async function one(
  operation: Members,
  document: Members = {},
  path = '/pets',
  method = 'get',
): Promise<ToolManifest> {
  const { manifests, skipped } = await load({ paths: { [path]: { [method]: operation } }, ...document });
  const [manifest] = manifests;
  if (manifest === undefined || skipped.length > 0) throw new Error(JSON.stringify(skipped));
  return manifest;
}

/** The HTTP operation of a manifest. */
export const configOf = ({ executor }: ToolManifest): HttpOperation => executor.config as unknown as HttpOperation;
/** The properties of a manifest's arguments. */
export const properties = ({ parameters_schema }: ToolManifest): Members => parameters_schema['properties'] as Members;
