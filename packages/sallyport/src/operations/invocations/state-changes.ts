import { pointerTo } from '@sallyport/std/json/json-pointer';
import { isObject } from '../../domain/shape/is-object.ts';

/** A place where two values differ; a side that has no such place has no member. */
export interface StateChange {
  /** JSON Pointer. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The places where two JSON values differ, at most `max`, in the order of the first one. */
export function changesBetween(before: unknown, after: unknown, max: number): StateChange[] {
  const changes: StateChange[] = [];
  compare('', before, after, changes, max);
  return changes;
}

function compare(path: string, before: unknown, after: unknown, changes: StateChange[], max: number): void {
  if (changes.length >= max || Object.is(before, after)) return;
  const isAlike = Array.isArray(before) === Array.isArray(after);
  if (!isContainer(before) || !isContainer(after) || !isAlike) {
    changes.push({
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
    compare(pointerTo(path, name), memberOf(before, name), memberOf(after, name), changes, max);
}

type Container = Readonly<Record<string, unknown>>;

function isContainer(value: unknown): value is Container {
  return isObject(value) || Array.isArray(value);
}

const memberOf = (value: Container, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);
