import { SETTINGS, variableOf } from '../settings.ts';
import { likelyName } from './likely-name.ts';

/** Prefix of all variables of the layer. */
const PREFIX = 'SALLYPORT_';
/** Prefix of variables that hold secrets of tools, one secret each. */
const SECRETS = 'SALLYPORT_SECRET_';
/** Known variables that are no settings: the last four are for tests of the layer. */
const NO_SETTINGS: ReadonlySet<string> = new Set([
  'SALLYPORT_CONFIG',
  'SALLYPORT_TOKEN',
  'SALLYPORT_LAYER',
  'SALLYPORT_PUBLISHED',
  'SALLYPORT_WRITE_TABLES',
  'SALLYPORT_KILL_SEED',
  'SALLYPORT_TEST_DATABASE_URL',
]);

/**
 * Variables with the layer's prefix that are unknown, each with the similar name that may be meant. Their values are
 * not shown.
 */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set(SETTINGS.map(variableOf));
  return Object.entries(environment)
    .filter(([name, value]) => name.startsWith(PREFIX) && value !== undefined && value !== '')
    .map(([name]) => name)
    .filter((name) => !known.has(name) && !NO_SETTINGS.has(name) && !name.startsWith(SECRETS))
    .map((name) => `${name}${nearest(name, known)}`);
}

/** The prefix is not compared: it would make all names similar. */
function nearest(name: string, known: ReadonlySet<string>): string {
  const rest = name.slice(PREFIX.length);
  const ends = [...known].map((each) => each.slice(PREFIX.length));
  const likely = likelyName(rest, ends, `_${rest}`);
  return likely === undefined ? '' : `; did you mean ${PREFIX}${likely}`;
}
