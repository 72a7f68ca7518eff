import { editDistance } from '@sallyport/std/text/edit-distance';
import { SETTINGS, variableOf } from '../settings.ts';

/** What every variable of the layer begins with. */
const PREFIX = 'SALLYPORT_';
/** Secrets of tools, each by a name of its own. */
const SECRETS = 'SALLYPORT_SECRET_';
/** Variables that mean something and are no settings: the last four are for who tests the layer. */
const NO_SETTINGS: ReadonlySet<string> = new Set([
  'SALLYPORT_CONFIG',
  'SALLYPORT_TOKEN',
  'SALLYPORT_LAYER',
  'SALLYPORT_PUBLISHED',
  'SALLYPORT_WRITE_TABLES',
  'SALLYPORT_KILL_SEED',
  'SALLYPORT_TEST_DATABASE_URL',
]);
/** Letters that may be wrong in a name for it to count as near to another. */
const NEAR = 3;

/** Variables that begin as those of the layer and mean nothing to it, each with the one that may be meant. Their values are not told. */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = new Set(SETTINGS.map(variableOf));
  return Object.entries(environment)
    .filter(([name, value]) => name.startsWith(PREFIX) && value !== undefined && value !== '')
    .map(([name]) => name)
    .filter((name) => !known.has(name) && !NO_SETTINGS.has(name) && !name.startsWith(SECRETS))
    .map((name) => `${name}${nearest(name, known)}`);
}

function nearest(name: string, known: ReadonlySet<string>): string {
  const end = name.slice(PREFIX.length - 1);
  const near = [...known]
    .map((each) => ({ each, distance: editDistance(name, each) }))
    .filter(({ each, distance }) => each.endsWith(end) || distance <= NEAR)
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near === undefined ? '' : `; did you mean ${near.each}`;
}
