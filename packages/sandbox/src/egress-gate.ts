import { lookup } from 'node:dns/promises';
import { addressAllowed, type Resolver, type UrlPolicy } from '@sallyport/guards';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { NetworkPermission } from '@sallyport/std/permissions';
import { type EgressRun, openEgressRun } from './egress/egress-run.ts';
import { routesOf } from './egress/rules/find-route.ts';
import { hostRules } from './egress/rules/host-rules.ts';
import { type InsideListener, type InsideView, insideView } from './egress/rules/inside-view.ts';
import { EGRESS_DEFAULTS, type EgressBounds } from './egress/settings.ts';
import type { EgressUsage } from './egress/traffic/traffic.ts';

export type { EgressBounds, EgressRun, EgressUsage, InsideListener, InsideView };
export { EGRESS_DEFAULTS };

/** Addresses and bandwidth of one sandbox's network. */
export interface EgressOrder {
  /** Exact hosts; `*.name` and `*` too; port 0 stands for every port. */
  readonly network: readonly NetworkPermission[];
  /** Both directions together, on average; default: no limit. */
  readonly bandwidthMbps?: number;
}

/** Lets sandboxes reach the network, each the addresses of its grant and nothing else (SBX-04). */
export interface EgressGate {
  /**
   * Opens the network of one sandbox. The caller closes it.
   * @throws E3104 for an invalid host or port
   */
  open(order: EgressOrder): EgressRun;
}

/** Dependencies of a gate; everything has a default. */
export interface EgressGateParts {
  /**
   * Addresses that names may lead to; default: public ones only. An IP literal in the grant is always meant, and
   * `localhost` means the machine's loopback.
   */
  readonly policy?: UrlPolicy;
  /** Default: the system's resolver. */
  readonly resolver?: Resolver;
  readonly bounds?: Partial<EgressBounds>;
}

/**
 * Makes a gate. Names are looked up here and never inside; every address is checked, and connections go to the checked
 * address.
 * @throws TypeError for a policy with an invalid address
 */
export function createEgressGate({ policy = {}, resolver = systemResolver, bounds }: EgressGateParts = {}): EgressGate {
  const allBounds = { ...EGRESS_DEFAULTS, ...bounds };
  // Evaluated once here, so that an invalid address in a policy is reported to its author.
  addressAllowed('127.0.0.1', policy);
  return {
    open({ network, bandwidthMbps }) {
      const rules = hostRules(network);
      if ('fault' in rules) throw noAddress(rules.fault);
      return openEgressRun({
        view: insideView(rules),
        findRoute: routesOf({ rules, policy, resolver, bounds: allBounds }),
        bounds: allBounds,
        bandwidthMbps,
      });
    },
  };
}

const systemResolver: Resolver = async (host) => {
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
};

function noAddress({ host, port }: NetworkPermission): ToolLayerError {
  return new ToolLayerError(
    'E3104',
    `${JSON.stringify(host)} with port ${port} is no address that a sandbox can reach. Name an exact host and a port.`,
    { details: { host, port } },
  );
}
