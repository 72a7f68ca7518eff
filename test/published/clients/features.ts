/** What a program of this folder has seen, by feature; absent where its client has no way to look. */
export type Seen = Readonly<Record<string, unknown>>;

/** A feature of MCP that a client may show. */
export interface Feature {
  readonly name: string;
  /** The look of the programs that shows it. */
  readonly look: string;
  /** Stands in what was seen, as JSON, when the feature came through. */
  readonly mark: string;
}

const ofTool = (name: string, mark: string): Feature => ({ name, look: 'tool', mark });
const ofMedia = (name: string, mark: string): Feature => ({ name, look: 'media', mark });

/** The rows of the table in docs/mcp.md. The marks are what feature-server.mjs says. */
export const FEATURES: readonly Feature[] = [
  { name: 'connection', look: 'connects', mark: '' },
  ofTool('title', '"title":"Report of sums"'),
  ofTool('description', 'Adds what is reported.'),
  ofTool('input schema', 'The first part.'),
  ofTool('output schema', 'The whole.'),
  ofTool('annotations', '{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}'),
  ofTool('icons', 'https://example.com/report.svg'),
  ofTool('`_meta` of a tool', '"features.example/kind":"sums"'),
  ofTool('`execution`', '"taskSupport":"forbidden"'),
  { name: 'structured content', look: 'structured', mark: '"only":"structured"' },
  { name: 'error of a tool, as text', look: 'error', mark: 'The well is dry.' },
  ofMedia('image', 'aW1hZ2U='),
  ofMedia('audio', 'YXVkaW8='),
  ofMedia('resource link', 'demo://linked'),
  ofMedia('embedded resource', 'embedded text'),
  { name: 'progress', look: 'progress', mark: '"message":"step 2"' },
  { name: 'cancellation', look: 'cancelled', mark: 'true' },
  { name: 'question to the user', look: 'question', mark: 'Ada' },
  { name: 'change of the list', look: 'changed', mark: 'true' },
  { name: 'resources of servers', look: 'resources', mark: 'demo://notes' },
  { name: 'prompts of servers', look: 'prompts', mark: '"greet"' },
];

/** Whether the feature was seen. */
export function shows(seen: Seen, { look, mark }: Feature): boolean {
  return seen[look] !== undefined && JSON.stringify(seen[look]).includes(mark);
}

/**
 * What the table says of a feature at a client: `–` where the client does not show it even when it is connected to the
 * server itself.
 */
export function cell(feature: Feature, direct: Seen, http: Seen, stdio: Seen): string {
  if (!shows(direct, feature)) return '–';
  const through = [
    ['HTTP', http],
    ['stdio', stdio],
  ] as const;
  const by = through.filter(([, seen]) => shows(seen, feature)).map(([transport]) => transport);
  if (by.length === 0) return 'no';
  return by.length === through.length ? 'yes' : `${by.join()} only`;
}
