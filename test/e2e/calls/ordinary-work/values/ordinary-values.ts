import { configuration } from './configuration.ts';
import { logs } from './logs.ts';
import { markup } from './markup.ts';
import { moreSourceFiles } from './more-source-files.ts';
import { oddsAndEnds } from './odds-and-ends.ts';
import { prose } from './prose.ts';
import { queries } from './queries.ts';
import { sourceFiles } from './source-files.ts';

/** What agents write on a working day; no value is meant to do harm. */
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
