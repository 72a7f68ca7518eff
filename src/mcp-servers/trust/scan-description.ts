import type { ListedMcpTool } from '../../registry/importer.port.ts';
import { KiB } from '../../std/bytes.ts';
import { pointerTo } from '../../std/json-pointer.ts';
import type { DescriptionScanner, ScanFinding, ScanVerdict } from './description-scanner.port.ts';
import { hiddenCharacters, plainText, writtenOut } from './hidden-characters.ts';
import { INSTRUCTION_PATTERNS } from './instruction-patterns.ts';

/** Text of one definition that is judged, in UTF-16 units; more than that in one definition is suspicious by itself. */
const TEXT_CHARS_MAX = 128 * KiB;
const FINDINGS_MAX = 20;
const EXCERPT_CHARS_MAX = 200;
/** Shorter names of tools are ordinary words too often. */
const FOREIGN_NAME_CHARS_MIN = 5;
/** What makes a mention of another server's tool an instruction. */
const DEMAND = /\b(?:must|always|never|instead of|before|do not|don't|override|redirect|whenever)\b/;
/** Nothing shorter asks for anything. */
const TEXT_CHARS_MIN = 10;
/** Longest sentence that is judged in one piece, and by how much pieces of a longer one overlap, in characters. */
const SENTENCE_CHARS_MAX = 500;
const SENTENCE_OVERLAP = 150;

type Report = (verdict: 'suspicious' | 'malicious', kind: string, path: string, excerpt: string) => void;

/**
 * A first line against hidden instructions: characters that nobody sees, comments and tags that shout at the model, demands
 * to conceal, to read secrets, to send copies elsewhere, to ignore instructions, and demands about tools of other servers.
 * It judges text by the form of what it asks for; an attack in ordinary words passes it (see docs/upstreams.md).
 */
export const scanDescription: DescriptionScanner = (tool, { foreignTools }): ScanVerdict => {
  const findings: ScanFinding[] = [];
  let worst: ScanVerdict['verdict'] = 'clean';
  const report: Report = (verdict, kind, path, excerpt) => {
    if (worst !== 'malicious') worst = verdict;
    if (findings.length < FINDINGS_MAX && !findings.some((found) => found.kind === kind && found.path === path)) {
      findings.push({ kind, path, excerpt: shown(excerpt) });
    }
  };
  let chars = 0;
  for (const [path, text] of textsOf(tool)) {
    chars += text.length;
    if (chars > TEXT_CHARS_MAX) {
      report('suspicious', 'too-long', path, `more than ${TEXT_CHARS_MAX} characters of text`);
      break;
    }
    judge(path, text, foreignTools, report);
  }
  return { verdict: worst, findings };
};

function judge(path: string, text: string, foreignTools: ReadonlySet<string>, report: Report): void {
  const hidden = hiddenCharacters(text);
  if (hidden !== undefined) {
    report(hidden.deliberate ? 'malicious' : 'suspicious', 'hidden-characters', path, around(text, hidden.at));
  }
  if (text.length < TEXT_CHARS_MIN) return;
  for (const sentence of sentencesOf(plainText(text))) judgeSentence(path, sentence, foreignTools, report);
}

function judgeSentence(path: string, plain: string, foreignTools: ReadonlySet<string>, report: Report): void {
  const lower = plain.toLowerCase();
  for (const { kind, verdict, all } of INSTRUCTION_PATTERNS) {
    if (all.every((pattern) => pattern.test(lower))) report(verdict, kind, path, plain);
  }
  if (foreignTools.size === 0 || !DEMAND.test(lower)) return;
  for (const { 0: word, index } of plain.matchAll(/[\w.-]+/g)) {
    const name = word.replace(/\.$/, '');
    if (name.length < FOREIGN_NAME_CHARS_MIN || !/[_\-A-Z]/.test(name.slice(1)) || !foreignTools.has(name)) continue;
    report('suspicious', 'names-foreign-tool', path, around(plain, index));
  }
}

/** Sentences and items of lists; what is longer than a sentence in pieces that overlap. */
function* sentencesOf(text: string): Generator<string> {
  for (const sentence of text.split(/(?<=[.!?;])\s|\n\s*\n|\n\s*[-*•]/)) {
    const line = sentence.replace(/\s+/g, ' ');
    for (let at = 0; at === 0 || at + SENTENCE_OVERLAP < line.length; at += SENTENCE_CHARS_MAX - SENTENCE_OVERLAP) {
      yield line.slice(at, at + SENTENCE_CHARS_MAX);
    }
  }
}

/** Every text of a definition that may reach a model: names, descriptions, and what stands in the schemas, keys too. */
function* textsOf(tool: ListedMcpTool): Generator<[path: string, text: string]> {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  yield ['/name', name];
  if (title !== undefined) yield ['/title', title];
  if (description !== undefined) yield ['/description', description];
  for (const [member, value] of Object.entries({ inputSchema, outputSchema, annotations })) {
    yield* textsBelow(value, `/${member}`);
  }
}

function* textsBelow(value: unknown, path: string): Generator<[path: string, text: string]> {
  if (typeof value === 'string') yield [path, value];
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      const pointer = pointerTo(path, key);
      if (!Array.isArray(value)) yield [pointer, key];
      yield* textsBelow(member, pointer);
    }
  }
}

function around(text: string, at: number): string {
  return text.slice(Math.max(0, at - 20), at + EXCERPT_CHARS_MAX);
}

function shown(excerpt: string): string {
  const text = writtenOut(excerpt).replace(/\s+/g, ' ').toWellFormed().trim();
  return text.length <= EXCERPT_CHARS_MAX ? text : `${text.slice(0, EXCERPT_CHARS_MAX - 1)}…`.toWellFormed();
}
