import { canonicalJson } from '@sallyport/std/json/canonical-json';
import { sha256 } from '@sallyport/std/sha256';
import type { Log } from '../../../telemetry/log.ts';
import { NO_OFFERS, type ServerOffers } from '../../known-upstream.ts';
import type { HeldKind } from '../../trust/offer-places.ts';
import type { Link } from '../link.ts';
import { harmlessOffers, type JudgeOffers } from './harmless-offers.ts';
import type { HeldOffers } from './held-offers.ts';

/** What an upstream offers beside its tools, as it listed it last. */
export interface CurrentOffers {
  now(): ServerOffers;
  /** Lists again over a connection. @param isAdded an operator just asked for the upstream. Never rejects. */
  list(link: Pick<Link, 'listOffers'>, signal: AbortSignal, isAdded: boolean): Promise<void>;
}

/** Dependencies of the offers of one upstream. */
export interface CurrentOffersParts {
  readonly upstream: string;
  readonly log: Log;
  readonly judge: JudgeOffers;
  /** Absent: changes wait for nobody. */
  readonly held: HeldOffers | undefined;
  /** Called after each listing that differs from the one before. */
  onChanged(): void;
}

/** Makes offers that are empty until the first listing. */
export function createCurrentOffers({ upstream, log, judge, held, onChanged }: CurrentOffersParts): CurrentOffers {
  let current = NO_OFFERS;
  let print = '';
  let begun = 0;
  return {
    now: () => (held === undefined ? current : withoutHeld(current, held)),
    async list(link, signal, isAdded) {
      begun += 1;
      const mine = begun;
      try {
        const { offers, incomplete } = await link.listOffers(signal);
        for (const { method, reason } of incomplete)
          log.warn('upstream-offers-incomplete', { upstream, method, reason });
        const whole = (kind: HeldKind): boolean => !incomplete.some(({ method }) => method === METHODS[kind]);
        const holding = held === undefined ? undefined : { held, whole, isAdded };
        const harmless = await harmlessOffers(offers, judge, log, upstream, holding);
        // A later listing is newer than this one; an ended connection lists nothing.
        if (mine !== begun || signal.aborted) return;
        const before = print;
        print = sha256(canonicalJson(harmless));
        current = harmless;
        if (print !== before) onChanged();
      } catch (cause) {
        log.error('upstream-offers-failed', { upstream, cause });
      }
    },
  };
}

const METHODS: Readonly<Record<HeldKind, string>> = { prompts: 'prompts/list', templates: 'resources/templates/list' };

/** An operator may decide at any time, so that is looked at each time. */
function withoutHeld(offers: ServerOffers, held: HeldOffers): ServerOffers {
  if (offers === NO_OFFERS) return offers;
  return {
    ...offers,
    templates: offers.templates.filter((offer) => !held.isHeld('templates', offer)),
    prompts: offers.prompts.filter((offer) => !held.isHeld('prompts', offer)),
  };
}
