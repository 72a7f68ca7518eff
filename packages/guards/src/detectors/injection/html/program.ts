import { JSX_EVENT } from './names.ts';

/** Characters of an element before an attribute that are read to see whether it is one. */
const TAG_MAX = 400;
/** Characters of a value that are read. */
const VALUE_MAX = 512;

/** Names, blanks, and values as HTML writes them, from the name of an element up to an attribute. */
const TAG =
  /^<[a-z][\w:-]*(?:(?:[\s/]+|(?<=["']))[^\s"'<>/=;(){}]+(?:\s?=\s?(?:"[^"]*"|'[^']*'|\{[^{}<>]*\}|[^\s"'`<>={}]+))?)*[\s/]*$/i;
/** Elements that no program writes directly after a "less than" sign. */
const HTML_ELEMENT =
  /^<(?:img|svg|body|html|video|audio|input|details|marquee|button|div|span|form|select|textarea|iframe|image|object|embed|style|table|link|math|isindex|keygen|source|track|picture)[\s/"']/i;

/**
 * True when a quote or an element's attributes lead here, so that a browser takes what follows for an attribute.
 * @param element start of the element around this place
 */
export function isInTag(text: string, element: number, at: number): boolean {
  if (HTML_ELEMENT.test(text.slice(element, element + 16))) return true;
  return at - element <= TAG_MAX && TAG.test(text.slice(element, at));
}

/** `const onload = …`: a variable of a program. */
export function isDeclared(text: string, start: number): boolean {
  return /\b(?:const|let|var|readonly|private|public)\s$/.test(text.slice(Math.max(0, start - 10), start));
}

/** `onload = (event) => …`: what a program assigns. */
export function isFunction(text: string, from: number): boolean {
  return /^\s*(?:\([\w\s,:]*\)\s*(?::[^=]{0,40})?=>|async\b|function\b|\w+\s*=>)/.test(text.slice(from, from + 80));
}

/** A call, or an assignment, in any spelling of JavaScript. */
const RUNS = /[\w\])}$]\s*(?:\(|`|\?\.\(|&lpar;|&#)|\+\+|--|[^=!<>]=[^=>]/i;
/** What every page has: a program that is written in braces names its own functions. */
const OF_BROWSER =
  /(?<![\w$.])(?:alert|confirm|prompt|eval|fetch|import|atob|document|window|location|navigator|globalthis|self|top|parent|frames|function|settimeout|setinterval|xmlhttprequest|localstorage|sessionstorage)(?=\s*(?:[([.`=,)]|\?\.))|\bcookie\b|\bconstructor\b|`|\]\s*\(|\\u|&#|&lpar;/i;

/**
 * True when a value in braces runs as soon as its event occurs. A browser reads it up to a blank or `>`, as a block. JSX
 * and templates pass a function there (`onClick={() => save(1)}`, `onClick={save}`), or one that their own function
 * returns (`onSubmit={handle(save)}`), in camel case.
 * @param name of the attribute as it is written
 * @param isMarkup whether the place is an attribute beyond doubt
 */
export function runsInBraces(text: string, from: number, name: string, isMarkup: boolean): boolean {
  const value = /^[^\s>]*/.exec(text.slice(from, from + VALUE_MAX))?.[0] ?? '';
  if (!RUNS.test(value) || /^\{(?:async)?(?:\([^()]*\)|\w*)=$/.test(value)) return false;
  if (OF_BROWSER.test(value)) return true;
  const isTemplate = value.startsWith('{{') || value.startsWith('{%') || JSX_EVENT.test(name);
  return isMarkup && !isTemplate;
}
