import { isObject } from '../../../domain/shape/is-object.ts';

/** Names of form fields that ask for secrets. */
const SECRET =
  /(?:^|[^a-z])(?:pass(?:word|phrase|code)|secret|(?:api|private|secret) ?key|(?:access|auth|bearer) ?token|credit ?card|card ?number|cvv|cvc)s?(?:$|[^a-z])/;

/**
 * True when a form field asks for a secret, by its name or its title: servers must not ask for secrets in a form, but
 * send the user to a page of their own (2025-11-25, elicitation, "form mode security"). Questions in free text cannot
 * be recognised.
 */
export function asksForSecret(schema: unknown): boolean {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).some(([name, field]) => {
    const title = isObject(field) && typeof field['title'] === 'string' ? field['title'] : '';
    return [name, title].some((words) => SECRET.test(plain(words)));
  });
}

/** Turns `apiKey`, `API_KEY` and `api-key` into `api key`. */
const plain = (words: string): string =>
  words
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.\-\s]+/g, ' ')
    .toLowerCase();
