import { DOMParser } from 'linkedom';
import { convertHtml } from './convert-html.ts';
import { boundMarkup } from './markup/bound-markup.ts';
import { absolute } from './markup/clean-links.ts';
import type { DomElement } from './markup/dom.ts';
import type { ConvertedPage } from './page-task.ts';

const ENTRIES_MAX = 100;
const SUMMARY_CHARS_MAX = 1000;

/**
 * A feed (RSS 1.0, RSS 2.0, Atom) as a list in Markdown; undefined for other XML. Entities that it defines are not
 * expanded.
 */
export function convertFeed(xml: string, url: string): ConvertedPage | undefined {
  if (!/<(?:rss|feed|rdf:RDF)[\s>]/i.test(xml.slice(0, 4096))) return undefined;
  const { text, cut } = boundMarkup(xml);
  const document = new DOMParser().parseFromString(text, 'text/xml') as unknown as DomElement;
  const channel = document.querySelector('channel') ?? document.querySelector('feed');
  if (channel === null) return undefined;
  const all = [...document.querySelectorAll('item, entry')];
  const entries = all.slice(0, ENTRIES_MAX);
  const title = textOf(channel, 'title');
  const head = [title === undefined ? '' : `# ${title}`, textOf(channel, 'description') ?? textOf(channel, 'subtitle')];
  const content = [...head, ...entries.map((entry) => entryText(entry, url))].filter(Boolean).join('\n\n');
  return {
    content,
    ...(title === undefined ? {} : { title }),
    dropped: {},
    notes: all.length > ENTRIES_MAX ? [`The first ${ENTRIES_MAX} of ${all.length} entries.`] : [],
    truncated: cut || all.length > ENTRIES_MAX,
  };
}

function entryText(entry: DomElement, url: string): string {
  const title = textOf(entry, 'title') ?? 'Untitled';
  const link = entry.querySelector('link[rel="alternate"]') ?? entry.querySelector('link');
  const target = absolute(link?.getAttribute('href') ?? link?.textContent ?? '', url);
  const date = textOf(entry, 'pubDate') ?? textOf(entry, 'published') ?? textOf(entry, 'updated');
  const summary = summaryOf(entry.querySelector('description, summary')?.textContent ?? '', url);
  const heading = target === undefined ? `## ${title}` : `## [${title}](${target})`;
  return [heading, date, summary].filter(Boolean).join('\n\n');
}

/** Summaries are HTML inside text. */
function summaryOf(html: string, url: string): string {
  if (html.trim() === '') return '';
  return convertHtml({ kind: 'html', html, url, mode: 'text', links: false }).content.slice(0, SUMMARY_CHARS_MAX);
}

function textOf(parent: DomElement, name: string): string | undefined {
  for (const child of parent.children) {
    if (child.tagName.toLowerCase() !== name.toLowerCase()) continue;
    const text = (child.textContent ?? '')
      .replaceAll(/<[^<>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
    return text === '' ? undefined : text.slice(0, 300);
  }
  return undefined;
}
