import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { LRUCache } from 'lru-cache';
import type { OutboundAnswer } from '../../../external/outbound-http.ts';
import type { PageConverter } from '../page/page-converter.ts';
import type { WebBounds, WebSettings } from '../settings.ts';

/** Fetches one address, following redirects within the grant; throws like fetching a page. */
export type AskSite = (url: URL, bytesMax: number) => Promise<OutboundAnswer>;

/** Checks whether sites admit this program (RFC 9309). */
export interface Robots {
  /**
   * @throws ToolLayerError E3309 when the site's robots.txt disallows the page, or could not be fetched from a
   *   reachable server; the signal's reason
   */
  check(tenantId: string, url: URL, ask: AskSite, signal: AbortSignal): Promise<void>;
}

/** A site's rules; undefined when they could not be fetched, so that nothing may be fetched. */
interface Said {
  readonly text: string | undefined;
  readonly until: number;
}

export function createRobots(converter: PageConverter, settings: WebSettings, bounds: WebBounds, clock: Clock): Robots {
  const known = new LRUCache<string, Said>({ max: bounds.robotsSitesMax });

  const said = async (key: string, robotsUrl: URL, ask: AskSite, signal: AbortSignal): Promise<string | undefined> => {
    const kept = known.get(key);
    if (kept !== undefined && kept.until > clock.now()) return kept.text;
    const text = await rulesOf(robotsUrl, ask, bounds.robotsBytesMax, signal);
    known.set(key, { text, until: clock.now() + (text === undefined ? bounds.robotsFailureMs : bounds.robotsMs) });
    return text;
  };
  return {
    async check(tenantId, url, ask, signal) {
      if (!settings.respectRobots) return;
      const robotsUrl = new URL('/robots.txt', url);
      const text = await said(JSON.stringify([tenantId, robotsUrl.href]), robotsUrl, ask, signal);
      if (text === undefined) {
        throw closed(
          url,
          `${robotsUrl.href} cannot be had, so nothing of the site may be fetched. Try again later`,
          true,
        );
      }
      // Most sites have no robots.txt, or one without rules.
      if (!/disallow/i.test(text)) return;
      const task = {
        kind: 'robots' as const,
        robots: text,
        robotsUrl: robotsUrl.href,
        url: url.href,
        userAgent: settings.robotsName,
      };
      if (!(await converter.run(task, signal))) throw closed(url, `${robotsUrl.href} closes it to programs`, false);
    },
  };
}

/** RFC 9309 §2.3.1: a missing file disallows nothing; a failing server disallows everything. */
async function rulesOf(
  robotsUrl: URL,
  ask: AskSite,
  bytesMax: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { status, body } = await ask(robotsUrl, bytesMax);
    if (status >= 500) return undefined;
    return status >= 200 && status < 300 ? body.toString('utf8') : '';
  } catch (thrown) {
    if (signal.aborted || !(thrown instanceof ToolLayerError)) throw thrown;
    // Redirected out of the grant, or too often: it counts as unavailable.
    if (thrown.code === 'E3104' || thrown.code === 'E3309') return '';
    if (thrown.code === 'E3306' || thrown.code === 'E3310' || thrown.code === 'E3308') return undefined;
    throw thrown;
  }
}

const closed = (url: URL, why: string, isTemporary: boolean): ToolLayerError =>
  new ToolLayerError('E3309', `${url.href.slice(0, 300)} is not fetched: ${why}.`, {
    details: { reason: isTemporary ? 'robots_unavailable' : 'robots' },
  });
