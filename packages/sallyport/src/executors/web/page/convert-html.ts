import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { boundMarkup } from './markup/bound-markup.ts';
import { baseOf, cleanLinks, linksOf } from './markup/clean-links.ts';
import type { DomDocument, DomElement } from './markup/dom.ts';
import { type Dropped, dropHidden } from './markup/drop-hidden.ts';
import { createMarkdown } from './markup/markdown.ts';
import { plainText } from './markup/plain-text.ts';
import type { ConvertedPage, PageTask } from './page-task.ts';

type HtmlTask = Extract<PageTask, { readonly kind: 'html' }>;

/** The message is a sentence for the caller. */
export class PageRefused extends Error {}

const META_CHARS_MAX = 300;
/** A shorter article is rejected: Readability then found a menu, or a cookie notice. */
const ARTICLE_CHARS_MIN = 140;

const markdown = createMarkdown();

/**
 * Converts an HTML page to Markdown or text.
 * @throws PageRefused for an invalid selector or one without a match
 */
export function convertHtml(task: HtmlTask): ConvertedPage {
  const { text, cut } = boundMarkup(task.html);
  const document = parse(text);
  const notes: string[] = cut ? ['The markup is too large, too deep or has too long tags; the rest was left out.'] : [];
  const title = clean(document.querySelector('head > title, title')?.textContent);
  const language = clean(document.documentElement?.getAttribute('lang'))?.slice(0, 35);
  const base = baseOf(document, task.url);
  const dropped = dropHidden(document);
  cleanLinks(document, base, dropped);
  const { root, byline, articleTitle } = chosen(document, task, notes);
  // Readability may have restored attributes.
  if (root !== document.documentElement) cleanLinks(root, base, {});
  const found = { title: clean(articleTitle) ?? title, byline: clean(byline), language };
  return {
    content: task.mode === 'text' ? plainText(root) : markdown(root),
    ...defined(found),
    ...(task.links ? { links: linksOf(root) } : {}),
    dropped: dropped satisfies Dropped,
    notes,
    truncated: cut,
  };
}

interface Chosen {
  readonly root: DomElement;
  readonly byline?: string | null | undefined;
  readonly articleTitle?: string | null | undefined;
}

function chosen(document: DomDocument, { mode, selector }: HtmlTask, notes: string[]): Chosen {
  const body = document.querySelector('body') ?? document.documentElement;
  if (body === null) throw new PageRefused('The page holds no markup at all.');
  if (selector !== undefined) return { root: selected(document, selector) };
  if (mode !== 'article') return { root: body };
  // Readability modifies the document that it reads.
  const whole = body.innerHTML;
  const article = readable(document);
  if (article?.content instanceof Object && (article.textContent ?? '').trim().length >= ARTICLE_CHARS_MIN) {
    return { root: article.content, byline: article.byline, articleTitle: article.title };
  }
  notes.push('No article was found in the page, so this is the whole of it.');
  body.innerHTML = whole;
  return { root: body, byline: article?.byline };
}

interface Article {
  readonly title?: string | null | undefined;
  readonly byline?: string | null | undefined;
  readonly textContent?: string | null | undefined;
  readonly content?: DomElement | null | undefined;
}

function readable(document: DomDocument): Article | null {
  try {
    const options = { serializer: (node: unknown) => node as DomElement, disableJSONLD: true };
    return new Readability<DomElement>(document as never, options).parse();
  } catch {
    return null;
  }
}

function selected(document: DomDocument, selector: string): DomElement {
  let found: DomElement[];
  try {
    found = [...document.querySelectorAll(selector)];
  } catch {
    throw new PageRefused('The selector is no CSS selector.');
  }
  if (found.length === 0)
    throw new PageRefused('Nothing in the page fits the selector. Fetch it without one to see it.');
  const holder = document.createElement('div');
  // Matches inside another match come with it.
  const all = new Set(found);
  for (const element of found) if (!hasAncestorIn(element, all)) holder.appendChild(element);
  return holder;
}

function hasAncestorIn(element: DomElement, all: ReadonlySet<DomElement>): boolean {
  for (let above = element.parentElement; above !== null; above = above.parentElement) if (all.has(above)) return true;
  return false;
}

/** The parser does not add html or body when the page omits them. */
function parse(html: string): DomDocument {
  const hasRoot = /<html[\s>]/i.test(html);
  const whole = hasRoot ? html : `<!doctype html><html><head></head><body>${html}</body></html>`;
  const document = parseHTML(whole).document as unknown as DomDocument;
  const root = document.documentElement;
  if (root === null || document.querySelector('body') !== null) return document;
  const body = document.createElement('body');
  const outside = [...root.childNodes].filter(({ nodeName }) => nodeName.toUpperCase() !== 'HEAD');
  for (const node of outside) body.appendChild(node);
  root.appendChild(body);
  return document;
}

function clean(text: string | null | undefined): string | undefined {
  const line = text?.replaceAll(/\s+/g, ' ').trim().slice(0, META_CHARS_MAX);
  return line === '' ? undefined : line;
}

function defined<T extends Record<string, string | undefined>>(values: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: string;
  };
}
