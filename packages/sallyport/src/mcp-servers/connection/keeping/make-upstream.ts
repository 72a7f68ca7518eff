import type { UpstreamDefinition } from '../../../../api/schemas/upstream.ts';
import { shipsWithLayer } from '../../embedded-server.port.ts';
import type { OffersHeldAt, ToolsChanged, UpstreamLogged } from '../../known-upstream.ts';
import { notifyOfTools } from '../listing/notify-of-tools.ts';
import { createHeldOffers } from '../offers/held-offers.ts';
import type { StartSlots } from '../pacing/start-slots.ts';
import { type KeptUpstream, keepUpstream } from '../per-caller/keep-upstream.ts';
import type { UpstreamSettings } from '../settings.ts';
import type { UpstreamsParts } from '../upstreams-parts.ts';
import type { Outliving } from './outliving.ts';

/** What all upstreams of an instance share, and who is notified of them. */
export interface SharedByUpstreams {
  readonly parts: UpstreamsParts;
  readonly settings: UpstreamSettings;
  readonly startSlots: StartSlots;
  readonly toolListeners: Iterable<ToolsChanged>;
  readonly offersChanged: () => void;
  readonly offersHeld: (...held: Parameters<OffersHeldAt>) => void;
  readonly logged: (...message: Parameters<UpstreamLogged>) => void;
}

/** Makes one upstream; it connects only after `connect` or `startTrying`. */
export function makeUpstream(
  shared: SharedByUpstreams,
  tenantId: string,
  definition: UpstreamDefinition,
  { stderrLog, watched }: Outliving,
): KeptUpstream {
  const { parts, settings, startSlots, offersChanged: onOffers } = shared;
  const { clock, log, quarantine, callerOutbound } = parts;
  const { name } = definition;
  const isTrusted = shipsWithLayer(definition);
  return keepUpstream({
    ...{ definition, tenantId, callerOutbound, settings, startSlots, clock, log, watched, onOffers },
    random: Math.random,
    link: { ...parts, stderrLog },
    onTools: (tools, serverVersion) => {
      for (const listener of shared.toolListeners) notifyOfTools(listener, log, tenantId, name, tools, serverVersion);
    },
    onLog: (message, owner) => shared.logged(tenantId, name, message, owner),
    judgeOffers: (texts) => quarantine.scan(tenantId, name, texts, isTrusted),
    heldOffers: createHeldOffers({
      ...{ quarantine, tenantId, upstream: name, isTrusted, clock, acceptsNew: definition.accept_new_tools !== false },
      onHeld: (change, offers) => shared.offersHeld(tenantId, name, change, offers),
    }),
    refusal: (tool, servedHash) => quarantine.refusal(tenantId, name, tool, servedHash, isTrusted),
  });
}
