import { type Failure, failure } from '@sallyport/std/error/failure';
import { editDistance } from '@sallyport/std/text/edit-distance';
import { OPERATIONS, type OperationEntry } from '../../operations/catalogue.ts';

/** One method and path that the door answers. */
export interface KnownRoute {
  readonly method: string;
  /** Path template with `{x}`. */
  readonly path: string;
}

/** Answer to a request that no route takes. */
export interface RouteRefusal {
  readonly failure: Failure;
  readonly status: 404 | 405;
  /** Methods of the path, for `Allow`; empty for 404. */
  readonly allow: readonly string[];
}

/** Routes that are not operations. */
export const OWN_ROUTES: readonly KnownRoute[] = [
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/readyz' },
  { method: 'GET', path: '/openapi.json' },
  { method: 'GET', path: '/.well-known/oauth-protected-resource' },
];

/** The addresses of an operation. */
export const pathsOf = ({ path, fixedPath }: OperationEntry): readonly string[] =>
  fixedPath === undefined ? [path] : [path, fixedPath];

export const OPERATION_ROUTES: readonly KnownRoute[] = Object.values<OperationEntry>(OPERATIONS).flatMap((entry) =>
  pathsOf(entry).map((path) => ({ method: entry.method, path })),
);

/** Most routes that a message suggests. */
const NEAR_ROUTES_MAX = 3;

/** Explains why no route matches: the path exists with other methods, or similar paths exist. */
export function refuseRoute(routes: readonly KnownRoute[], method: string, path: string): RouteRefusal {
  const same = routes.filter((route) => matches(route.path, path));
  if (same.length > 0) {
    const allow = methodsOf(same);
    const message = `${path.slice(0, 200)} does not take ${method}. Use ${allow.join(' or ')}.`;
    return { failure: failure('E3801', message, { details: { allow } }), status: 405, allow };
  }
  const near = nearest(routes, path);
  const message = `There is nothing at ${path.slice(0, 200)}. Near it: ${near.join(', ')}.`;
  return { failure: failure('E3809', message, { details: { near } }), status: 404, allow: [] };
}

function methodsOf(routes: readonly KnownRoute[]): string[] {
  const methods = new Set(routes.map((route) => route.method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

function matches(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return wanted.length === given.length && wanted.every((part, i) => part.startsWith('{') || part === given[i]);
}

function nearest(routes: readonly KnownRoute[], path: string): string[] {
  const paths = [...new Set(routes.map((route) => route.path))];
  return paths
    .map((candidate) => ({ candidate, far: distance(candidate, path) }))
    .sort((a, b) => a.far - b.far)
    .slice(0, NEAR_ROUTES_MAX)
    .map(({ candidate }) => candidate);
}

/** Sum of the edit distances of the path segments; a parameter matches anything, a surplus segment costs its length. */
function distance(template: string, path: string): number {
  const wanted = template.split('/');
  const given = path.slice(0, 200).split('/');
  let sum = 0;
  for (let i = 0; i < Math.max(wanted.length, given.length); i += 1) {
    const part = wanted[i] ?? '';
    sum += part.startsWith('{') && given[i] !== undefined ? 1 : editDistance(part, given[i] ?? '');
  }
  return sum;
}
