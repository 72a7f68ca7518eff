/** Errors within errors that are told. */
const CAUSES_MAX = 5;

/** Fields as JSON can show them: an error is told by its name, message, stack and causes, which it would hide otherwise. */
export function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? plainError(value, 0) : value]),
  );
}

function plainError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? { code: error.code } : {};
  if (cause === undefined || depth >= CAUSES_MAX) return { name, message, ...code, stack };
  return {
    name,
    message,
    ...code,
    stack,
    cause: cause instanceof Error ? plainError(cause, depth + 1) : String(cause),
  };
}
