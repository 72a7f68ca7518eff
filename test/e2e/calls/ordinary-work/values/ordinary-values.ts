import { configuration } from './configuration.ts';
import { logs } from './logs.ts';
import { markup } from './markup.ts';
import { moreSourceFiles } from './more-source-files.ts';
import { oddsAndEnds } from './odds-and-ends.ts';
import { prose } from './prose.ts';
import { queries } from './queries.ts';
import { sourceFiles } from './source-files.ts';

/** What agents write on a working day, without anything that somebody means harm by. */
export const ORDINARY_VALUES: readonly string[] = [
  ...sourceFiles,
  ...moreSourceFiles,
  ...markup,
  ...queries,
  ...configuration,
  ...prose,
  ...logs,
  ...oddsAndEnds,
];
