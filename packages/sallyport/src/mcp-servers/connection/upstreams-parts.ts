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
  /** Refuses tools that differ from the accepted ones; absent: every tool is called. */
  readonly quarantine?: Pick<Quarantine, 'refusal' | 'counts'> & Partial<Pick<Quarantine, 'scan'> & OfferQuarantine>;
  /** Values of `{{NAME}}` in headers and environments; absent: definitions with secrets are refused. */
  readonly secrets?: SecretStore;
  /** Access tokens for HTTP servers; absent: nobody logs in. */
  readonly logins?: Pick<UpstreamLogins, 'authorizer' | 'expect'>;
  /** Installs packages; absent: definitions that need one are refused. */
  readonly packages?: Packages;
  readonly log: Log;
  readonly clock: Clock;
  /** Puts questions of servers to the clients of their calls; absent: nobody is asked. */
  readonly clients?: ClientAsker;
  /** Guarded outbound HTTP, to the host and port of each server's URL alone; default: the platform's `fetch`. */
  readonly outbound?: OutboundHttp;
  /**
   * Makes outbound HTTP for one caller's connection to an HTTP server, so that two callers never share a socket;
   * disposed with the connection. Default: `outbound`, whose idle sockets are shared by all.
   */
  readonly callerOutbound?: () => OutboundHttp;
  /** The servers that run in this process; absent: none. */
  readonly embedded?: EmbeddedServers;
  /** How the layer names itself to servers. */
  readonly client: { readonly name: string; readonly version: string };
  readonly settings?: Partial<UpstreamSettings>;
  /** 0 (inclusive) to 1 (exclusive); default `Math.random`. */
  readonly random?: () => number;
}
