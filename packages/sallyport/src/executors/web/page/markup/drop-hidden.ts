import { KiB } from '@sallyport/std/bytes';
import type { DomDocument, DomElement } from './dom.ts';
import { visibilityOf } from './hiding-style.ts';

/** Elements that are no text for readers. */
const NO_TEXT =
  'script, style, noscript, template, iframe, frame, frameset, object, embed, applet, canvas, svg, math, audio, video, ' +
  'input, select, textarea, button, dialog:not([open]), datalist, map, portal, slot';
const MARKED_HIDDEN = '[hidden], [aria-hidden="true" i], [inert]';
/** Rules of a page's style sheets that are looked at. */
const RULES_MAX = 2000;
const STYLE_CHARS_MAX = 512 * KiB;

/** How often something was left out, by kind. */
export type Dropped = Record<string, number>;

/**
 * Takes out of a page what its reader does not see, since that is where instructions to a model are put: hidden elements
 * (by attribute, by their own style, by a style sheet in the page), comments, and what runs or embeds. Style sheets of
 * other addresses are not fetched, so what only they hide stays.
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

/** Elements that the style sheets within the page hide; a later rule may show again what an earlier one hid. */
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
  // States and generated parts say nothing of the page at rest.
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

/** Rules at the top of a sheet; those in @media and its like hold for some readers only, and are passed over. */
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
