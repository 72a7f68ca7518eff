import { type ParsedScript, parse, type SyntaxNode, type Word, type WordPart } from 'unbash';
import { SHELL_SCREEN_BOUNDS } from '../bounds.ts';
import { type Field, type Origin, type Stream, unknownField, worseOrigin } from '../field.ts';
import type { Judgement } from '../report.ts';
import { type Shell, variableOf } from '../shell.ts';
import { evaluateArithmetic, visitTree } from './arithmetic.ts';
import { expandBraces } from './expand-braces.ts';
import { expandParameter } from './expand-parameter.ts';

/** The words that a program gets for one word of a script: none, one or several. Substitutions in it are followed. */
export function evaluateWord(word: Word, shell: Shell): readonly Field[] {
  const { parts } = word;
  if (parts === undefined) {
    // Most words hold nothing to expand.
    return [{ text: word.value, certain: true, blank: false, glob: false, origin: 'text' }];
  }
  if (parts.some(({ type }) => type === 'BraceExpansion')) return braces(word, parts, shell);
  const line = createLine(shell);
  for (const part of parts) addPart(part, false, shell, line);
  return line.fields();
}

/** A word that the shell neither splits nor matches against files: the value of an assignment, the target of a redirection. */
export function evaluateText(word: Word | undefined, shell: Shell): Field {
  if (word === undefined) return unknownField();
  if (word.parts === undefined) return { text: word.value, certain: true, blank: false, glob: false, origin: 'text' };
  return evaluateParts(word.parts, shell);
}

/** Parts as one text, such as the body of a here-document. */
export function evaluateParts(parts: readonly WordPart[], shell: Shell): Field {
  const line = createLine(shell);
  for (const part of parts) addPart(part, true, shell, line);
  const [first, ...more] = line.fields();
  if (first === undefined) return { text: '', certain: true, blank: false, glob: false, origin: 'text' };
  return more.reduce((a, b) => ({ ...b, text: `${a.text} ${b.text}`, certain: a.certain && b.certain }), first);
}

function braces(word: Word, parts: readonly WordPart[], shell: Shell): readonly Field[] {
  const texts = expandBraces(word.text);
  if (texts === undefined || (texts.length === 1 && texts[0] === word.text)) {
    const line = createLine(shell);
    for (const part of parts) addPart(part, false, shell, line);
    return line.fields();
  }
  const source = texts.filter((text) => text !== '').join(' ');
  if (!shell.report.spend(source.length)) return [unknownField()];
  const command = parse(`: ${source}`).commands[0]?.command;
  if (command?.type !== 'Command') return [unknownField()];
  return command.suffix.flatMap((each) => {
    if (each.type === 'Word') return noBraces(each, shell);
    return each.type === 'Assignment' ? [{ ...unknownField(), text: each.text }] : [unknownField()];
  });
}

function noBraces(word: Word, shell: Shell): readonly Field[] {
  const { parts } = word;
  if (parts === undefined) return evaluateWord(word, shell);
  const line = createLine(shell);
  for (const part of parts) addPart(part, false, shell, line);
  return line.fields();
}

/** Puts the words of a line together. */
interface Line {
  add(text: string, more?: Partial<Omit<Field, 'text'>>): void;
  /** Adds the value of an expansion; unquoted, the shell splits it. */
  addValue(value: Field, quoted: boolean): void;
  /** Ends a word, as between the elements of "$@". */
  cut(): void;
  fields(): readonly Field[];
}

function createLine(shell: Shell): Line {
  const done: Field[] = [];
  let open: Field | undefined;
  const cut = (): void => {
    if (open !== undefined && done.length < SHELL_SCREEN_BOUNDS.fieldsMax) done.push(open);
    open = undefined;
  };
  const add: Line['add'] = (
    text,
    { certain = true, blank = false, glob = false, origin = 'text', secret = false } = {},
  ) => {
    open = {
      text: (open?.text ?? '') + text,
      certain: certain && (open?.certain ?? true),
      blank: blank || (open?.blank ?? false),
      glob: glob || (open?.glob ?? false),
      origin: worseOrigin(origin, open?.origin ?? 'text'),
      ...(secret || open?.secret === true ? { secret: true } : {}),
    };
    if (open.text.length > SHELL_SCREEN_BOUNDS.textCharactersMax) open = unknownField(open.origin);
  };
  return {
    add,
    cut,
    addValue(value, quoted) {
      if (!shell.report.spend(value.text.length)) return;
      if (quoted) {
        add(value.text, value);
        return;
      }
      const ifs = variableOf(shell, 'IFS');
      const pieces = splitBy(value.text, ifs.values.join(''));
      const certain = value.certain && ifs.certain;
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) cut();
        // An unquoted expansion of nothing is no word, but one of something unknown may be.
        if (piece !== '' || (value.blank && pieces.length === 1)) {
          add(piece, { ...value, certain, glob: value.glob || /[*?[]/.test(piece) });
        }
      }
    },
    fields() {
      cut();
      return done;
    },
  };
}

function splitBy(text: string, separators: string): string[] {
  const pieces = [''];
  for (const character of text) {
    if (separators.includes(character)) pieces.push('');
    else pieces[pieces.length - 1] += character;
    if (pieces.length > SHELL_SCREEN_BOUNDS.fieldsMax) break;
  }
  return pieces;
}

/** zsh runs code in such patterns, and to other languages they are something else again. */
const EXTENDED: Judgement = {
  rule: 'extended-pattern',
  why: 'it holds a pattern that some shells run',
  verdict: 'ask',
};

function addPart(part: WordPart, quoted: boolean, shell: Shell, line: Line): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      line.add(part.value);
      break;
    case 'DoubleQuoted':
    case 'LocaleString':
      if (part.parts.length === 0) line.add('');
      for (const each of part.parts) addPart(each, true, shell, line);
      break;
    case 'Glob':
      line.add(part.text, { certain: quoted, glob: !quoted });
      break;
    case 'ExtendedGlob':
      for (const each of part.parts ?? []) followSubstitutions(each, shell);
      shell.report.add(EXTENDED, part.text);
      line.add(part.text, { certain: false, glob: true, origin: 'unknown' });
      break;
    case 'BraceExpansion':
      line.add(part.text, { certain: false });
      break;
    default:
      addExpansion(part, quoted, shell, line);
  }
}

type Expansion = Extract<
  WordPart,
  {
    type: 'SimpleExpansion' | 'ParameterExpansion' | 'CommandExpansion' | 'ArithmeticExpansion' | 'ProcessSubstitution';
  }
>;

function addExpansion(part: Expansion, quoted: boolean, shell: Shell, line: Line): void {
  switch (part.type) {
    case 'SimpleExpansion':
      addVariable(part.text.slice(1), quoted, shell, line);
      break;
    case 'ParameterExpansion':
      if (part.operation === undefined && part.index === undefined && part.prefix === undefined) {
        addVariable(part.parameter, quoted, shell, line);
      } else {
        const values = expandParameter(part, shell, (word) => evaluateText(word, shell));
        addValues(quoted && part.index?.value === '*' ? joined(values, shell) : values, quoted, line);
      }
      break;
    case 'CommandExpansion':
      line.addValue(outputOf(part.script, shell), quoted);
      break;
    case 'ArithmeticExpansion':
      addNumber(part, shell, line);
      break;
    case 'ProcessSubstitution':
      addPipe(part.script, part.operator, shell, line);
  }
}

function addVariable(name: string, quoted: boolean, shell: Shell, line: Line): void {
  const { values, certain, blank, origin } = variableOf(shell, name);
  // An array by its name alone is its first element.
  const chosen = name === '@' || name === '*' ? values : values.slice(0, 1);
  const fields = chosen.map((text): Field => ({ text, certain, blank, glob: false, origin }));
  addValues(quoted && name === '*' ? joined(fields, shell) : fields, quoted, line);
  if (chosen.length > 0) return;
  if (blank) line.addValue({ text: '', certain: false, blank, glob: false, origin }, quoted);
  else if (quoted && name !== '@') line.add('');
}

/** `"$*"` is one word, joined by the first separator. */
function joined(values: readonly Field[], shell: Shell): readonly Field[] {
  const [first] = values;
  if (first === undefined) return values;
  const ifs = variableOf(shell, 'IFS');
  const text = values.map((value) => value.text).join(ifs.values.join('').charAt(0));
  return [{ ...first, text, certain: ifs.certain && values.every(({ certain }) => certain) }];
}

function addValues(values: readonly Field[], quoted: boolean, line: Line): void {
  for (const [index, value] of values.entries()) {
    if (index > 0) line.cut();
    line.addValue(value, quoted);
  }
}

function addNumber(part: Extract<WordPart, { type: 'ArithmeticExpansion' }>, shell: Shell, line: Line): void {
  if (part.expression !== undefined) followSubstitutions(part.expression, shell);
  const value = evaluateArithmetic(part.expression, shell);
  if (value === undefined) line.add('', { certain: false, blank: true, origin: 'unknown' });
  else line.add(String(value), { certain: true });
}

/** Follows the commands in a text in which they have no output that matters. */
export function followSubstitutions(node: SyntaxNode, shell: Shell): void {
  visitTree(node, (each) => {
    if (each.type === 'CommandExpansion' || each.type === 'ArithmeticCommandExpansion') {
      outputOf(each.script, shell);
      return true;
    }
    if (each.type === 'ProcessSubstitution') {
      inSubshell(shell, each.script);
      return true;
    }
    return false;
  });
}

/** What a command substitution leaves in its place. */
function outputOf(script: ParsedScript | undefined, shell: Shell): Field {
  const { text, certain, origin, secret } = inSubshell(shell, script);
  if (text === undefined) return { ...unknownField(origin), secret };
  return { text: text.replace(/\n+$/, ''), certain, blank: false, glob: false, origin, secret };
}

/** The name of a pipe; what can be read from it is kept as if it were a file. */
function addPipe(script: ParsedScript | undefined, operator: '<' | '>', shell: Shell, line: Line): void {
  const path = `/dev/fd/${63 - (shell.files.size % 48)}`;
  if (operator === '>') {
    if (script !== undefined) shell.sinks.push(script);
    line.add(path);
    return;
  }
  const stream = inSubshell(shell, script);
  shell.files.set(path, stream);
  line.add(path, { origin: stream.origin });
}

const UNREAD: Origin = 'unknown';

function inSubshell(shell: Shell, script: ParsedScript | undefined): Stream {
  if (script === undefined) return { text: undefined, certain: false, origin: UNREAD, secret: false };
  shell.conditional += 1;
  const stream = shell.run.script(shell, script);
  shell.conditional -= 1;
  return stream;
}
