/**
 * The place where JSON text becomes invalid. Only computed after JSON.parse refused, so it may be slow but never
 * recursive.
 */
export interface JsonPlace {
  /** UTF-16 index into the text, from 0. */
  readonly index: number;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The offending token, in words; never more than one character of the document. */
  readonly what: string;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[ -!#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\r\n]*/y;
const LITERALS = ['true', 'false', 'null'] as const;

/** The tokens allowed next: a value, a key, a colon after a key, or a comma or end after a value. */
type Expecting = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/** Finds the first character that is not valid JSON (RFC 8259). */
export function findJsonFault(text: string): JsonPlace {
  const open: ('[' | '{')[] = [];
  let expecting: Expecting = 'value';
  let index = 0;
  for (;;) {
    index = matchEnd(SPACE, text, index);
    const step = stepOver(text, index, expecting, open);
    if (step === undefined) return placeOf(text, index, expecting);
    index = step.index;
    expecting = step.expecting;
  }
}

interface Step {
  readonly index: number;
  readonly expecting: Expecting;
}

function stepOver(text: string, index: number, expecting: Expecting, open: ('[' | '{')[]): Step | undefined {
  const character = text[index];
  if (character === undefined) return undefined;
  const closes = expecting === 'value-or-end' || expecting === 'key-or-end' || expecting === 'comma-or-end';
  if (closes && character === (open.at(-1) === '{' ? '}' : ']') && open.length > 0) {
    open.pop();
    return { index: index + 1, expecting: afterValue(open) };
  }
  if (expecting === 'colon') return character === ':' ? { index: index + 1, expecting: 'value' } : undefined;
  if (expecting === 'comma-or-end') {
    if (character !== ',') return undefined;
    return { index: index + 1, expecting: open.at(-1) === '{' ? 'key' : 'value' };
  }
  if (expecting === 'key' || expecting === 'key-or-end') {
    const end = matchEnd(STRING, text, index);
    return end === index ? undefined : { index: end, expecting: 'colon' };
  }
  return expecting === 'nothing' ? undefined : stepOverValue(text, index, open);
}

function stepOverValue(text: string, index: number, open: ('[' | '{')[]): Step | undefined {
  const character = text[index];
  if (character === '{' || character === '[') {
    open.push(character);
    return { index: index + 1, expecting: character === '{' ? 'key-or-end' : 'value-or-end' };
  }
  const literal = LITERALS.find((word) => text.startsWith(word, index));
  const end = literal === undefined ? scalarEnd(text, index) : index + literal.length;
  return end === index ? undefined : { index: end, expecting: afterValue(open) };
}

function scalarEnd(text: string, index: number): number {
  return matchEnd(text[index] === '"' ? STRING : NUMBER, text, index);
}

function afterValue(open: readonly string[]): Expecting {
  return open.length === 0 ? 'nothing' : 'comma-or-end';
}

function matchEnd(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : index;
}

const WANTED: Readonly<Record<Expecting, string>> = {
  value: 'a value is expected',
  'value-or-end': 'a value or ] is expected',
  key: 'a key in double quotes is expected',
  'key-or-end': 'a key in double quotes or } is expected',
  colon: 'a colon is expected',
  'comma-or-end': 'a comma or a closing bracket is expected',
  nothing: 'the document has ended already',
};

function placeOf(text: string, index: number, expecting: Expecting): JsonPlace {
  const before = text.slice(0, index);
  const found = index >= text.length ? 'the text ends' : `${nameOf(text[index] ?? '')} stands`;
  return {
    index,
    line: before.split('\n').length,
    column: index - before.lastIndexOf('\n'),
    what: `${found} where ${WANTED[expecting]}`,
  };
}

function nameOf(character: string): string {
  if (character === '"') return 'a string that is not closed or holds a bad escape';
  return /[!-~]/.test(character) ? `'${character}'` : `U+${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
