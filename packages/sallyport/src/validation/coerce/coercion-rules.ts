import { boolean } from '../../domain/settings/rows.ts';
import { defaultsOf, type ValuesOf } from '../../domain/settings/setting.ts';

/** Settings of conversions beyond numbers and booleans. */
export const COERCION_SETTINGS = {
  dates: boolean('validation.coerce_dates', {
    default: true,
    sentence:
      'Such a conversion also rewrites dates in another spelling to ISO 8601, when they name one day or instant.',
  }),
  epochs: boolean('validation.coerce_epochs', {
    default: false,
    sentence: 'It also takes Unix seconds and milliseconds of 2001 to 2100 where a date-time is asked for.',
  }),
};

/** What a coercion converts beside numbers and booleans. */
export type CoercionRules = ValuesOf<typeof COERCION_SETTINGS>;

/** Rules that hold when nothing else is said. */
export const COERCION: CoercionRules = defaultsOf(COERCION_SETTINGS);
