import { KiB } from '@sallyport/std/bytes';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import { foreignNames } from './instructions/foreign-names.ts';
import { ENOUGH, type Evidence, judgeText, scoreOf } from './instructions/judge-text.ts';
import { textsBelow } from './instructions/texts-of.ts';

export { writtenOut } from './instructions/hidden-characters.ts';

/** A tool's description of itself: every text in it may reach a model. */
export interface DescribedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; its names, titles, descriptions, enumerations, defaults and examples are judged too. */
  readonly parameters_schema?: unknown;
  /**
   * Other members that reach a model, such as a title or the schema of the result; each is judged as a field of its
   * name.
   */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Context beside the tool itself. */
export interface DescriptionContext {
  /** Names of other providers' tools. A demand that names one is a finding; other rules do not need names. */
  readonly foreignTools?: ReadonlySet<string>;
}

/** A text that speaks, or may speak, to the model without the user's knowledge. */
export interface DescriptionFinding {
  /** The class, in kebab-case; the table is in docs/detectors.md. */
  readonly rule: string;
  /** A sentence for people. */
  readonly why: string;
  /** Position in the field, in UTF-16 units; of the surrounding sentence when it was found in one. */
  readonly start: number;
  readonly end: number;
  /** JSON Pointer into the tool as it was given; `/parameters_schema/properties/x` also for the name of a member. */
  readonly field: string;
}

/** Result of a scan. */
export interface DescriptionVerdict {
  /** `suspicious` from a score of 0.5 on. */
  readonly verdict: 'clean' | 'suspicious';
  /** 0 to 1: combined weight of all findings, those of different classes as independent evidence. */
  readonly score: number;
  /** The 20 strongest at most, in the order of the fields. A clean tool may have findings of too little weight. */
  readonly findings: readonly DescriptionFinding[];
}

/** Text of one tool that is judged, in UTF-16 units; more than that in one tool is suspicious by itself. */
const TEXT_CHARS_MAX = 128 * KiB;
const FINDINGS_MAX = 20;

/**
 * Judges a tool's description for instructions to the model that are hidden from the user (REG-09): demands to conceal,
 * to read or hand over secrets, files or the conversation, to change or precede other tools, claims of authority,
 * invisible text, markup that imitates the system's. It judges what a text asks for, not the words of known attacks; an
 * attack in harmless words passes. Limited in time for any tool.
 */
export function scanDescription(tool: DescribedTool, { foreignTools }: DescriptionContext = {}): DescriptionVerdict {
  const evidence: (Evidence & { readonly field: string })[] = [];
  let chars = 0;
  for (const [field, text] of textsOfTool(tool)) {
    chars += text.length;
    if (chars > TEXT_CHARS_MAX) {
      const why = `It has more than ${TEXT_CHARS_MAX} characters of text.`;
      evidence.push({ rule: 'too-long', why, start: 0, end: text.length, weight: 0.5, field });
      break;
    }
    for (const found of judgeText(text, 'description')) evidence.push({ ...found, field });
    if (foreignTools === undefined || foreignTools.size === 0) continue;
    for (const found of foreignNames(text, foreignTools)) evidence.push({ ...found, field });
  }
  const score = scoreOf(evidence);
  const strongest = new Set(evidence.toSorted((one, other) => other.weight - one.weight).slice(0, FINDINGS_MAX));
  const findings = evidence
    .filter((one) => strongest.has(one))
    .map(({ rule, why, start, end, field }) => ({ rule, why, start, end, field }));
  return { verdict: score >= ENOUGH ? 'suspicious' : 'clean', score, findings };
}

function* textsOfTool({ name, description, parameters_schema, more = {} }: DescribedTool): Generator<[string, string]> {
  yield ['/name', name];
  yield ['/description', description];
  yield* textsBelow(parameters_schema, '/parameters_schema');
  for (const [field, value] of Object.entries(more)) yield* textsBelow(value, pointerTo('', field));
}
