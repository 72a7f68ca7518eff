import { keptIn } from '../../../domain/shape/kept-in.ts';
import type { Log } from '../../../telemetry/log.ts';
import { createStderrLog, type StderrLog } from '../../stdio/stderr-log.ts';
import { createWatchedResources, type WatchedResources } from '../offers/watched-resources.ts';

/** What of one upstream outlives its connections. */
export interface Outliving {
  readonly stderrLog: StderrLog;
  readonly watched: WatchedResources;
}

/** What of all upstreams outlives their connections. */
export interface OutlivingByUpstream {
  /** Made when it is asked for first. */
  of(tenantId: string, name: string): Outliving;
  /** Forgets a removed upstream. Resources stay watched, for an upstream of the same name, while somebody watches. */
  forget(tenantId: string, name: string): void;
}

export function createOutliving(log: Log): OutlivingByUpstream {
  const logs = new Map<string, StderrLog>();
  const watched = new Map<string, WatchedResources>();
  const watchedOf = (key: string, name: string) => keptIn(watched, key, () => createWatchedResources(name, log));
  return {
    of(tenantId, name) {
      const key = keyOf(tenantId, name);
      return { stderrLog: keptIn(logs, key, createStderrLog), watched: watchedOf(key, name) };
    },
    forget(tenantId, name) {
      const key = keyOf(tenantId, name);
      logs.delete(key);
      if (watchedOf(key, name).isEmpty()) watched.delete(key);
    },
  };
}

const keyOf = (tenantId: string, name: string): string => JSON.stringify([tenantId, name]);
