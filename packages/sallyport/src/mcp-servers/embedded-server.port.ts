import type { EmbeddedTransport, UpstreamDefinition } from '../../api/schemas/upstream.ts';
import type { CheckDocument } from '../domain/document/given-document.ts';
import type { Principal } from '../domain/principal/principal.ts';
import type { ListedMcpTool } from '../registry/importer.port.ts';
import type { ListedTemplate } from './known-upstream.ts';

/** Whose call it is. */
export interface EmbeddedCaller extends Pick<Principal, 'tenantId' | 'agentDid' | 'userDid'> {
  /** For documents that the arguments do not name, before anything is done with them; absent: the layer itself asks. */
  readonly checkDocument?: CheckDocument;
}

/**
 * An MCP server in this process. One serves all tenants: whose data a call is about follows from its caller. It is an
 * upstream like any other, so that its tools are granted, judged and recorded as such.
 */
export interface EmbeddedServer {
  /** Semantic version; another one where a tool changed. */
  readonly version: string;
  /** What the server says of its use. */
  readonly instructions: string;
  readonly tools: readonly ListedMcpTool[];
  /** Its resources; what they are differs from tenant to tenant, so there is no list of them. */
  readonly templates: readonly ListedTemplate[];
  /**
   * Answers a call of a tool, or a request such as `resources/read`, with a result of MCP. What the model can mend is a
   * result with `isError`.
   * @throws ToolLayerError E3309 for arguments that no client of its schemas sends, and for no such resource; E3812
   */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    caller: EmbeddedCaller,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Notifies of changes of a tenant's resource until disposed. */
  watch(tenantId: string, uri: string, onUpdated: () => void): Disposable;
}

/**
 * True for an upstream that is a reference server: its tools ship with the layer, and are trusted as the layer is
 * (REG-09). Its transport says so, never its name.
 */
export const shipsWithLayer = ({ transport }: Pick<UpstreamDefinition, 'transport'>): boolean =>
  transport.type === 'embedded';

/** The servers that run in this process, by name. */
export type EmbeddedServers = Readonly<Partial<Record<EmbeddedTransport['server'], EmbeddedServer>>>;
