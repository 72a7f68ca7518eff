import { fittingNames, isFitting } from '../../../foreign/property-names/fitting-names.ts';
import { type HttpParameter, ParameterStyle } from '../../../http-operation.ts';
import { asList, asText, membersOf, type Node } from '../document/json.ts';
import { NotImportable } from '../document/not-importable.ts';
import { follow } from '../document/reference.ts';
import type { Schema } from '../schemas/convert-schema.ts';

type Place = HttpParameter['in'];

/** Locations in the order in which they keep their plain name when names clash. */
const PLACES: readonly Place[] = ['path', 'query', 'header', 'cookie'];
const DEFAULT_STYLE = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const;
const STYLES: ReadonlySet<unknown> = new Set(ParameterStyle.enum);

/** Headers that belong to the connection, the body or the credentials (OpenAPI 3.1 §4.8.12.1, RFC 9110 §7.6.1). */
const NOT_OURS = new Set([
  'accept',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** One parameter: how it is sent, and the schema of its value. */
export interface OperationParameter {
  readonly binding: HttpParameter;
  readonly schema: unknown;
  readonly description: string | undefined;
  readonly required: boolean;
}

/**
 * The parameters of an operation, those of its path included; the operation's own win.
 * @throws NotImportable when one cannot be sent
 */
export function parametersOf(
  operation: Node,
  path: Node,
  template: string,
  root: Node,
  hasBody: boolean,
): OperationParameter[] {
  const declared = new Map<string, Node>();
  for (const value of [...asList(path['parameters']), ...asList(operation['parameters'])]) {
    const parameter = asQuery(follow(root, value), root);
    const name = asText(parameter?.['name']);
    if (parameter === undefined || name === undefined) throw new NotImportable('one of its parameters has no name');
    declared.set(`${parameter['in']} ${name}`, parameter);
  }
  for (const [, name = ''] of template.matchAll(/\{([^{}/]+)\}/g)) {
    // Some documents omit the declaration of path parameters.
    if (!declared.has(`path ${name}`)) declared.set(`path ${name}`, { name, in: 'path', schema: { type: 'string' } });
  }
  const usable = [...declared.values()].filter((parameter) => isSent(parameter, template));
  const properties = propertyNames(usable, hasBody);
  return usable.map((parameter, index) => parameterOf(parameter, properties[index] ?? '', root));
}

/** A query that is described as a whole is one argument with a property for each field (OpenAPI 3.2 §4.12.2.1). */
function asQuery(parameter: Node | undefined, root: Node): Node | undefined {
  if (parameter?.['in'] !== 'querystring') return parameter;
  const [[type = '', media] = []] = membersOf(parameter['content']);
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type))
    throw new NotImportable(`its query is written as ${text(type)}, and not as fields of a form`);
  const { content: _, ...rest } = parameter;
  return { ...rest, in: 'query', style: 'form', explode: true, schema: follow(root, media)?.['schema'] };
}

function isSent(parameter: Node, template: string): boolean {
  const { name, in: place } = parameter;
  if (!PLACES.includes(place as Place)) throw new NotImportable(`its parameter ${text(name)} is in ${text(place)}`);
  if (place === 'path') return template.includes(`{${name}}`);
  return place !== 'header' || !NOT_OURS.has(String(name).toLowerCase());
}

const text = (value: unknown): string => JSON.stringify(String(value).slice(0, 60));

/** With its location as a prefix a name may be too long. */
const fits = (name: string): string => (isFitting(name) ? name : (fittingNames([name], new Set()).get(name) ?? name));

/**
 * One argument name per parameter: its own when free, else prefixed with its location; a name that model providers
 * refuse is replaced.
 */
function propertyNames(parameters: readonly Node[], hasBody: boolean): string[] {
  const taken = new Set(hasBody ? ['body'] : []);
  const names = new Map<Node, string>();
  const own = parameters.map((parameter) => String(parameter['name']));
  const fitting = fittingNames(
    own.filter((name) => !isFitting(name)),
    new Set([...taken, ...own.filter(isFitting)]),
  );
  for (const place of PLACES) {
    for (const parameter of parameters.filter((one) => one['in'] === place)) {
      const own = fitting.get(String(parameter['name'])) ?? String(parameter['name']);
      let name = taken.has(own) || own === '__proto__' ? fits(`${place}_${own}`) : own;
      for (let next = 2; taken.has(name); next += 1) name = fits(`${place}_${own}_${next}`);
      taken.add(name);
      names.set(parameter, name);
    }
  }
  return parameters.map((parameter) => names.get(parameter) ?? '');
}

function parameterOf(parameter: Node, property: string, root: Node): OperationParameter {
  const place = parameter['in'] as Place;
  const [content] = membersOf(parameter['content']);
  const style = STYLES.has(parameter['style']) ? (parameter['style'] as ParameterStyle) : DEFAULT_STYLE[place];
  const explode = typeof parameter['explode'] === 'boolean' ? parameter['explode'] : style === 'form';
  return {
    binding: {
      property,
      name: String(parameter['name']),
      in: place,
      style,
      explode,
      ...(parameter['allowReserved'] === true && place === 'query' ? { allow_reserved: true } : {}),
      ...(content !== undefined ? { json: true } : {}),
    },
    schema: content === undefined ? parameter['schema'] : follow(root, content[1])?.['schema'],
    description: asText(parameter['description']),
    required: parameter['required'] === true || place === 'path',
  };
}

/** A schema with the parameter's description where it has none of its own. */
export function described(schema: Schema | boolean, description: string | undefined): Schema | boolean {
  if (description === undefined || schema === false) return schema;
  const own = schema === true ? {} : schema;
  return {
    ...own,
    description: typeof own['description'] === 'string' ? `${description} ${own['description']}` : description,
  };
}
