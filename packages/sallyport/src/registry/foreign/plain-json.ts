import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Fault } from '../../../api/schemas/error.ts';

/** Deepest nesting that is copied; a manifest may hold no more. */
const DEPTH_MAX = 128;
/** Most values in one copy; stops objects that expand without end. */
const VALUES_MAX = 200_000;
/** Faults that are reported of one value. */
const FAULTS_MAX = 20;

/** A copy that is pure JSON, and the faults of the original. */
export interface PlainCopy {
  readonly value: unknown;
  /** Pointers from the value's root. Empty when nothing was lost. */
  readonly faults: readonly Fault[];
}

/**
 * Copies a value of a foreign program. Nothing is lost silently: functions, symbols, cycles, class instances, members
 * named `__proto__` and throwing getters are faults, each with its place. Undefined members are left out, as in JSON.
 * Getters are read once.
 */
export function plainCopy(value: unknown): PlainCopy {
  const state: State = { faults: [], above: new Set(), left: VALUES_MAX };
  return { value: copy(value, '', state), faults: state.faults };
}

interface State {
  readonly faults: Fault[];
  /** Ancestors of the current position. */
  readonly above: Set<object>;
  left: number;
}

function copy(value: unknown, at: string, state: State): unknown {
  state.left -= 1;
  if (state.left < 0) return refuse(state, at, 'size', `holds more than ${VALUES_MAX} values`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : refuse(state, at, 'number', `is ${value}, which JSON cannot hold`);
  }
  if (typeof value !== 'object') return refuse(state, at, 'type', `is a ${typeof value}, which JSON cannot hold`);
  if (state.above.has(value)) return refuse(state, at, 'circle', 'leads back to an object that it stands in');
  if (state.above.size >= DEPTH_MAX) return refuse(state, at, 'depth', `lies deeper than ${DEPTH_MAX} levels`);
  if (!Array.isArray(value) && !isPlain(value)) {
    return refuse(state, at, 'type', `is ${nameOf(value)}, which JSON cannot hold`);
  }
  state.above.add(value);
  const copied = Array.isArray(value) ? copyList(value, at, state) : copyMembers(value, at, state);
  state.above.delete(value);
  return copied;
}

function copyList(values: readonly unknown[], at: string, state: State): unknown[] {
  if (values.length > state.left) {
    refuse(state, at, 'size', `holds more than ${VALUES_MAX} values`);
    return [];
  }
  return Array.from({ length: values.length }, (_, index) =>
    copy(read(values, index, at, state), pointerTo(at, index), state),
  );
}

function copyMembers(value: object, at: string, state: State): Record<string, unknown> {
  const copied: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const place = pointerTo(at, key);
    if (key === '__proto__') {
      refuse(state, place, 'key', 'is a name that would change the prototype of a copy');
      continue;
    }
    const member = read(value, key, at, state);
    if (member !== undefined) copied[key] = copy(member, place, state);
    if (state.left < 0) break;
  }
  return copied;
}

/** A getter is foreign code, and may throw. */
function read(value: object, key: string | number, at: string, state: State): unknown {
  try {
    return (value as Record<string | number, unknown>)[key];
  } catch {
    refuse(state, pointerTo(at, key), 'getter', 'cannot be read: its getter throws');
    return undefined;
  }
}

/** True for objects made by a literal or by JSON, in any realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && /^[\w$]{1,60}$/.test(name) ? `an instance of ${name}` : 'an instance of a class';
}

function refuse(state: State, path: string, keyword: string, message: string): undefined {
  if (state.faults.length < FAULTS_MAX) state.faults.push({ path, code: 'E3008', keyword, message });
  return undefined;
}
