import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import type { Log } from '../../../telemetry/log.ts';
import { type ListedOffer, NO_OFFERS, type ServerOffers } from '../../known-upstream.ts';
import type { ScanVerdict } from '../../trust/description-scanner.port.ts';

/** Judges definitions, in order. */
export type JudgeOffers = (definitions: readonly ListedMcpTool[]) => Promise<readonly ScanVerdict[]>;

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
): Promise<ServerOffers> {
  let logged = 0;
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
    templates: await clean('template', offers.templates),
    prompts: await clean('prompt', offers.prompts),
  };
}
