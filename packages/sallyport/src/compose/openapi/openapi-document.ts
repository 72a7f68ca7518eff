import type { TSchema } from 'typebox';
import { ProblemDetails } from '../../../api/schemas/error.ts';
import { OPERATIONS, type OperationEntry } from '../../operations/catalogue.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The OpenAPI 3.1 document of the REST door, derived from the operation table. Schemas with a title become components;
 * all others are inline.
 * @param version of the product
 */
export function openApiDocument(version: string): object {
  const components = new Map<string, Json>();
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, entry] of Object.entries<OperationEntry>(OPERATIONS)) {
    const operation = { [entry.method.toLowerCase()]: operationOf(name, entry, components) };
    paths[entry.path] = { ...paths[entry.path], ...operation };
  }
  const problem = referring(ProblemDetails, components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sallyport',
      version,
      summary: 'The tool execution layer for AI agents.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    security: [{ capabilityToken: [] }, { apiKey: [] }],
    paths,
    components: {
      securitySchemes: {
        capabilityToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A capability token.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key of the layer.' },
      },
      responses: {
        Problem: {
          description: 'What was wrong and what to change (RFC 9457).',
          content: { 'application/problem+json': { schema: problem } },
        },
      },
      schemas: Object.fromEntries(components),
    },
  };
}

function operationOf(name: string, entry: OperationEntry, components: Map<string, Json>): Json {
  const output = { 'application/json': { schema: referring(entry.output, components) } };
  const parameters = parametersOf(entry, components);
  return {
    operationId: name,
    summary: entry.summary,
    tags: [name.split('.', 1)[0]],
    ...(entry.access === 'open' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(entry.method === 'POST'
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: referring(entry.input, components) } },
          },
        }
      : {}),
    responses: {
      [entry.status]: { description: 'The answer.', content: output },
      ...(MORE_ANSWERS[name] === undefined ? {} : moreAnswers(MORE_ANSWERS[name], output)),
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

/** Responses with the operation's own shape, but another status than success. */
const MORE_ANSWERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'tools.invoke': {
    202: 'The call was accepted and goes on, or waits for an approval.',
    '4XX': 'The call was refused; `error` says why. Requests that are no call at all answer with a problem.',
    '5XX': 'The call failed; `error` says why.',
  },
  health: { 503: 'Not ready.' },
};

function moreAnswers(more: Readonly<Record<string, string>>, content: Json): Json {
  return Object.fromEntries(Object.entries(more).map(([status, description]) => [status, { description, content }]));
}

/** For GET and DELETE every member is a parameter, for POST only those in the path. */
function parametersOf(entry: OperationEntry, components: Map<string, Json>): Json[] {
  const { properties = {}, required = [] } = entry.input as unknown as ObjectSchema;
  return Object.entries(properties).flatMap(([name, schema]) => {
    const inPath = entry.path.includes(`{${name}}`);
    if (!inPath && entry.method === 'POST') return [];
    const { description, ...rest } = referring(schema, components) as { description?: string };
    return [
      {
        name,
        in: inPath ? 'path' : 'query',
        required: inPath || required.includes(name),
        ...(description === undefined ? {} : { description }),
        // An object parameter is sent as JSON text.
        ...(schema['type'] === 'object' ? { content: { 'application/json': { schema: rest } } } : { schema: rest }),
      },
    ];
  });
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

/** A copy in which schemas with a title are replaced by references to their components. */
function referring(schema: TSchema | Json, components: Map<string, Json>): Json {
  return replaced(schema, components) as Json;
}

function replaced(value: unknown, components: Map<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const copy = (): Json =>
    Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replaced(member, components)]));
  const title = 'title' in value && typeof value.title === 'string' ? value.title : undefined;
  if (title === undefined) return copy();
  const name = componentName(title);
  if (!components.has(name)) components.set(name, copy());
  return { $ref: `#/components/schemas/${name}` };
}

/** `tool.invoke() request (BC-2)` becomes `ToolInvokeRequest`. */
function componentName(title: string): string {
  const words = title.replaceAll(/\([^)]*\)/g, ' ').match(/[A-Za-z0-9]+/g) ?? [];
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
