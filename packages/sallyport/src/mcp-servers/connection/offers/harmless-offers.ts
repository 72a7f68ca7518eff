import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import type { Log } from '../../../telemetry/log.ts';
import { type ListedOffer, NO_OFFERS, type ServerOffers } from '../../known-upstream.ts';
import type { ScanVerdict } from '../../trust/description-scanner.port.ts';
import type { HeldKind } from '../../trust/offer-places.ts';
import type { HeldOffers } from './held-offers.ts';

/** Judges definitions, in order. */
export type JudgeOffers = (definitions: readonly ListedMcpTool[]) => Promise<readonly ScanVerdict[]>;

/** Prompts and templates stay in the lists, and wait where the quarantine says so. */
export interface HoldingOffers {
  readonly held: HeldOffers;
  /** False when a list was cut off; its entries are compared once it is whole. */
  whole(kind: HeldKind): boolean;
  /** An operator just asked for the upstream. */
  readonly isAdded: boolean;
}

const WORDS: Readonly<Record<HeldKind, string>> = { prompts: 'prompt', templates: 'template' };

/** Most withheld entries of one listing that are logged one by one. */
const LOGGED_MAX = 20;
const NAME_CHARS_SHOWN = 128;

/** What is in an offer for a model or a person to read, in the form that the scanner of definitions takes. */
function definitionOf({ name, title, description, icons, _meta, ...rest }: ListedOffer): ListedMcpTool {
  return { name, title, description, _meta, inputSchema: rest } as ListedMcpTool;
}

/**
 * The offers without those whose texts may hold hidden instructions (REG-09); each is logged. Instructions are judged
 * in the same way.
 */
export async function harmlessOffers(
  offers: ServerOffers,
  judge: JudgeOffers,
  log: Pick<Log, 'warn'>,
  upstream: string,
  holding?: HoldingOffers,
): Promise<ServerOffers> {
  let logged = 0;
  const held = async <Offer extends ListedOffer>(kind: HeldKind, all: readonly Offer[]): Promise<readonly Offer[]> => {
    if (holding === undefined) return clean(WORDS[kind], all);
    const { isAdded } = holding;
    if (holding.whole(kind)) await holding.held.take(kind, all, await judge(all.map(definitionOf)), isAdded);
    return all;
  };
  const clean = async <Offer extends ListedOffer>(kind: string, all: readonly Offer[]): Promise<readonly Offer[]> => {
    const verdicts = await judge(all.map(definitionOf));
    return all.filter((offer, at) => {
      const verdict = verdicts[at];
      if (verdict?.verdict === 'clean') return true;
      logged += 1;
      if (logged <= LOGGED_MAX) {
        const finding = verdict?.findings[0]?.kind;
        log.warn('upstream-offer-withheld', { upstream, kind, name: offer.name.slice(0, NAME_CHARS_SHOWN), finding });
      }
      return false;
    });
  };
  const { instructions, capabilities } = offers;
  const said = instructions === undefined ? [] : [{ name: 'instructions', description: instructions }];
  const [harmless] = await clean('instructions', said);
  return {
    ...NO_OFFERS,
    ...(harmless?.description === undefined ? {} : { instructions: harmless.description }),
    capabilities,
    resources: await clean('resource', offers.resources),
    templates: await held('templates', offers.templates),
    prompts: await held('prompts', offers.prompts),
  };
}
