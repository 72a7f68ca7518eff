import { type Static, Type } from 'typebox';

const Path = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'Absolute, or relative to the first folder that this call may use.',
});
const Sha256 = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description:
    'SHA-256 of the file as it was last read (sha256 of file_read). When the file is another now, nothing is changed.',
});
const Limit = (most: number, usual: number, what: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: `Most ${what}. Default ${usual}.` }));

export const ReadParameters = Type.Object(
  {
    path: Path,
    offset: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000_000_000, description: 'First line, counted from 1. Default 1.' }),
    ),
    limit: Limit(100_000, 2000, 'lines'),
    encoding: Type.Optional(
      Type.Enum(['auto', 'base64'], {
        description: 'auto (default): text is detected; base64: the first bytes as they are.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ReadParameters = Static<typeof ReadParameters>;

export const WriteParameters = Type.Object(
  {
    path: Path,
    content: Type.String({ description: 'The whole new content.' }),
    encoding: Type.Optional(
      Type.Enum(['utf-8', 'base64'], { description: 'utf-8 (default): content is text; base64: content is bytes.' }),
    ),
    if_exists: Type.Optional(
      Type.Enum(['replace', 'refuse'], { description: 'What to do when the file is there already. Default replace.' }),
    ),
    create_folders: Type.Optional(
      Type.Boolean({ description: 'Whether missing folders on the way are made. Default false.' }),
    ),
    expected_sha256: Type.Optional(Sha256),
  },
  { additionalProperties: false },
);
export type WriteParameters = Static<typeof WriteParameters>;

export const EditParameters = Type.Object(
  {
    path: Path,
    old_string: Type.String({
      minLength: 1,
      description: 'Text to replace, exactly as it stands in the file, with enough around it that it occurs once.',
    }),
    new_string: Type.String({ description: 'Text to put in its place; empty removes it.' }),
    replace_all: Type.Optional(
      Type.Boolean({ description: 'Replaces every occurrence instead of demanding that there is one. Default false.' }),
    ),
    expected_sha256: Type.Optional(Sha256),
  },
  { additionalProperties: false },
);
export type EditParameters = Static<typeof EditParameters>;

export const ListParameters = Type.Object(
  {
    path: Type.Optional(Path),
    depth: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 32, description: 'Levels of folders; 1 (default) is the folder itself.' }),
    ),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Entries to pass over. Default 0.' }),
    ),
    limit: Limit(1000, 200, 'entries'),
  },
  { additionalProperties: false },
);
export type ListParameters = Static<typeof ListParameters>;

const Glob = Type.String({ minLength: 1, maxLength: 256 });

export const GlobParameters = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'Glob over paths below the folder: * any characters of a name, ** any folders, ? one character, [a-z] one of them. ' +
        'Without a slash it fits names in any folder. Braces are ordinary characters.',
    }),
    path: Type.Optional(Path),
    limit: Limit(1000, 200, 'paths'),
  },
  { additionalProperties: false },
);
export type GlobParameters = Static<typeof GlobParameters>;

export const GrepParameters = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: 'Regular expression in RE2 syntax, looked for in each line; no look-around and no back-references.',
    }),
    path: Type.Optional(Path),
    glob: Type.Optional({ ...Glob, description: 'Only files that fit this glob, for example *.ts or src/**.' }),
    fixed_string: Type.Optional(
      Type.Boolean({ description: 'Whether the pattern is plain text instead. Default false.' }),
    ),
    ignore_case: Type.Optional(Type.Boolean({ description: 'Default false.' })),
    context: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10, description: 'Lines shown before and after each match. Default 0.' }),
    ),
    limit: Limit(1000, 100, 'matching lines'),
  },
  { additionalProperties: false },
);
export type GrepParameters = Static<typeof GrepParameters>;
