/** Most nested causes of an error that are logged. */
const CAUSES_MAX = 5;

/**
 * Fields in JSON form: an error is logged with its name, message, stack and causes, which JSON would omit otherwise.
 */
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
