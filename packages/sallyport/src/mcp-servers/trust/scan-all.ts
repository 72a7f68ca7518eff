import { setImmediate as othersWork } from 'node:timers/promises';
import type { Clock } from '@sallyport/std/clock';
import type { ListedMcpTool } from '../../registry/importer.port.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DescriptionScanner, ScanVerdict } from './description-scanner.port.ts';

/** Longest scan without yielding to other work, ms, except within one definition. */
const SLICE_MS = 8;
/**
 * Longest work on one listing, ms; definitions left then are suspicious. A thousand ordinary definitions take a tenth
 * of a second.
 */
const WORK_MS_MAX = 10_000;

/** Dependencies of a scan. */
export interface ScanParts {
  readonly scanner: DescriptionScanner;
  readonly clock: Clock;
  readonly log: Log;
  readonly upstream: string;
}

/** Verdicts in the order of the tools. A definition that the scanner cannot judge is suspicious. */
export async function scanAll(
  tools: readonly ListedMcpTool[],
  foreignTools: ReadonlySet<string>,
  { scanner, clock, log, upstream }: ScanParts,
): Promise<readonly ScanVerdict[]> {
  const verdicts: ScanVerdict[] = [];
  let sliceStart = clock.monotonic();
  let workMs = 0;
  for (const tool of tools) {
    if (workMs > WORK_MS_MAX) {
      verdicts.push({ verdict: 'suspicious', findings: [NO_TIME] });
      continue;
    }
    try {
      verdicts.push(await scanner(tool, { foreignTools }));
    } catch (cause) {
      log.error('description-not-scanned', { upstream, tool: tool.name.slice(0, 128), reason: String(cause) });
      verdicts.push({ verdict: 'suspicious', findings: [NOT_SCANNED] });
    }
    const sliceMs = clock.monotonic() - sliceStart;
    if (sliceMs < SLICE_MS) continue;
    workMs += sliceMs;
    await othersWork();
    sliceStart = clock.monotonic();
  }
  return verdicts;
}

const NO_TIME = { kind: 'not-scanned', path: '', excerpt: 'The texts of this upstream take too long to judge.' };
const NOT_SCANNED = { kind: 'not-scanned', path: '', excerpt: 'The scanner failed; see the log.' };
