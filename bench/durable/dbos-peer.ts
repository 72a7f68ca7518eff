import { createRequire } from 'node:module';

/** The package whose one-step workflow stands beside an asynchronous call. */
const PACKAGE = '@dbos-inc/dbos-sdk';

/** What the peer is called in a report: with the reason in brackets while it is not measured. */
export function dbosName(): string {
  try {
    createRequire(import.meta.url).resolve(PACKAGE);
    return 'DBOS, one-step workflow (installed, not measured yet)';
  } catch {
    return 'DBOS, one-step workflow (not installed)';
  }
}
