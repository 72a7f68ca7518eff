// buildRequest() runs for every call; everything independent of the arguments is computed once, in planOf().
import type { ToolVersion } from '../../../domain/tool/tool-version.ts';
import type { OutboundRequest } from '../../../external/outbound-http.ts';
import type { HttpOperation, HttpParameter } from '../../../registry/http-operation.ts';
import { argumentRefused } from './arguments-refused.ts';
import { writeBody } from './bodies.ts';
import { addCredentials, type Credentials, type CredentialTarget, isHeaderValue } from './credentials.ts';
import { asPairs, escapeAll, escapeNothing, escapeReserved, inPlace, scalar } from './styles.ts';

/** A request ready to be sent. */
export interface BuiltRequest extends OutboundRequest {
  readonly body: Buffer | undefined;
}

/** An operation prepared for all calls of one tool version. */
export interface RequestPlan {
  readonly operation: HttpOperation;
  /** Literals of the path, with a parameter between each two. */
  readonly path: readonly (string | HttpParameter)[];
  readonly parameters: readonly HttpParameter[];
  readonly headers: Readonly<Record<string, string>>;
  /** True when one of its credentials is a token to be fetched. */
  readonly needsTokens: boolean;
}

const plans = new WeakMap<ToolVersion, RequestPlan>();

/** The plan of a tool version, made at its first call and garbage-collected with it. */
export function planOf(tool: ToolVersion, userAgent: string): RequestPlan {
  const known = plans.get(tool);
  if (known !== undefined) return known;
  const operation = tool.manifest.executor.config as unknown as HttpOperation;
  const parameters = operation.parameters ?? [];
  const fixed = Object.entries(operation.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const plan: RequestPlan = {
    operation,
    needsTokens: operation.auth?.some(({ type }) => type === 'oauth2_client_credentials') === true,
    path: pathParts(operation, parameters),
    parameters: parameters.filter((parameter) => parameter.in !== 'path'),
    headers: {
      accept: operation.accept ?? 'application/json, text/*;q=0.9, */*;q=0.5',
      // Answers are cut at a limit; the remaining length of a compressed one is unknown.
      'accept-encoding': 'identity',
      'user-agent': userAgent,
      ...Object.fromEntries(fixed),
    },
  };
  plans.set(tool, plan);
  return plan;
}

function pathParts(operation: HttpOperation, parameters: readonly HttpParameter[]): (string | HttpParameter)[] {
  const byName = new Map(parameters.filter(({ in: place }) => place === 'path').map((one) => [one.name, one]));
  return operation.path.split(/(\{[^{}/]+\})/).flatMap((part) => {
    if (part === '') return [];
    return byName.get(part.startsWith('{') ? part.slice(1, -1) : '') ?? part;
  });
}

/**
 * The request for these arguments.
 * @throws ToolLayerError E3509 for arguments that cannot be put into it, E3302 for a missing secret
 */
export function buildRequest(
  plan: RequestPlan,
  given: Readonly<Record<string, unknown>>,
  credentials: Credentials,
): BuiltRequest {
  const { operation } = plan;
  const headers: Record<string, string> = { ...plan.headers };
  const query: string[] = [];
  const cookies: string[] = [];
  const path = pathOf(plan, given);
  for (const parameter of plan.parameters) {
    const value = own(given, parameter.property);
    if (value !== undefined) place(parameter, value, { headers, query, cookies });
  }
  const body = bodyOf(plan, given);
  if (body !== undefined) headers['content-type'] = body.contentType;
  if (operation.auth !== undefined) addCredentials(operation.auth, credentials, { headers, query, cookies });
  if (cookies.length > 0) headers['cookie'] = cookies.join('; ');
  const url = new URL(operation.base_url + path + (query.length === 0 ? '' : `?${query.join('&')}`));
  return { url, method: operation.method, headers, body: body?.bytes };
}

function own(given: Readonly<Record<string, unknown>>, property: string): unknown {
  return Object.hasOwn(given, property) ? given[property] : undefined;
}

function bodyOf(
  { operation: { body } }: RequestPlan,
  given: Readonly<Record<string, unknown>>,
): ReturnType<typeof writeBody> | undefined {
  const value = body === undefined ? undefined : own(given, body.property);
  return body === undefined || value === undefined ? undefined : writeBody(body, value);
}

function pathOf(plan: RequestPlan, given: Readonly<Record<string, unknown>>): string {
  const parts = plan.path.map((part) => {
    return typeof part === 'string' ? part : segmentValue(part, own(given, part.property));
  });
  const path = parts.join('');
  // Dot segments cannot be escaped: every URL parser removes them, also when written %2E.
  if (!hasDotSegment(path)) return path;
  const isParameter = (part: RequestPlan['path'][number]): part is HttpParameter => typeof part !== 'string';
  const alone = plan.path.find((part, at) => isParameter(part) && hasDotSegment(parts[at] ?? ''));
  const culprit = [alone, ...plan.path].find((part) => part !== undefined && isParameter(part));
  throw argumentRefused(culprit?.property ?? '', 'makes . or .. a segment of the path');
}

/** Escaped separators count: proxies that decode them before they normalise the path would leave its folder. */
const hasDotSegment = (path: string): boolean =>
  path.split(/\/|%2f|%5c/i).some((one) => /^(?:\.|%2e){1,2}$/i.test(one));

function segmentValue({ name, property, style, explode, json }: HttpParameter, value: unknown): string {
  if (value === undefined) throw argumentRefused(property, 'is part of the path and must be given');
  const written = inPlace(name, json === true ? JSON.stringify(value) : value, style, explode, escapeAll);
  if (written === '') throw argumentRefused(property, 'is part of the path and must not be empty');
  return written;
}

function place(parameter: HttpParameter, given: unknown, { headers, query, cookies }: CredentialTarget): void {
  const { name, property, style, explode } = parameter;
  const value = parameter.json === true ? JSON.stringify(given) : given;
  if (parameter.in === 'query') {
    const encode = parameter.allow_reserved === true ? escapeReserved : escapeAll;
    for (const pair of asPairs(name, value, style, explode, encode)) query.push(pair.join('='));
  } else if (parameter.in === 'cookie') {
    for (const pair of asPairs(name, value, style, explode, escapeAll)) cookies.push(pair.join('='));
  } else {
    const text = typeof value === 'object' ? inPlace(name, value, 'simple', explode, escapeNothing) : scalar(value);
    if (!isHeaderValue(text)) {
      throw argumentRefused(property, 'travels in a header and must not hold line ends or other control characters');
    }
    headers[name.toLowerCase()] = text;
  }
}
