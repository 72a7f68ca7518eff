import type { Findings } from './findings.ts';
import type { Placed, SchemaViews } from './schema-view.ts';
import type { Direction } from './value-rules.ts';

/** What a schema applies to: arguments that callers send, or results that they read. */
export type Role = 'input' | 'output';

/** One comparison of two documents. */
export interface Comparison {
  readonly from: SchemaViews;
  readonly to: SchemaViews;
  readonly findings: Findings;
  /** Compares two schemas; a missing schema accepts everything. */
  compare(from: Placed, to: Placed, role: Role, depth: number): void;
  /** Reports that more, fewer or other values pass than before. */
  differ(path: string, kind: string, direction: Direction, role: Role, message: string): void;
}
