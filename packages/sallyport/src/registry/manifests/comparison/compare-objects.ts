import { pointerTo } from '@sallyport/std/json/json-pointer';
import type { Comparison, Role } from './comparison.ts';
import type { Members } from './schema-view.ts';

interface At {
  readonly schema: Members;
  readonly pointer: string;
}

/** Compares the statements of two schemas about the members of an object. */
export function compareObjects(comparison: Comparison, before: At, after: At, role: Role, depth: number): void {
  compareProperties(comparison, before, after, role, depth);
  compareRequired(comparison, before, after, role);
  comparePatterns(comparison, before, after, role, depth);
  compareOthers(comparison, before, after, role, depth);
}

function compareProperties(comparison: Comparison, before: At, after: At, role: Role, depth: number): void {
  const was = membersOf(before.schema['properties']);
  const is = membersOf(after.schema['properties']);
  for (const [name, now] of Object.entries(is)) {
    const place = pointerTo(pointerTo(after.pointer, 'properties'), name);
    if (!Object.hasOwn(was, name)) {
      added(comparison, before, place, name, role);
      continue;
    }
    const old = comparison.from.view(was[name], pointerTo(pointerTo(before.pointer, 'properties'), name));
    comparison.compare(old, comparison.to.view(now, place), role, depth + 1);
  }
  for (const name of Object.keys(was)) if (!Object.hasOwn(is, name)) removed(comparison, before, after, name, role);
}

/** Whether the new property is required is compared elsewhere. */
function added({ findings }: Comparison, before: At, path: string, name: string, role: Role): void {
  const wasClosed = before.schema['additionalProperties'] === false;
  const severity = role === 'output' && wasClosed ? 'notable' : 'compatible';
  const message = role === 'input' ? `${name} can be given now.` : `The result may hold ${name} now.`;
  findings.add({ path, kind: 'property-added', severity, message });
}

function removed({ findings }: Comparison, before: At, after: At, name: string, role: Role): void {
  const path = pointerTo(pointerTo(before.pointer, 'properties'), name);
  const isClosed = after.schema['additionalProperties'] === false;
  const kind = 'property-removed';
  if (role === 'input') {
    const message = isClosed
      ? `${name} is no longer accepted.`
      : `${name} is no longer described; it is accepted still.`;
    findings.add({ path, kind, severity: isClosed ? 'breaking' : 'notable', message });
  } else {
    const wasPromised = namesOf(before.schema['required']).has(name);
    const message = wasPromised ? `The result no longer holds ${name}.` : `The result need no longer hold ${name}.`;
    findings.add({ path, kind, severity: wasPromised ? 'breaking' : 'notable', message });
  }
}

function compareRequired({ differ }: Comparison, before: At, after: At, role: Role): void {
  const was = namesOf(before.schema['required']);
  const is = namesOf(after.schema['required']);
  const described = membersOf(before.schema['properties']);
  const left = membersOf(after.schema['properties']);
  for (const name of is) {
    if (was.has(name)) continue;
    const message = role === 'input' ? `${name} must be given now.` : `The result always holds ${name} now.`;
    differ(pointerTo(after.pointer, 'required'), 'required-added', 'narrowed', role, message);
  }
  for (const name of was) {
    // A removed property was reported already.
    const isGone = Object.hasOwn(described, name) && !Object.hasOwn(left, name);
    if (is.has(name) || (role === 'output' && isGone)) continue;
    const message = role === 'input' ? `${name} need not be given any more.` : `The result may come without ${name}.`;
    differ(pointerTo(before.pointer, 'required'), 'required-removed', 'widened', role, message);
  }
}

function comparePatterns({ from, to, compare }: Comparison, before: At, after: At, role: Role, depth: number): void {
  const was = membersOf(before.schema['patternProperties']);
  const is = membersOf(after.schema['patternProperties']);
  for (const pattern of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const place = (at: At): string => pointerTo(pointerTo(at.pointer, 'patternProperties'), pattern);
    compare(from.view(was[pattern], place(before)), to.view(is[pattern], place(after)), role, depth + 1);
  }
}

function compareOthers(comparison: Comparison, before: At, after: At, role: Role, depth: number): void {
  const keyword = 'additionalProperties';
  const was = before.schema[keyword] ?? true;
  const is = after.schema[keyword] ?? true;
  const path = pointerTo(after.pointer, keyword);
  if (is === false && was !== false) {
    comparison.differ(
      path,
      'object-closed',
      'narrowed',
      role,
      'Properties that are not described are no longer allowed.',
    );
  } else if (was === false && is !== false) {
    // Readers of a result ignore unknown members.
    const message = 'Properties that are not described are allowed now.';
    const severity = role === 'input' ? 'compatible' : 'notable';
    comparison.findings.add({ path, kind: 'object-opened', severity, message });
  } else if (was !== is) {
    const old = comparison.from.view(was, pointerTo(before.pointer, keyword));
    comparison.compare(old, comparison.to.view(is, path), role, depth + 1);
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

const namesOf = (value: unknown): ReadonlySet<string> => new Set(Array.isArray(value) ? value.map(String) : []);
