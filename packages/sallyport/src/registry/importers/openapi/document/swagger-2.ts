import { asList, asNode, asText, membersOf, type Node } from './json.ts';
import { follow } from './reference.ts';

/** Members of a Swagger 2.0 parameter that are not part of its schema. */
const NOT_SCHEMA = new Set(['name', 'in', 'required', 'description', 'collectionFormat', 'allowEmptyValue', 'schema']);

const COLLECTION_STYLES: Readonly<Record<string, Node>> = {
  multi: { style: 'form', explode: true },
  ssv: { style: 'spaceDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
};

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

/**
 * A Swagger 2.0 document in the form of OpenAPI 3.0. Schemas stay where they are (`#/definitions/…` still resolves);
 * only what surrounds them changes: servers, parameters, bodies, responses, security schemes.
 */
export function fromSwagger2(root: Node): Node {
  const convertPath = (item: Node): Node => {
    const shared = asList(item['parameters']);
    const operations = METHODS.flatMap((method) => {
      const operation = asNode(item[method]);
      return operation === undefined ? [] : [[method, operationOf(root, operation, shared)] as const];
    });
    return Object.fromEntries(operations);
  };
  return {
    ...root,
    openapi: '3.0.3',
    servers: serversOf(root),
    paths: Object.fromEntries(
      membersOf(root['paths']).map(([path, item]) => [path, convertPath(attempt(root, item) ?? {})]),
    ),
    components: {
      securitySchemes: Object.fromEntries(
        membersOf(root['securityDefinitions']).map(([name, scheme]) => [name, schemeOf(asNode(scheme) ?? {})]),
      ),
    },
  };
}

/** The target of a reference; the reference itself when it leads nowhere, so that the operation can report it later. */
function attempt(root: Node, value: unknown): Node | undefined {
  try {
    return follow(root, value);
  } catch {
    return asNode(value);
  }
}

function serversOf(root: Node): Node[] {
  const basePath = asText(root['basePath']) ?? '/';
  const host = asText(root['host']);
  if (host === undefined) return [{ url: basePath }];
  const schemes = asList(root['schemes']).filter((scheme) => scheme === 'https' || scheme === 'http');
  const scheme = schemes.includes('https') || schemes.length === 0 ? 'https' : 'http';
  return [{ url: `${scheme}://${host}${basePath === '/' ? '' : basePath}` }];
}

function operationOf(root: Node, operation: Node, shared: readonly unknown[]): Node {
  const all = [...shared, ...asList(operation['parameters'])].map((value) => attempt(root, value) ?? {});
  const body = bodyOf(all, asList(operation['consumes'] ?? root['consumes']));
  const produces = asList(operation['produces'] ?? root['produces']);
  const { consumes, produces: _, parameters, responses, schemes, ...rest } = operation;
  return {
    ...rest,
    parameters: all
      .filter((parameter) => parameter['in'] !== 'body' && parameter['in'] !== 'formData')
      .map(parameterOf),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: Object.fromEntries(
      membersOf(responses).map(([status, response]) => [status, responseOf(attempt(root, response) ?? {}, produces)]),
    ),
  };
}

function parameterOf(parameter: Node): Node {
  if (typeof parameter['$ref'] === 'string') return parameter;
  const { name, in: place, required, description, collectionFormat } = parameter;
  const isList = parameter['type'] === 'array';
  const style = COLLECTION_STYLES[String(collectionFormat ?? 'csv')] ?? { explode: false };
  return {
    name,
    in: place,
    required,
    description,
    ...(isList ? style : {}),
    schema: schemaPart(parameter),
  };
}

const schemaPart = (parameter: Node): Node =>
  Object.fromEntries(membersOf(parameter).filter(([key]) => !NOT_SCHEMA.has(key)));

function bodyOf(parameters: readonly Node[], consumes: readonly unknown[]): Node | undefined {
  const types = consumes.filter((type): type is string => typeof type === 'string');
  const body = parameters.findLast((parameter) => parameter['in'] === 'body');
  if (body !== undefined) {
    const offered = types.length === 0 ? ['application/json'] : types;
    const content = Object.fromEntries(offered.map((type) => [type, { schema: body['schema'] ?? {} }]));
    return { required: body['required'] === true, description: body['description'], content };
  }
  const fields = parameters.filter((parameter) => parameter['in'] === 'formData');
  return fields.length === 0 ? undefined : formOf(fields, types);
}

function formOf(fields: readonly Node[], types: readonly string[]): Node {
  const multipart = types.includes('multipart/form-data') || fields.some((field) => field['type'] === 'file');
  const properties = fields.map((field) => [
    String(field['name']),
    { ...schemaPart(field), description: field['description'] },
  ]);
  const required = fields.filter((field) => field['required'] === true).map((field) => String(field['name']));
  const encoding = fields
    .filter((field) => field['type'] === 'array' && field['collectionFormat'] !== 'multi')
    .map((field) => [String(field['name']), { style: 'form', explode: false }]);
  return {
    required: required.length > 0,
    content: {
      [multipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded']: {
        schema: { type: 'object', properties: Object.fromEntries(properties), required },
        encoding: Object.fromEntries(encoding),
      },
    },
  };
}

function responseOf(response: Node, produces: readonly unknown[]): Node {
  if (response['schema'] === undefined) return response;
  const types = produces.filter((type): type is string => typeof type === 'string');
  const offered = types.length === 0 ? ['application/json'] : types;
  return {
    description: response['description'],
    content: Object.fromEntries(offered.map((type) => [type, { schema: response['schema'] }])),
  };
}

const schemeOf = (scheme: Node): Node =>
  scheme['type'] === 'basic' ? { ...scheme, type: 'http', scheme: 'basic' } : scheme;
