import type { Clock } from '@sallyport/std/clock';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { ListedMcpTool } from '../../../registry/importer.port.ts';
import type { ListedOffer } from '../../known-upstream.ts';
import { blockedFailure, type Quarantine } from '../../quarantine.ts';
import type { BlockReason, UpstreamTool } from '../../quarantine-store.port.ts';
import { isNews } from '../../trust/compare-listing.ts';
import { definitionHash } from '../../trust/definition-hash.ts';
import type { ScanVerdict } from '../../trust/description-scanner.port.ts';
import { type HeldKind, offerId, placeOf } from '../../trust/offer-places.ts';

/** What of the quarantine offers need. */
export type OfferQuarantine = Pick<Quarantine, 'compare' | 'reread' | 'put' | 'find' | 'blocks' | 'inTurn'>;

/** Prompts and resource templates of one upstream; changed ones wait for an operator (REG-09). */
export interface HeldOffers {
  /**
   * Compares a whole list with what was accepted; the first text of an offer is accepted when the scan finds nothing.
   * @param verdicts in the order of the offers
   * @param isAdded an operator just asked for the upstream: new offers are accepted even where others have to wait
   */
  take(
    kind: HeldKind,
    offers: readonly ListedOffer[],
    verdicts: readonly ScanVerdict[],
    isAdded: boolean,
  ): Promise<void>;
  /** True while an offer waits, was refused, or is not known. */
  isHeld(kind: HeldKind, offer: ListedOffer): boolean;
}

/** Called with offers that wait from now on (`tools-quarantined`), or no longer (`tools-restored`). */
export type OffersHeld = (change: 'tools-quarantined' | 'tools-restored', offers: readonly UpstreamTool[]) => void;

/** Dependencies of the held offers of one upstream. */
interface HeldOffersParts {
  readonly quarantine: OfferQuarantine;
  readonly tenantId: string;
  readonly upstream: string;
  /** True for a reference server, whose changes are accepted. */
  readonly isTrusted: boolean;
  /** True when what the server adds later waits for nobody; see `accept_new_tools`. */
  readonly acceptsNew: boolean;
  readonly clock: Clock;
  readonly onHeld: OffersHeld;
}

/** What is new, or changed, is compared again with what is on record: another instance may have decided since. */
async function comparedOnRecord(
  { quarantine, tenantId, isTrusted }: HeldOffersParts,
  place: string,
  listing: Parameters<Quarantine['compare']>[2],
  isAdded: boolean,
): Promise<ReturnType<Quarantine['compare']>> {
  const compared = quarantine.compare(tenantId, place, listing, isTrusted);
  if (!isAdded && !isNews(compared)) return compared;
  await quarantine.reread(tenantId, place);
  return quarantine.compare(tenantId, place, listing, isTrusted);
}

/** Makes the held offers of one upstream. */
export function createHeldOffers(parts: HeldOffersParts): HeldOffers {
  const { quarantine, tenantId, upstream, isTrusted, acceptsNew, clock, onHeld } = parts;
  return {
    take: (kind, offers, verdicts, isAdded) =>
      quarantine.inTurn(tenantId, upstream, async () => {
        const place = placeOf(upstream, kind);
        const listing = offers.map((offer) => ({
          toolId: offerId(upstream, kind, keyOf(kind, offer)),
          listed: definitionOf(kind, offer),
        }));
        const findingsOf = new Map(listing.map(({ listed }, at) => [listed, verdicts[at]?.findings ?? []]));
        const isClean = (listed: ListedMcpTool): boolean => findingsOf.get(listed)?.length === 0;
        const compared = await comparedOnRecord(parts, place, listing, isAdded);
        const noticedAt = new Date(clock.now()).toISOString();
        const free = (
          { block: _block, served: _served, ...known }: UpstreamTool,
          listed: ListedMcpTool,
        ): UpstreamTool => ({
          ...known,
          acceptedHash: definitionHash(listed),
          noticedAt,
        });
        const blockOf = ({ acceptedHash }: UpstreamTool, listed: ListedMcpTool): BlockReason => {
          if (acceptedHash !== undefined) return 'changed';
          return isClean(listed) ? 'new' : 'flagged';
        };
        const held = (known: UpstreamTool, listed: ListedMcpTool, block = blockOf(known, listed)) => ({
          ...known,
          block,
          served: {
            hash: definitionHash(listed),
            definition: listed,
            serverVersion: '',
            findings: findingsOf.get(listed) ?? [],
          },
          noticedAt,
        });
        const fresh = compared.unknown.map(({ toolId, listed }): UpstreamTool => {
          const known: UpstreamTool = { tenantId, toolId, upstream: place, tool: listed.name, noticedAt };
          const isAccepted = isTrusted || (isClean(listed) && (isAdded || acceptsNew));
          return isAccepted ? free(known, listed) : held(known, listed);
        });
        // What an operator refused, or never let in, is decided by operators alone.
        const changed = compared.changed.map(({ known, listed }): UpstreamTool => held(known, listed));
        const rejected = compared.rejected.map(({ known, listed }) => held(known, listed, 'rejected'));
        const back = compared.accepted.filter(
          ({ known, listed }) => known.block !== undefined || isOther(known, listed),
        );
        const restored = back.map(({ known, listed }) => free(known, listed));
        const gone = compared.absent.map(
          ({ served: _served, ...known }): UpstreamTool => ({ ...known, block: 'absent', noticedAt }),
        );
        await quarantine.put([...fresh, ...changed, ...rejected, ...restored, ...gone]);
        const waiting = [...fresh, ...changed].filter(({ block }) => block !== undefined);
        if (waiting.length > 0) onHeld('tools-quarantined', waiting);
        const lifted = restored.filter((_, at) => !['absent', undefined].includes(back[at]?.known.block));
        if (lifted.length > 0) onHeld('tools-restored', lifted);
      }),
    isHeld(kind, offer) {
      const key = keyOf(kind, offer);
      const id = offerId(upstream, kind, key);
      const known = quarantine.find(tenantId, id);
      const isOwn = known?.upstream === placeOf(upstream, kind) && known.tool === key;
      return !isOwn || quarantine.blocks(tenantId, id) !== undefined;
    },
  };
}

/** The refusal to get a prompt that waits; what its server no longer lists is for the server to refuse. */
export function checkPrompt(
  quarantine: Pick<OfferQuarantine, 'blocks'>,
  tenantId: string,
  upstream: string,
  name: unknown,
): void {
  const id = offerId(upstream, 'prompts', String(name));
  const block = quarantine.blocks(tenantId, id);
  if (block === undefined || block.reason === 'absent' || block.tool !== name) return;
  throw ToolLayerError.of(blockedFailure(id, { ...block, upstream }));
}

/** A trusted server changed it: the new text is the accepted one. */
const isOther = ({ acceptedHash }: UpstreamTool, listed: ListedMcpTool): boolean =>
  acceptedHash !== definitionHash(listed);

const keyOf = (kind: HeldKind, offer: ListedOffer): string =>
  kind === 'prompts' ? offer.name : String(offer['uriTemplate']);

/** What is in an offer for a model or a person to read, in the form that the quarantine takes. */
function definitionOf(kind: HeldKind, offer: ListedOffer): ListedMcpTool {
  const { title, description, icons, _meta, ...rest } = offer;
  return { name: keyOf(kind, offer), title, description, icons, _meta, inputSchema: rest } as ListedMcpTool;
}
