/** Shortest secret that is hidden, in characters: hiding `1` would only garble what a tool says. */
const SECRET_CHARS_MIN = 6;
const HIDDEN = '[hidden]';

/** Takes the secrets of one call out of a text. */
export type HideSecrets = (text: string) => string;

const unchanged: HideSecrets = (text) => text;

/**
 * Makes the function that hides these secrets, also where a text holds them in base64, as a part of a URL or with JSON
 * escapes. A tool may send back what it was given, and neither a model nor a record may see it.
 */
export function hideSecrets(secrets: ReadonlyMap<string, string>): HideSecrets {
  if (secrets.size === 0) return unchanged;
  const forms = new Set<string>();
  for (const value of secrets.values()) {
    if (value.length < SECRET_CHARS_MIN) continue;
    forms.add(value);
    forms.add(JSON.stringify(value).slice(1, -1));
    forms.add(encodeURIComponent(value.toWellFormed()));
    forms.add(Buffer.from(value).toString('base64'));
  }
  if (forms.size === 0) return unchanged;
  // Longest first, so that a form that holds another one goes as a whole.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
}
