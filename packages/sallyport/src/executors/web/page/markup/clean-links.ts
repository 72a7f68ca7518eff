import type { PageLink } from '../page-task.ts';
import type { DomDocument, DomElement } from './dom.ts';
import type { Dropped } from './drop-hidden.ts';

/** Allowed schemes of links; others run, embed or open something. */
const SAFE = new Set(['http:', 'https:', 'mailto:', 'tel:']);
const URL_CHARS_MAX = 2048;
const LINKS_MAX = 200;
const TEXT_CHARS_MAX = 200;

/** Base of a page's relative links. */
export function baseOf(document: DomDocument, url: string): string {
  const base = absolute(document.querySelector('base[href]')?.getAttribute('href') ?? '', url);
  return base !== undefined && /^https?:/.test(base) ? base : url;
}

/**
 * Makes links absolute; removes addresses that lead to anything but a page or a mail, and drops images without an
 * address. Titles are removed too: they are invisible text.
 */
export function cleanLinks(root: DomElement | DomDocument, base: string, dropped: Dropped): void {
  for (const link of root.querySelectorAll('a[href]')) {
    const target = absolute(link.getAttribute('href') ?? '', base);
    if (target === undefined) {
      link.removeAttribute('href');
      dropped['links'] = (dropped['links'] ?? 0) + 1;
    } else link.setAttribute('href', target);
  }
  for (const image of [...root.querySelectorAll('img')]) {
    const source = absolute(image.getAttribute('src') ?? '', base);
    const alt = (image.getAttribute('alt') ?? '').trim().slice(0, TEXT_CHARS_MAX);
    if (source === undefined || !/^https?:/.test(source)) {
      image.remove();
      dropped['images'] = (dropped['images'] ?? 0) + 1;
    } else {
      image.setAttribute('src', source);
      image.setAttribute('alt', alt);
    }
  }
  for (const titled of root.querySelectorAll('[title]')) titled.removeAttribute('title');
}

/** The absolute address of a link; undefined when invalid or of a disallowed scheme. */
export function absolute(href: string, base: string): string | undefined {
  const text = href.trim();
  if (text === '' || text.length > URL_CHARS_MAX) return undefined;
  const url = URL.parse(text, base);
  if (url === null || !SAFE.has(url.protocol)) return undefined;
  url.username = '';
  url.password = '';
  return url.href;
}

/** Links of a part of a page, each once. */
export function linksOf(root: DomElement | DomDocument): PageLink[] {
  const links = new Map<string, PageLink>();
  for (const link of root.querySelectorAll('a[href]')) {
    const url = link.getAttribute('href') ?? '';
    if (links.size >= LINKS_MAX) break;
    const text = (link.textContent ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, TEXT_CHARS_MAX);
    if (!links.has(url)) links.set(url, { text, url });
  }
  return [...links.values()];
}
