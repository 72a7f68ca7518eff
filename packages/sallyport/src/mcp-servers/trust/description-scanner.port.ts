import type { ListedMcpTool } from '../../registry/importer.port.ts';

/** A part of a definition that speaks, or may speak, to the model without the user's knowledge. */
export interface ScanFinding {
  /** Kind of the finding, in kebab-case. */
  readonly kind: string;
  /** JSON Pointer into the definition. */
  readonly path: string;
  /** The place, with hidden characters written out as `\u{…}`. At most 200 characters. */
  readonly excerpt: string;
}

/** Result of a scan. `findings` is empty exactly when the verdict is `clean`. */
export interface ScanVerdict {
  /** Anything but `clean` quarantines the tool. */
  readonly verdict: 'clean' | 'suspicious' | 'malicious';
  readonly findings: readonly ScanFinding[];
}

/** Context of a scan beside the definition itself. */
export interface ScanContext {
  /** Names of tools of the tenant's other upstreams, except names that the same server has too. */
  readonly foreignTools: ReadonlySet<string>;
}

/**
 * Judges the texts of a definition, all of them untrusted (REG-09). Limited in time for any text.
 * @throws when there is no verdict; the tool is then quarantined
 */
export type DescriptionScanner = (tool: ListedMcpTool, context: ScanContext) => ScanVerdict | Promise<ScanVerdict>;
