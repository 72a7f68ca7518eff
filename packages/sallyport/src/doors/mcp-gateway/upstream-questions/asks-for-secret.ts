import { isObject } from '../../../domain/shape/is-object.ts';

/** Names by which forms ask for what nobody may be asked for in a form. */
const SECRET =
  /(?:^|[^a-z])(?:pass(?:word|phrase|code)|secret|(?:api|private|secret) ?key|(?:access|auth|bearer) ?token|credit ?card|card ?number|cvv|cvc)s?(?:$|[^a-z])/;

/**
 * Whether a field of a form, by its name or its title, wants a secret: servers must not ask for one so, but send the user to
 * a page of their own (2025-11-25, elicitation, "form mode security"). What is asked in free words cannot be told.
 */
export function asksForSecret(schema: unknown): boolean {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).some(([name, field]) => {
    const title = isObject(field) && typeof field['title'] === 'string' ? field['title'] : '';
    return [name, title].some((words) => SECRET.test(plain(words)));
  });
}

/** `apiKey`, `API_KEY` and `api-key` as `api key`. */
const plain = (words: string): string =>
  words
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.\-\s]+/g, ' ')
    .toLowerCase();
