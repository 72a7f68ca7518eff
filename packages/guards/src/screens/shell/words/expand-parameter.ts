import type { ParameterExpansionPart, ParameterOperation, Word } from 'unbash';
import { type Field, unknownField } from '../field.ts';
import type { Judgement } from '../report.ts';
import { type Shell, type Variable, variableOf, wholeOf } from '../shell.ts';
import { globMatcher } from './glob.ts';
import { replaceAllBounded } from './replace-text.ts';

type Evaluate = (word: Word | undefined) => Field;

/** Longest text in which patterns are looked for; each costs the square of it. */
const PATTERN_TEXT_MAX = 2048;

/** The words of `${…}` with an operation, an index or a prefix. */
export function expandParameter(part: ParameterExpansionPart, shell: Shell, evaluate: Evaluate): readonly Field[] {
  if (part.operation?.type === 'Names') return [unknownField()];
  const variable = part.prefix === '!' ? indirect(part.parameter, shell) : variableOf(shell, part.parameter);
  const elements = elementsOf(variable, part, evaluate);
  const { operation } = part;
  if (operation?.type === 'Transform' && operation.operand.text === 'P') shell.report.add(PROMPT, part.text);
  if (operation?.type === 'Unknown') shell.report.add(UNREAD, part.text);
  if (part.prefix === '#') return [lengthOf(elements, part)];
  if (operation === undefined) return elements;
  if (operation.type === 'Default') return defaultOf(elements, variable, operation, evaluate);
  if (elements.length === 0) {
    touch(operation, evaluate);
    return [wholeOf(variable)];
  }
  if (operation.type === 'Slice' && elements.length > 1) return sliceOfList(elements, operation, evaluate);
  return elements.map((element) => operate(element, operation, evaluate));
}

const UNREAD: Judgement = { rule: 'unparsable', why: 'it holds an expansion that is not understood', verdict: 'ask' };
const PROMPT: Judgement = {
  rule: 'prompt-expansion',
  why: 'it runs what a variable holds',
  verdict: 'ask',
};

function indirect(name: string, shell: Shell): Variable {
  const through = variableOf(shell, name);
  const target = variableOf(shell, through.values[0] ?? '');
  return { ...target, certain: target.certain && through.certain };
}

function elementsOf(variable: Variable, { index, parameter }: ParameterExpansionPart, evaluate: Evaluate): Field[] {
  const { values, certain, blank, origin } = variable;
  const all = values.map((text): Field => ({ text, certain, blank, glob: false, origin }));
  if (index === undefined) return parameter === '@' || parameter === '*' ? all : all.slice(0, 1);
  const at = evaluate(index).text.trim();
  if (at === '@' || at === '*') return all;
  const number = Number(at);
  const chosen = Number.isInteger(number) ? all.at(number) : undefined;
  // A name of an associative array: any of its elements.
  if (chosen === undefined) return all.slice(0, 1).map((field) => ({ ...field, certain: false }));
  return [chosen];
}

function lengthOf(elements: readonly Field[], { index }: ParameterExpansionPart): Field {
  const [first] = elements;
  if (first === undefined) return unknownField();
  const length = index !== undefined && elements.length > 1 ? elements.length : first.text.length;
  return { ...first, text: String(length), blank: false };
}

function defaultOf(
  elements: readonly Field[],
  { certain, blank }: Variable,
  { operator, operand }: Extract<ParameterOperation, { type: 'Default' }>,
  evaluate: Evaluate,
): readonly Field[] {
  const other = evaluate(operand);
  const isSet = elements.length > 0 && !(operator.startsWith(':') && elements[0]?.text === '');
  if (operator.endsWith('+')) return [{ ...other, certain: other.certain && certain && isSet }];
  if (operator.endsWith('?')) return elements.length > 0 ? elements : [unknownField()];
  if (isSet && !blank) return elements;
  // Not set by the script: it may be set from outside.
  return [{ ...other, certain: false }];
}

function touch(operation: ParameterOperation, evaluate: Evaluate): void {
  if (operation.type === 'Remove' || operation.type === 'Transform') evaluate(operation.operand);
  if (operation.type === 'Replace') {
    evaluate(operation.pattern);
    evaluate(operation.replacement);
  }
  if (operation.type === 'Slice') {
    evaluate(operation.offset);
    evaluate(operation.length);
  }
}

function operate(element: Field, operation: ParameterOperation, evaluate: Evaluate): Field {
  switch (operation.type) {
    case 'Remove':
      return withText(element, removed(element.text, evaluate(operation.operand), operation.operator));
    case 'Replace': {
      const by = evaluate(operation.replacement);
      return withText(element, replaced(element.text, evaluate(operation.pattern), by, operation.operator));
    }
    case 'Slice': {
      const offset = integer(evaluate(operation.offset).text);
      const length = operation.length === undefined ? undefined : integer(evaluate(operation.length).text);
      if (offset === undefined || (operation.length !== undefined && length === undefined)) return unknownField();
      return withText(element, sliced(element.text, offset, length));
    }
    case 'CaseModification':
      return withText(element, recased(element.text, operation.operator));
    case 'Transform':
      return transformed(element, evaluate(operation.operand).text);
    default:
      return unknownField();
  }
}

function withText(field: Field, text: string | undefined): Field {
  return text === undefined ? unknownField(field.origin) : { ...field, text };
}

function removed(text: string, { text: pattern }: Field, operator: string): string | undefined {
  if (text.length > PATTERN_TEXT_MAX) return undefined;
  const matches = globMatcher(pattern);
  const longest = operator.length === 2;
  const fromStart = operator.startsWith('#');
  for (let step = 0; step <= text.length; step += 1) {
    const taken = longest ? text.length - step : step;
    if (fromStart && matches(text.slice(0, taken))) return text.slice(taken);
    if (!fromStart && matches(text.slice(text.length - taken))) return text.slice(0, text.length - taken);
  }
  return text;
}

function replaced(text: string, { text: pattern }: Field, by: Field, operator: string): string | undefined {
  if (pattern === '') return text;
  if (!/[*?[\\]/.test(pattern)) {
    if (operator === '//') return replaceAllBounded(text, pattern, by.text);
    if (operator === '/#') return text.startsWith(pattern) ? by.text + text.slice(pattern.length) : text;
    if (operator === '/%') return text.endsWith(pattern) ? text.slice(0, -pattern.length) + by.text : text;
    return text.replace(pattern, () => by.text);
  }
  if (text.length > PATTERN_TEXT_MAX / 8) return undefined;
  const matches = globMatcher(pattern);
  let result = '';
  for (let at = 0; at < text.length; ) {
    let end = text.length;
    while (end > at && !matches(text.slice(at, end))) end -= 1;
    if (end > at) {
      result += by.text;
      at = end;
      if (operator !== '//') return result + text.slice(at);
    } else {
      result += text.charAt(at);
      at += 1;
    }
  }
  return result;
}

function integer(text: string): number | undefined {
  const number = Number(text.trim() === '' ? '0' : text);
  return Number.isInteger(number) ? number : undefined;
}

function sliced(text: string, offset: number, length: number | undefined): string {
  const from = offset < 0 ? text.length + offset : offset;
  if (length === undefined) return text.slice(from);
  return length < 0 ? text.slice(from, length) : text.slice(from, from + length);
}

function sliceOfList(
  elements: readonly Field[],
  { offset, length }: Extract<ParameterOperation, { type: 'Slice' }>,
  evaluate: Evaluate,
): readonly Field[] {
  const from = integer(evaluate(offset).text);
  const count = length === undefined ? elements.length : integer(evaluate(length).text);
  return from === undefined || count === undefined ? [unknownField()] : elements.slice(from, from + count);
}

function recased(text: string, operator: string): string {
  if (operator === '^^') return text.toUpperCase();
  if (operator === ',,') return text.toLowerCase();
  const first = operator === '^' ? text.charAt(0).toUpperCase() : text.charAt(0).toLowerCase();
  return first + text.slice(1);
}

function transformed(element: Field, letter: string): Field {
  if (letter === 'U') return { ...element, text: element.text.toUpperCase() };
  if (letter === 'L') return { ...element, text: element.text.toLowerCase() };
  if (letter === 'u') return { ...element, text: recased(element.text, '^') };
  // @P runs the substitutions in the value, @E turns escapes into characters.
  return { ...element, certain: false, origin: letter === 'P' || letter === 'E' ? 'decoder' : element.origin };
}
