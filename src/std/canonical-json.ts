// Hot path: every hash of a call goes through here.

/**
 * JSON with sorted keys and no white space, so that equal values have equal text (RFC 8785).
 * Members whose value is undefined are left out, as JSON.stringify does.
 * @throws TypeError for values that JSON cannot hold (bigint, cycles deeper than the stack)
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (hasToJson(value)) return canonicalJson(value.toJSON());
  const members = value as Record<string, unknown>;
  let text = '';
  for (const key of Object.keys(members).sort()) {
    const member = members[key];
    if (member === undefined || typeof member === 'function' || typeof member === 'symbol') continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
