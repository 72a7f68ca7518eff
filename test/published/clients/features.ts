/** The results of a client's program by the name of the check; a check that the client cannot make is absent. */
export type Seen = Readonly<Record<string, unknown>>;

/** A feature of MCP that a client may show. */
export interface Feature {
  readonly name: string;
  /** Name of the check in the clients' programs that shows the feature. */
  readonly look: string;
  /** A text that is in the result of the check, as JSON, when the feature works. */
  readonly mark: string;
}

const ofTool = (name: string, mark: string): Feature => ({ name, look: 'tool', mark });
const ofMedia = (name: string, mark: string): Feature => ({ name, look: 'media', mark });

/** The rows of the table in docs/mcp.md. The marks are texts from feature-server.mjs. */
export const FEATURES: readonly Feature[] = [
  { name: 'connection', look: 'connects', mark: '' },
  ofTool('title', '"title":"Report of sums"'),
  ofTool('description', 'Adds what is reported.'),
  ofTool('input schema', 'The first part.'),
  ofTool('output schema', 'The whole.'),
  ofTool('annotations', '{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}'),
  ofTool('icons', 'https://example.com/report.svg'),
  ofTool('`_meta` of a tool', '"features.example/kind":"sums"'),
  ofTool('`execution`', '"taskSupport":"optional"'),
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
  { name: 'prompts of servers', look: 'prompts', mark: 'greet"' },
];

/** Whether the client shows the feature. */
export function shows(seen: Seen, { look, mark }: Feature): boolean {
  return seen[look] !== undefined && JSON.stringify(seen[look]).includes(mark);
}

/**
 * The cell of the table for a feature and a client: `–` where the client does not show the feature even when it is
 * connected to the server directly.
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
