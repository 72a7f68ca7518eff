import { integer } from '../../../domain/settings/rows.ts';
import { defaultsOf, type ValuesOf } from '../../../domain/settings/setting.ts';

/** Settings of how long versions are kept (REG-04). */
export const RETENTION_SETTINGS = {
  versionsPerToolMax: integer('registry.max_versions_per_tool', {
    unit: 'versions',
    minimum: 1,
    default: 5,
    sentence: 'Versions of one tool beside each other; more make the oldest leave that nobody uses.',
  }),
  warningDays: integer('registry.deprecation_warning_days', {
    unit: 'days',
    minimum: 0,
    default: 90,
    sentence: 'Time between the deprecation of a version and its removal, unless it is forced.',
  }),
  inUseDays: integer('registry.in_use_days', {
    unit: 'days',
    minimum: 0,
    default: 30,
    sentence: 'A version that was called within this time is in use and not made to leave.',
  }),
};

/** Values of the retention settings. */
export type Retention = ValuesOf<typeof RETENTION_SETTINGS>;

/** Defaults. */
export const RETENTION: Retention = defaultsOf(RETENTION_SETTINGS);

/** One day in ms. */
export const DAY_MS = 86_400_000;
