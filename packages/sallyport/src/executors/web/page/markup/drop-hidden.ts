import { KiB } from '@sallyport/std/bytes';
import type { DomDocument, DomElement } from './dom.ts';
import { visibilityOf } from './hiding-style.ts';

/** Elements without text for readers. */
const NO_TEXT =
  'script, style, noscript, template, iframe, frame, frameset, object, embed, applet, canvas, svg, math, audio, video, ' +
  'input, select, textarea, button, dialog:not([open]), datalist, map, portal, slot';
const MARKED_HIDDEN = '[hidden], [aria-hidden="true" i], [inert]';
/** Most rules of a page's style sheets that are evaluated. */
const RULES_MAX = 2000;
const STYLE_CHARS_MAX = 512 * KiB;

/** Number of dropped items, by kind. */
export type Dropped = Record<string, number>;

/**
 * Removes the parts of a page that its reader does not see, since instructions to models are hidden there: hidden
 * elements (by attribute, by their own style, by a style sheet in the page), comments, scripts and embedded objects.
 * External style sheets are not fetched, so elements that only they hide stay.
 */
export function dropHidden(document: DomDocument): Dropped {
  const dropped: Dropped = {};
  const drop = (kind: string, elements: Iterable<DomElement>): void => {
    let count = 0;
    for (const element of [...elements]) {
      if (/^(?:HTML|BODY|HEAD)$/i.test(element.tagName)) continue;
      element.remove();
      count += 1;
    }
    if (count > 0) dropped[kind] = (dropped[kind] ?? 0) + count;
  };
  const hiddenByRules = hiddenBySheets(document);
  const hiddenByStyle = [...document.querySelectorAll('[style]')].filter(
    (element) => visibilityOf(element.getAttribute('style') ?? '') === 'hidden',
  );
  drop('hidden', [...document.querySelectorAll(MARKED_HIDDEN), ...hiddenByRules, ...hiddenByStyle]);
  drop('active', document.querySelectorAll(NO_TEXT));
  return dropped;
}

/** Elements hidden by style sheets within the page; a later rule may show them again. */
function hiddenBySheets(document: DomDocument): Set<DomElement> {
  const hidden = new Set<DomElement>();
  const text = [...document.querySelectorAll('style')].map((style) => style.textContent ?? '').join('\n');
  for (const { selector, style } of rulesOf(text.slice(0, STYLE_CHARS_MAX))) {
    const visibility = visibilityOf(style);
    if (visibility === 'unsaid') continue;
    for (const element of select(document, selector)) {
      if (visibility === 'hidden') hidden.add(element);
      else hidden.delete(element);
    }
  }
  return hidden;
}

function select(document: DomDocument, selector: string): Iterable<DomElement> {
  // States and generated parts say nothing about the page at rest.
  if (/:(?:hover|focus|active|checked|before|after|target|visited)|::/.test(selector)) return [];
  try {
    return [...document.querySelectorAll(selector)];
  } catch {
    return [];
  }
}

interface Rule {
  readonly selector: string;
  readonly style: string;
}

/** Top-level rules of a sheet; rules in @media and the like apply to some readers only, and are skipped. */
function* rulesOf(sheet: string): Generator<Rule> {
  const text = sheet.replaceAll(/\/\*[\s\S]*?(?:\*\/|$)|<!--|-->/g, '');
  let count = 0;
  for (let at = 0; at < text.length && count < RULES_MAX; count += 1) {
    const open = text.indexOf('{', at);
    if (open === -1) return;
    const selector = text.slice(text.lastIndexOf(';', open) >= at ? text.lastIndexOf(';', open) + 1 : at, open).trim();
    const close = selector.startsWith('@') ? endOfBlock(text, open) : text.indexOf('}', open);
    const end = close === -1 ? text.length : close;
    if (!selector.startsWith('@') && selector.length <= 1024) yield { selector, style: text.slice(open + 1, end) };
    at = end + 1;
  }
}

function endOfBlock(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}
