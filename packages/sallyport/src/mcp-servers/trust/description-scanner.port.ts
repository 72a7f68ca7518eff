import type { ListedMcpTool } from '../../registry/importer.port.ts';

/** Something in a definition that speaks to the model behind the user's back, or may. */
export interface ScanFinding {
  /** What was found, in kebab-case. */
  readonly kind: string;
  /** JSON Pointer into the definition. */
  readonly path: string;
  /** The place, with hidden characters written out as `\u{…}`. At most 200 characters. */
  readonly excerpt: string;
}

/** What a scan says. `findings` is empty exactly when the verdict is `clean`. */
export interface ScanVerdict {
  /** Anything but `clean` quarantines the tool. */
  readonly verdict: 'clean' | 'suspicious' | 'malicious';
  readonly findings: readonly ScanFinding[];
}

/** What a scan may know beside the definition itself. */
export interface ScanContext {
  /** Names of tools of the tenant's other upstreams, without those that the same server has too. */
  readonly foreignTools: ReadonlySet<string>;
}

/**
 * Judges the texts of a definition, all of them untrusted (REG-09). Bounded in time for any text.
 * @throws when no verdict can be had; the tool is then quarantined
 */
export type DescriptionScanner = (tool: ListedMcpTool, context: ScanContext) => ScanVerdict | Promise<ScanVerdict>;
