import { type DescriptionFinding, scanDescription as judge, writtenOut } from '@sallyport/guards';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { DescriptionScanner, ScanFinding, ScanVerdict } from './description-scanner.port.ts';

const FINDINGS_MAX = 20;
const EXCERPT_CHARS_MAX = 200;
const LEAD_CHARS = 20;
/** Score from which no honest explanation is left. */
const MALICIOUS = 0.8;

/**
 * The default scanner of a quarantine: the public detector, over every text of a definition that may reach a model (see
 * docs/upstreams.md).
 */
export const scanDescription: DescriptionScanner = (tool, context): ScanVerdict => {
  const { name, description = '', title, inputSchema, outputSchema, annotations, icons, _meta } = tool;
  const more = withoutAbsent({ title, inputSchema, outputSchema, annotations, icons: icons?.map(withoutImage), _meta });
  const described = { name, description, more };
  const { verdict, score, findings } = judge(described, context);
  if (verdict === 'clean') return { verdict, findings: [] };
  return { verdict: score >= MALICIOUS ? 'malicious' : 'suspicious', findings: reported(tool, findings) };
};

const withoutAbsent = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Nobody reads the bytes of an image in a data URL, and they would count as a very long text. */
function withoutImage(icon: unknown): unknown {
  if (typeof icon !== 'object' || icon === null || !('src' in icon)) return icon;
  const { src, ...rest } = icon;
  return typeof src === 'string' && src.startsWith('data:image/') ? rest : icon;
}

/** Reports each kind once per place. */
function reported(tool: ListedMcpTool, findings: readonly DescriptionFinding[]): readonly ScanFinding[] {
  const byPlace = new Map<string, ScanFinding>();
  for (const { rule, field, start, end } of findings) {
    const key = `${rule} ${field}`;
    if (byPlace.size >= FINDINGS_MAX || byPlace.has(key)) continue;
    byPlace.set(key, { kind: rule, path: field, excerpt: shown(textAt(tool, field), start, end) });
  }
  return [...byPlace.values()];
}

/** The text at a place of a definition: a value, or the name of a member. */
function textAt(tool: ListedMcpTool, pointer: string): string {
  let value: unknown = tool;
  let name = '';
  for (const segment of pointer.split('/').slice(1)) {
    name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return typeof value === 'string' ? value : name;
}

function shown(text: string, start: number, end: number): string {
  // For invisible characters, the words before them show the place.
  const lead = writtenOut(text.slice(start, end)) === text.slice(start, end) ? 0 : LEAD_CHARS;
  const found = text.slice(Math.max(0, start - lead), start + EXCERPT_CHARS_MAX);
  const excerpt = writtenOut(found).replace(/\s+/g, ' ').toWellFormed().trim();
  if (excerpt.length <= EXCERPT_CHARS_MAX) return excerpt;
  return `${excerpt.slice(0, EXCERPT_CHARS_MAX - 1)}…`.toWellFormed();
}
