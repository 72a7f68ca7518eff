import type { SandboxDriver } from '@sallyport/sandbox';
import type { Clock } from '@sallyport/std/clock';
import type { ClientAsker } from '../../domain/questions/client-question.ts';
import type { OutboundHttp } from '../../external/outbound-http.ts';
import type { SecretStore } from '../../external/secret-store.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { EmbeddedServers } from '../embedded-server.port.ts';
import type { Packages } from '../packages.ts';
import type { Quarantine } from '../quarantine.ts';
import type { UpstreamLogins } from '../upstream-logins.ts';
import type { UpstreamStore } from '../upstream-store.port.ts';
import type { OfferQuarantine } from './offers/held-offers.ts';
import type { UpstreamChecks } from './per-caller/keep-upstream.ts';
import type { UpstreamSettings } from './settings.ts';

/** Dependencies of the upstreams. */
export interface UpstreamsParts extends UpstreamChecks {
  /** Starts every stdio server. */
  readonly driver: SandboxDriver;
  readonly store: UpstreamStore;
  /** Refuses tools that differ from the accepted ones. */
  readonly quarantine: Pick<Quarantine, 'refusal' | 'waitingAt' | 'scan'> & OfferQuarantine;
  /** Values of `{{NAME}}` in headers and environments. */
  readonly secrets: SecretStore;
  /** Access tokens for HTTP servers. */
  readonly logins: Pick<UpstreamLogins, 'authorizer' | 'expect' | 'prints' | 'isOver'>;
  /** Installs packages. */
  readonly packages: Packages;
  readonly log: Log;
  readonly clock: Clock;
  /** Puts questions of servers to the clients of their calls. */
  readonly clients: ClientAsker;
  /** Guarded outbound HTTP, to the host and port of each server's URL alone. */
  readonly outbound: OutboundHttp;
  /**
   * Makes outbound HTTP for one caller's connection to an HTTP server, so that two callers never share a socket;
   * disposed with the connection.
   */
  readonly callerOutbound: () => OutboundHttp;
  /** The servers that run in this process. */
  readonly embedded: EmbeddedServers;
  /** How the layer names itself to servers. */
  readonly client: { readonly name: string; readonly version: string };
  readonly settings?: Partial<UpstreamSettings>;
}
