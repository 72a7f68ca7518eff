// Hot path: every sentence of what a tool returned comes through here (docs/adr/0020).
import { type Clause, requiredLiterals } from './required-literals.ts';
import { FOLDED, keyOfSign, PART, PARTS, WORD_CHARS } from './tokens.ts';

/** Finds in one pass the rules that may match a text, so that few patterns are run per text. */
export interface Prefilter {
  /** Forgets every text. */
  restart(): void;
  /** Reads the next text; it can still be combined with the previous one. */
  read(text: string, from: number, to: number): void;
  /** True when the rule with this number may match the text alone or, if its reach permits, with the previous text. */
  passes(rule: number): boolean;
  /** Number of the first rule that may match, -1 for none. */
  firstPassing(): number;
}

/** The parts of a rule that a prefilter uses. */
export interface PrefilteredRule {
  /** A text must match all of these for the rule to apply. */
  readonly all: readonly RegExp[];
  /** Number of texts judged together. Default 1. */
  readonly reach?: 1 | 2;
}

/** Most clauses used per rule; frequent ones only as needed to have three. */
const CLAUSES_MAX = 4;
const CLAUSES_ENOUGH = 3;
/** Slots of the table of keys, a power of two well above their number. */
const SLOTS = 1 << 13;
const SLOT_BITS = 13;
/** Spreads what it is multiplied with (Knuth, The Art of Computer Programming 3, 6.4). */
const SPREAD = 0x9e3779b1;

/** A prefilter never rejects a text that all patterns of a rule match; it may pass one that they do not. */
export function createPrefilter(rules: readonly PrefilteredRule[]): Prefilter {
  const keys = new Int32Array(SLOTS);
  const clausesAt: (number[] | undefined)[] = new Array(SLOTS).fill(undefined);
  let clauseCount = 0;
  const wanted = rules.map((rule) =>
    clausesOf(rule).map((clause) => {
      for (const key of clause.keys) {
        let slot = Math.imul(key, SPREAD) >>> (32 - SLOT_BITS);
        while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & (SLOTS - 1);
        keys[slot] = key;
        clausesAt[slot] = [...(clausesAt[slot] ?? []), clauseCount];
      }
      clauseCount += 1;
      return clauseCount - 1;
    }),
  );
  const reaching = rules.map(({ reach }) => reach === 2);
  /** Number of the last text that satisfied each clause. */
  const met = new Int32Array(clauseCount).fill(-2);
  let turn = 0;
  const passes = (rule: number): boolean => {
    const since = reaching[rule] === true ? turn - 1 : turn;
    for (const clause of wanted[rule] as readonly number[]) if ((met[clause] as number) < since) return false;
    return true;
  };
  const meet = (key: number, first: number): void => {
    let slot = first;
    while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & (SLOTS - 1);
    const clauses = clausesAt[slot];
    if (clauses === undefined) return;
    for (let at = 0; at < clauses.length; at += 1) met[clauses[at] as number] = turn;
  };
  return {
    restart() {
      met.fill(-2);
      turn = 0;
    },
    read(text, from, to) {
      turn += 1;
      for (let at = from; at < to; ) {
        const code = text.charCodeAt(at++);
        const part = PARTS[code];
        if (part === PART.blank) continue;
        let key = FOLDED[code] as number;
        if (part === PART.word) {
          let shift = 8;
          for (; at < to; at += 1, shift += 8) {
            const next = text.charCodeAt(at);
            if (PARTS[next] !== PART.word) break;
            if (shift < 8 * WORD_CHARS) key |= (FOLDED[next] as number) << shift;
          }
        } else key = keyOfSign(code, at < to ? (FOLDED[text.charCodeAt(at)] as number) : 0);
        const slot = Math.imul(key, SPREAD) >>> (32 - SLOT_BITS);
        if (keys[slot] !== 0) meet(key, slot);
      }
    },
    passes,
    firstPassing() {
      for (let rule = 0; rule < rules.length; rule += 1) if (passes(rule)) return rule;
      return -1;
    },
  };
}

function clausesOf({ all }: PrefilteredRule): readonly Clause[] {
  const clauses = all.flatMap(requiredLiterals);
  clauses.sort((one, other) => other.selectivity - one.selectivity || one.keys.length - other.keys.length);
  return clauses.filter(({ selectivity }, at) => at < CLAUSES_ENOUGH || (selectivity > 1 && at < CLAUSES_MAX));
}
