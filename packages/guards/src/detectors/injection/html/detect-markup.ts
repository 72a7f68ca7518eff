import type { Report } from '../finding.ts';
import type { Reading } from '../text/reading.ts';
import { ACTIVE_ELEMENTS, EVENTS, NEEDS_ATTRIBUTE, TYPE_LIKE } from './names.ts';
import { isDeclared, isFunction, isInTag, runsInBraces } from './program.ts';
import { hasScriptScheme, plainStyle } from './read-value.ts';

/** Most ignored characters between `<` and the name of an element; browsers or filters skip them. */
const JUNK_MAX = 12;
/** Characters of the name of an element or an attribute. */
const NAME_MAX = 40;
/** Characters of a style that are read. */
const STYLE_MAX = 2_048;

const LESS = 60;
const EQUALS = 61;
const OPEN = 40;
const OPEN_BRACE = 123;
const RISKY_STYLE =
  /expression\s*\(|-moz-binding|behaviou?r\s*:|@import|(?:java|vb)script\s*:|url\s*\(\s*["']?\s*data:text/;

interface Scan {
  readonly text: string;
  readonly strict: boolean;
  readonly report: Report;
  /** Where the last element began, -1 before the first. */
  element: number;
  /** The next `>` after it, or the end of the text; valid until a later element begins. */
  close: number;
  /** Styles were read up to here. */
  styleEnd: number;
}

/** Looks for elements, attributes and addresses that execute when a browser shows the text. */
export function detectMarkup({ text, codes, marks, markCount }: Reading, strict: boolean, report: Report): void {
  const scan: Scan = { text, strict, report, element: -1, close: -1, styleEnd: 0 };
  for (let mark = 0; mark < markCount; mark++) {
    const at = marks[mark] ?? 0;
    const code = codes[at];
    if (code === LESS) element(scan, at);
    else if (code === EQUALS) attribute(scan, at);
    else if (code === OPEN) address(scan, at);
  }
}

function element(scan: Scan, at: number): void {
  const { text, strict, report } = scan;
  const start = nameStart(text, at + 1);
  const second = text.charCodeAt(at + 1);
  if (second === 33 || second === 63) {
    if (declaration(text, at)) report('active_declaration', at, at + 2);
    return;
  }
  if (start < 0) return;
  scan.element = at;
  if (scan.close < at) scan.close = closeAfter(text, at);
  const name = readName(text, start);
  const end = start + name.length;
  const local = name.slice(name.indexOf(':') + 1);
  if (second === 47 && CLOSED_FIRST.has(name)) {
    if (!isOpened(text, at, name)) report('element_closed', at, end);
  } else if (local === 'style') style(scan, at, end);
  else if (ACTIVE_ELEMENTS.has(local) && isActive(text, at, end, local, name)) report('active_element', at, end);
  else if (strict && name !== '' && isElementEnd(text.charCodeAt(end))) report('element', at, end);
}

/** Elements whose content is not parsed as markup: closing one that the value did not open leaves its place. */
const CLOSED_FIRST: ReadonlySet<string> = new Set(
  'script style title textarea noscript iframe xmp template noembed plaintext head body html'.split(' '),
);
/** Characters before the end of an element that are searched for its beginning. */
const OPENED_LOOK = 4_096;

function isOpened(text: string, at: number, name: string): boolean {
  if (at > OPENED_LOOK) return true;
  return text.slice(0, at).toLowerCase().includes(`<${name}`);
}

function closeAfter(text: string, at: number): number {
  const close = text.indexOf('>', at);
  return close < 0 ? text.length : close;
}

/** First letter of the name, after ignored characters; -1 when no name begins. */
function nameStart(text: string, from: number): number {
  let at = from;
  while (at < from + JUNK_MAX) {
    const code = text.charCodeAt(at);
    if (isLetter(code)) return at;
    // Browsers do not skip a blank, which follows a "less than" sign.
    if (code !== 47 && code !== 60 && (code >= 32 || Number.isNaN(code)) && code !== 0xfeff) return -1;
    at++;
  }
  return -1;
}

/** In lower case, without invisible characters at the end. */
function readName(text: string, start: number): string {
  let at = start;
  while (at < start + NAME_MAX && isNamePart(text.charCodeAt(at))) at++;
  return text.slice(start, at).toLowerCase();
}

function isNamePart(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 58) || code === 45;
}

/** `Map<object>` is a type, an honest page's `</script>` closes nothing of ours, `<link>` alone has no effect. */
function isActive(text: string, at: number, end: number, local: string, name: string): boolean {
  const after = text.charCodeAt(end);
  if (after === 46 || after === 44 || after === 124) return false;
  const typed = at > 0 && isLetter(text.charCodeAt(at - 1)) && TYPE_LIKE.has(local) && local !== 'script';
  if (typed && !hasAttribute(text, end, local)) return false;
  if ((name.includes(':') && !NEEDS_ATTRIBUTE.has(local)) || local === 'script')
    return isElementEnd(after) || !isLetter(after);
  if (text.charCodeAt(at + 1) === 47) return false;
  return isElementEnd(after) && (!NEEDS_ATTRIBUTE.has(local) || hasAttribute(text, end, local));
}

/** Of some elements only these kinds have an effect: pages have many others. */
const EFFECTS: Readonly<Record<string, RegExp>> = {
  meta: /http-equiv(?!\s*=\s*["']?content-type["']?\s+content\s*=\s*["']?text\/html;?\s*(?:charset=(?!utf-?7)|["']))/i,
  frame: /^[^<>]*[\s/"'](?:src|on\w{3,30})\s*=/i,
  link: /^(?![^<>]{0,100}?\brel\s*=\s*["']?(?:canonical|alternate|(?:shortcut )?icon|next|prev|up|start|index|contents|help|author|license|search|preconnect|dns-prefetch|apple-touch-icon|manifest|top|home)\b)[^<>=]*[\s/"'][^<>=]*=/i,
};

/** Characters of an element in which its attributes are looked for. */
const ATTRIBUTES_MAX = 200;

function hasAttribute(text: string, end: number, local: string): boolean {
  const rest = text.slice(end, end + ATTRIBUTES_MAX);
  const effect = EFFECTS[local];
  if (effect !== undefined) return effect.test(rest);
  return /^[^<>=]*[\s/"'][^<>=]*=/.test(rest);
}

function isElementEnd(code: number): boolean {
  return Number.isNaN(code) || code <= 32 || code === 47 || code === 62 || code === 34 || code === 39 || code === 60;
}

/** Server-side includes, entities, and processing instructions that load a style sheet. */
function declaration(text: string, at: number): boolean {
  const head = text.slice(at + 2, at + 18).toLowerCase();
  if (text.charCodeAt(at + 1) === 63) return /^(?:xml-stylesheet|import)\b/.test(head);
  return /^(?:--#(?:exec|include|config|echo)|entity\b|attlist\b|\[cdata\[.*<|--\[if)/.test(head);
}

function attribute(scan: Scan, at: number): void {
  const { text, report } = scan;
  const next = text.charCodeAt(at + 1);
  // A comparison or an arrow of a program.
  if (next === EQUALS || next === 62) return;
  const inside = scan.element >= 0 && scan.close > at;
  const end = nameEnd(text, at, inside);
  let start = end;
  while (start > 0 && end - start < NAME_MAX && isLetter(text.charCodeAt(start - 1))) start--;
  // Most equal signs are in programs, outside elements.
  if (scan.element < 0 && !mayRun(text.charCodeAt(start), text.charCodeAt(start + 1))) return;
  const name = text.slice(start, end).toLowerCase();
  if (name === 'style') style(scan, start, at + 1);
  if (isHandler(scan, name, start, at, inside)) report('event_handler', start, at + 1);
  else if (scan.element >= 0 && hasScriptScheme(text, at + 1)) report('script_address', start, at + 1);
}

/** True when it begins like `on…` or `style`. */
function mayRun(first: number, second: number): boolean {
  return ((first | 32) === 111 && (second | 32) === 110) || ((first | 32) === 115 && (second | 32) === 116);
}

/** Between the name and its sign only blanks; within an element more is skipped. */
function nameEnd(text: string, at: number, inside: boolean): number {
  let end = at;
  while (end > 0 && at - end < NAME_MAX && isBetween(text.charCodeAt(end - 1), inside)) end--;
  return end;
}

function isBetween(code: number, inside: boolean): boolean {
  if (code <= 32) return true;
  return inside && !isLetter(code) && !(code >= 48 && code <= 57) && code !== 62 && code !== 34 && code !== 39;
}

function isHandler(scan: Scan, name: string, start: number, at: number, inside: boolean): boolean {
  const { text, strict } = scan;
  if (!name.startsWith('on') || name.length < 4) return false;
  const known = EVENTS.has(name.slice(2));
  const before = start === 0 ? 32 : text.charCodeAt(start - 1);
  if (isLetter(before) || before === 46 || before === 95 || (before >= 48 && before <= 57)) return false;
  if (!strict && isProgram(scan, start, at + 1, inside)) return false;
  if (inside) return true;
  if (!known) return false;
  if (scan.element >= 0) return true;
  // Outside an element it must first leave an attribute.
  let from = start - 1;
  while (from >= 0 && start - from < JUNK_MAX && text.charCodeAt(from) <= 32) from--;
  if (from < 0) return hasCall(text, at + 1);
  const code = text.charCodeAt(from);
  if (code === 34 || code === 39 || code === 96 || code === 62 || code === 47) return true;
  return leavesAttribute(text, start);
}

/** A variable of a program, a function that it assigns, or what JSX passes to an element, is no attribute of HTML. */
function isProgram({ text, element }: Scan, start: number, value: number, inside: boolean): boolean {
  const braces = text.charCodeAt(value) === OPEN_BRACE;
  if (!braces && !isDeclared(text, start) && !isFunction(text, value)) return false;
  const isMarkup = inside ? isInTag(text, element, start) : leavesAttribute(text, start);
  if (!braces) return !isMarkup;
  return !runsInBraces(text, value, text.slice(start, start + NAME_MAX), isMarkup);
}

/** A quote that ends the previous attribute, and attributes outside an element: `" autofocus `. */
const LEFT = /^[^"'<>\n]*["'][\s/]+(?:[a-z-]+(?:=["']?\w*["']?)?[\s/]+)*$/i;
const LEFT_MAX = 64;

const leavesAttribute = (text: string, start: number): boolean => start <= LEFT_MAX && LEFT.test(text.slice(0, start));

/** True when a call follows soon. */
function hasCall(text: string, from: number): boolean {
  const open = text.indexOf('(', from);
  return (open >= 0 && open - from <= NAME_MAX) || /^["'`]/.test(text.charAt(from));
}

/** `url(javascript:…)` and the target of a Markdown link. */
function address({ text, report }: Scan, at: number): void {
  const before = text.charCodeAt(at - 1);
  const link = before === 93;
  const url = (before | 32) === 108 && text.slice(at - 3, at).toLowerCase() === 'url';
  if ((link || url) && hasScriptScheme(text, at + 1)) report('script_address', at, at + 1);
}

function style(scan: Scan, start: number, from: number): void {
  if (from < scan.styleEnd) return;
  scan.styleEnd = Math.min(scan.text.length, from + STYLE_MAX);
  if (RISKY_STYLE.test(plainStyle(scan.text, from, scan.styleEnd))) scan.report('active_style', start, scan.styleEnd);
}

function isLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 122;
}
