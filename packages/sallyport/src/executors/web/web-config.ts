import { type Static, Type } from 'typebox';

/** `executor.config` of a tool of kind `web`. */
export const WebConfig = Type.Object(
  { operation: Type.Literal('fetch') },
  { additionalProperties: false, title: 'Web operation' },
);
export type WebConfig = Static<typeof WebConfig>;
