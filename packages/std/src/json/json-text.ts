// Hot path: some forty strings a call are quoted here.

/** Printable ASCII without what JSON escapes. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** A string as JSON text, as JSON.stringify writes it; several times faster for the plain ones. */
export function quoted(text: string): string {
  return isPlain(text) ? `"${text}"` : JSON.stringify(text);
}

/** Whether a string stands between its quotes as it is; false of some that would. */
export const isPlain = (text: string): boolean => PLAIN.test(text);
