import { type Static, Type } from 'typebox';

/** Default number of content characters per call. */
export const CHARS_DEFAULT = 40_000;

export const FetchParameters = Type.Object(
  {
    url: Type.String({
      minLength: 8,
      maxLength: 4096,
      pattern: '^[hH][tT][tT][pP][sS]?://',
      description: 'http or https.',
    }),
    mode: Type.Optional(
      Type.Enum(['article', 'full', 'text', 'raw'], {
        description:
          'article (default): the main content as Markdown; full: the whole page as Markdown; text: the whole page as plain ' +
          'text; raw: the source.',
      }),
    ),
    selector: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'CSS selector: only the parts of the page that fit it.',
      }),
    ),
    links: Type.Optional(Type.Boolean({ description: 'Whether to list the links of the page. Default false.' })),
    offset: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000_000,
        description: 'Characters to pass over: next_offset of the call before.',
      }),
    ),
    max_chars: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 1_000_000,
        description: `Most characters of content. Default ${CHARS_DEFAULT}.`,
      }),
    ),
    fresh: Type.Optional(
      Type.Boolean({ description: 'Asks the site again even if a kept copy would do. Default false.' }),
    ),
  },
  { additionalProperties: false },
);
export type FetchParameters = Static<typeof FetchParameters>;
