import { setImmediate } from 'node:timers/promises';
import { KiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ToolManifest } from '../../../../api/schemas/tool-manifest.ts';
import { releaseOf } from '../../foreign/tool-ids.ts';
import type { ImportedTools, OpenApiImporter } from '../../importer.port.ts';
import { asNode, asText, membersOf, type Node } from './document/json.ts';
import { NotImportable } from './document/not-importable.ts';
import { parseDocument } from './document/parse-document.ts';
import { follow } from './document/reference.ts';
import { sourceOf, toolIds } from './operations/names.ts';
import { type ImportContext, type Operation, operationManifest } from './operations/operation-manifest.ts';
import { parseServer, type Server } from './operations/servers.ts';
import { schemaConverter } from './schemas/definitions.ts';
import { type SchemaMeasure, schemaMeasure } from './schemas/measure.ts';

/** Most operations of one document; the rest is listed as skipped. */
const OPERATIONS_MAX = 5000;
/** Largest schema of one manifest as JSON, in UTF-16 units: a bigger one is useless to a model. */
const SCHEMA_CHARS_MAX = 256 * KiB;
/** Operations converted before other work gets a turn. */
const TURN_OPERATIONS = 25;

const METHODS: readonly string[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

/**
 * Turns an OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0 document into manifests of kind `http`. Nothing is downloaded and no file is
 * read: operations that refer outside the document are skipped with that reason.
 * @throws ToolLayerError E3008 for an unreadable document, E3801 for an invalid base URL
 */
export const importOpenApi: OpenApiImporter = async (text, options) => {
  const server = serverGiven(options.baseUrl);
  const document = parseDocument(text);
  const info = asNode(document.root['info']) ?? {};
  const source = options.name ?? sourceOf(asText(info['title']));
  const context: ImportContext = {
    document,
    schemas: schemaConverter(document),
    charsOf: schemaMeasure(),
    source,
    version: releaseOf(String(info['version'] ?? '')),
    server,
  };
  const skipped = webhooksOf(document.root);
  const operations = operationsOf(document.root, skipped);
  const manifests: ToolManifest[] = [];
  const idOf = toolIds(source, options, operations.map(named));
  for (const [index, operation] of operations.entries()) {
    if (index % TURN_OPERATIONS === TURN_OPERATIONS - 1) await setImmediate();
    const made = attempt(operation, idOf, context);
    if ('reason' in made) skipped.push(made);
    else manifests.push(made);
  }
  return { source, manifests, skipped };
};

type Skipped = ImportedTools['skipped'][number];

function serverGiven(baseUrl: string | undefined): Server | undefined {
  if (baseUrl === undefined) return undefined;
  const server = parseServer(baseUrl);
  if (server !== undefined) return server;
  const message = 'must be an absolute http or https address without credentials, query and fragment';
  throw new ToolLayerError('E3801', `The base URL ${message}.`, {
    details: { faults: [{ path: '/base_url', code: 'E3801', keyword: 'format', message }] },
  });
}

function operationsOf(root: Node, skipped: Skipped[]): Operation[] {
  const operations: Operation[] = [];
  for (const [template, value] of membersOf(root['paths'])) {
    if (template.startsWith('x-')) continue;
    const path = pathItem(root, template, value, skipped);
    for (const method of METHODS) {
      const node = asNode(path?.[method]);
      if (path === undefined || node === undefined) continue;
      // A fragment only distinguishes operations of one path in the document; it is never sent.
      const [sent = ''] = template.split('#', 1);
      operations.push({ method: method.toUpperCase(), place: template, template: sent, node, path });
    }
    for (const [method] of membersOf(path?.['additionalOperations'])) {
      skipped.push({ place: `${method} ${template}`, reason: 'its HTTP method is none that the layer sends' });
    }
  }
  for (const { method, place } of operations.splice(OPERATIONS_MAX)) {
    skipped.push({ place: `${method} ${place}`, reason: `the document has more than ${OPERATIONS_MAX} operations` });
  }
  return operations;
}

function pathItem(root: Node, template: string, value: unknown, skipped: Skipped[]): Node | undefined {
  try {
    return follow(root, value);
  } catch (thrown) {
    if (!(thrown instanceof NotImportable)) throw thrown;
    skipped.push({ place: template, reason: thrown.message });
    return undefined;
  }
}

/** Webhooks are calls made by the service, so they cannot be called. */
function webhooksOf(root: Node): Skipped[] {
  return membersOf(root['webhooks']).map(([name]) => ({
    place: `webhook ${name}`,
    reason: 'a webhook is called by the service, not by a client',
  }));
}

function attempt(
  operation: Operation,
  idOf: ReturnType<typeof toolIds>,
  context: ImportContext,
): ToolManifest | Skipped {
  const { method, template } = operation;
  const place = `${method} ${operation.place}`;
  try {
    if (!isTemplate(template)) throw new NotImportable('its path holds . or .. or ? or starts without /');
    const manifest = operationManifest(operation, idOf(named(operation)), context);
    return bounded(manifest, context.charsOf);
  } catch (thrown) {
    if (!(thrown instanceof NotImportable)) throw thrown;
    return { place, reason: thrown.message };
  }
}

const named = (operation: Operation) => ({ ...operation, operationId: asText(operation.node['operationId']) });

function isTemplate(template: string): boolean {
  const segments = template.split('/');
  return template.startsWith('/') && !/[?\s\\]/.test(template) && !segments.some((one) => one === '.' || one === '..');
}

/** Drops the result schema when it is too large; the parameters' schema cannot be dropped. */
function bounded(manifest: ToolManifest, charsOf: SchemaMeasure): ToolManifest {
  const chars = charsOf(manifest.parameters_schema);
  if (chars > SCHEMA_CHARS_MAX) {
    throw new NotImportable(`the schema of its parameters has ${chars} characters, more than ${SCHEMA_CHARS_MAX}`);
  }
  if (charsOf(manifest.result_schema ?? {}) <= SCHEMA_CHARS_MAX) return manifest;
  const { result_schema: _, ...rest } = manifest;
  return rest;
}
