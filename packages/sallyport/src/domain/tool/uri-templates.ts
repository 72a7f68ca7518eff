/** Expressions of a URI template (RFC 6570). */
const EXPRESSION = /\{[^{}]*\}/;

/**
 * True when a URI may come from a template: its literal parts are found in their order, from the beginning to the end.
 * An expression stands for any text, so the time is linear in the length of both, whatever a server writes.
 */
export function mayComeFrom(template: string, uri: string): boolean {
  const literals = template.split(EXPRESSION);
  const [first = '', ...rest] = literals;
  if (rest.length === 0) return uri === template;
  const last = rest.pop() ?? '';
  if (!uri.startsWith(first) || !uri.endsWith(last) || uri.length < first.length + last.length) return false;
  const end = uri.length - last.length;
  let at = first.length;
  for (const literal of rest) {
    const found = uri.indexOf(literal, at);
    if (found < 0 || found + literal.length > end) return false;
    at = found + literal.length;
  }
  return true;
}
