import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { pointerTo } from '@sallyport/std/json/json-pointer';
import { uniqueNames } from '@sallyport/std/text/unique-names';
import { textsBelow } from '../../instructions/texts-of.ts';
import { type Pause, PIECE_OVERLAP, piecesOf, TEXT_CHARS_MAX } from '../../text-pieces.ts';
import { findInjection } from '../detect-injection.ts';
import { type InjectionFinding, type SanitiseAction, THREATS, type Threat } from '../finding.ts';
import { escapeText, type FindAgain, redactFindings } from './neutralise.ts';
import { type OwnFinding, ownPatterns } from './own-patterns.ts';
import type { CheckOptions, FoundInValue, SanitiseOptions, Sanitiser, ValueFinding } from './sanitiser.ts';

/** Actions of 000 §3.3.6. */
const DEFAULT_ACTIONS: Readonly<Record<Threat, SanitiseAction>> = {
  sql_injection: 'reject',
  xss: 'escape',
  command_injection: 'reject',
};
/** Levels of nesting, a scalar being 1. */
const DEPTH_MAX = 256;
/** Most findings reported; further ones are neutralised all the same. */
const FINDINGS_MAX = 256;
/** Characters of a name that a path shows. */
const SEGMENT_LENGTH_MAX = 64;

type Found = readonly (InjectionFinding | OwnFinding)[];

interface Plan {
  readonly options: SanitiseOptions;
  readonly actions: Readonly<Record<Threat, SanitiseAction>>;
  readonly own: ((text: string) => readonly OwnFinding[]) | undefined;
}

interface Walk extends Plan {
  readonly actionAt: CheckOptions['actionAt'];
  readonly path: (string | number)[];
  readonly findings: ValueFinding[];
  rejected: ValueFinding | undefined;
}

/** Documented at the public function, `../../sanitise.ts`. */
export function createValueSanitiser(options: SanitiseOptions): Sanitiser {
  const plan: Plan = {
    options,
    actions: { ...DEFAULT_ACTIONS, ...options.actions },
    own: ownPatterns(options.patterns ?? []),
  };
  return {
    check(value, { actionAt } = {}) {
      const walk: Walk = { ...plan, actionAt, path: [], findings: [], rejected: undefined };
      const changed = visit(walk, value, 1);
      const { findings, rejected } = walk;
      return rejected === undefined ? { value: changed, findings } : { value, findings, rejected };
    },
    find: (value, pause) => findInTurns(plan, value, pause),
  };
}

async function findInTurns(plan: Plan, value: unknown, pause: Pause): Promise<FoundInValue> {
  const findings: ValueFinding[] = [];
  let left = TEXT_CHARS_MAX;
  for (const [path, text] of textsBelow(value, '')) {
    for (const [from, piece] of piecesOf(text.slice(0, Math.max(0, left)))) {
      for (const { threat, rule, start, end } of findAll(plan, piece)) {
        // In the overlap, the piece before has it too.
        if (from === 0 || end > PIECE_OVERLAP)
          findings.push({ threat, rule, start: from + start, end: from + end, path, action: 'mark' });
      }
      const paused = pause();
      if (paused !== undefined) await paused;
    }
    left -= text.length;
    if (left < 0 || findings.length >= FINDINGS_MAX) break;
  }
  return { findings: findings.slice(0, FINDINGS_MAX), complete: left >= 0 };
}

/** Returns the value itself while nothing in it changes. */
function visit(walk: Walk, value: unknown, depth: number): unknown {
  if (typeof value === 'string') return visitText(walk, value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX) {
    throw new ToolLayerError('E3810', `The value is nested more than ${DEPTH_MAX} levels deep. Make it flatter.`);
  }
  if (Array.isArray(value)) return visitItems(walk, value, depth);
  return isPlain(value) ? visitMembers(walk, value as Readonly<Record<string, unknown>>, depth) : value;
}

function visitItems(walk: Walk, items: readonly unknown[], depth: number): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let index = 0; index < items.length; index++) {
    walk.path.push(index);
    const item = visit(walk, items[index], depth + 1);
    walk.path.pop();
    if (changed === undefined && item !== items[index]) changed = items.slice(0, index);
    changed?.push(item);
  }
  return changed ?? items;
}

function visitMembers(walk: Walk, holder: Readonly<Record<string, unknown>>, depth: number): object {
  const names = Object.keys(holder);
  let changed: Map<string, unknown> | undefined;
  let unique = (name: string): string => name;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const member = holder[name];
    walk.path.push(name);
    const newName = isIdentifier(name) ? name : visitText(walk, name);
    const newMember = visit(walk, member, depth + 1);
    walk.path.pop();
    if (changed === undefined && (newName !== name || newMember !== member)) {
      changed = new Map(names.slice(0, index).map((each) => [each, holder[each]]));
      unique = uniqueNames(withNumber, (each) => changed?.has(each) === true || Object.hasOwn(holder, each));
    }
    changed?.set(newName === name ? name : unique(newName), newMember);
  }
  // Entries define members, where an assignment to `__proto__` would change the prototype.
  return changed === undefined ? holder : Object.fromEntries(changed);
}

/** Both members are kept where two names become the same. */
const withNumber = (name: string, number: number): string => `${name} (${number})`;

/** Most names are, and an attack is none. */
function isIdentifier(name: string): boolean {
  if (name.length > SEGMENT_LENGTH_MAX) return false;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    const letter = (code | 32) >= 97 && (code | 32) <= 122;
    if (!letter && code !== 95 && !(code >= 48 && code <= 57)) return false;
  }
  return true;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function visitText(walk: Walk, text: string): string {
  const found = findAll(walk, text);
  return found.length === 0 ? text : treat(walk, text, found);
}

function findAll({ options, own }: Plan, text: string): Found {
  const found = findInjection(text, options);
  if (own === undefined) return found;
  const more = own(text);
  return more.length === 0 ? found : [...found, ...more];
}

function treat(walk: Walk, text: string, found: Found): string {
  const path = pathOf(walk.path);
  let result = text;
  for (const threat of THREATS) {
    const ofThreat = found.filter((each) => each.threat === threat);
    const here = ofThreat.length === 0 ? 'ignore' : (walk.actionAt?.(path, threat) ?? walk.actions[threat]);
    if (here === 'ignore') continue;
    for (const each of ofThreat) addFinding(walk, each, path, actionOn(each, here));
    const action = strictest(ofThreat.map((each) => actionOn(each, here)));
    if (action === 'reject' || action === 'mark') continue;
    // Marked findings leave the text unchanged.
    const isChanged = (each: Found[number]): boolean => each.threat === threat && actionOn(each, here) !== 'mark';
    const findAgain: FindAgain = (changed) => findAll(walk, changed).filter(isChanged);
    result = applied(result, threat, action, findAgain);
  }
  return result;
}

/** An own pattern may name an action of its own. */
const actionOn = (found: Found[number], here: SanitiseAction): SanitiseAction =>
  ('ownAction' in found ? found.ownAction : undefined) ?? here;

/** Searches again: changes for an earlier threat have moved the positions. */
function applied(text: string, threat: Threat, action: 'redact' | 'escape', findAgain: FindAgain): string {
  const found = findAgain(text, threat);
  if (found.length === 0) return text;
  const escaped = action === 'escape' ? escapeText(text, threat, found, findAgain) : undefined;
  return escaped ?? redactFindings(text, threat, found, findAgain);
}

/** The strictest first. */
const STRICTNESS: readonly SanitiseAction[] = ['reject', 'redact', 'escape', 'mark'];

function strictest(actions: readonly SanitiseAction[]): SanitiseAction {
  return STRICTNESS.find((each) => actions.includes(each)) ?? 'mark';
}

function addFinding(
  walk: Walk,
  { threat, rule, start, end }: InjectionFinding,
  path: string,
  action: SanitiseAction,
): void {
  const finding: ValueFinding = { threat, rule, start, end, path, action };
  if (walk.findings.length < FINDINGS_MAX) walk.findings.push(finding);
  if (action === 'reject') walk.rejected ??= finding;
}

function pathOf(segments: readonly (string | number)[]): string {
  let path = '';
  for (const segment of segments) {
    path = pointerTo(path, typeof segment === 'string' ? segment.slice(0, SEGMENT_LENGTH_MAX) : segment);
  }
  return path;
}
