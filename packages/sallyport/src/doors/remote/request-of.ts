import type { Caller } from '../../domain/principal/principal.ts';
import { type OperationEntry, type OperationName, operationNamed } from '../../operations/catalogue.ts';

/** Parts of the request beside the path. */
export interface RemoteRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** The HTTP request for an operation: members named in the path go there, the others into query or body. */
export function requestOf(
  name: OperationName,
  input: object,
  token: string | undefined,
  caller: Caller,
): { readonly path: string; readonly request: RemoteRequest } {
  const entry: OperationEntry = operationNamed(name);
  const rest = new Map<string, unknown>(Object.entries(input));
  const path = entry.path.replaceAll(/\{(\w+)\}/g, (_all, member: string) => {
    const value = String(rest.get(member));
    rest.delete(member);
    return encodeURIComponent(value);
  });
  const inBody = entry.method === 'POST';
  const headers = {
    ...(inBody ? { 'content-type': 'application/json' } : {}),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(caller.traceparent === undefined ? {} : { traceparent: caller.traceparent }),
  };
  const request: RemoteRequest = {
    method: entry.method,
    headers,
    ...(inBody ? { body: JSON.stringify(Object.fromEntries(rest)) } : {}),
    ...(caller.signal === undefined ? {} : { signal: caller.signal }),
  };
  return { path: inBody ? path : `${path}${queryOf(rest)}`, request };
}

/** Lists repeat their name; objects are JSON text; undefined members are left out. */
function queryOf(members: ReadonlyMap<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [name, value] of members) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) query.append(name, typeof item === 'object' ? JSON.stringify(item) : String(item));
    }
  }
  return query.size === 0 ? '' : `?${query}`;
}
