import { isFailure } from '@sallyport/std/error/failure';
import type { Registry } from '../../packages/sallyport/src/registry/registry.ts';
import type { ToolStore } from '../../packages/sallyport/src/registry/tool-store.port.ts';
import { median } from '../report/statistics.ts';
import { openRegistry, TENANT } from './open-registry.ts';
import { toolOf } from './tools.ts';

/** Registered together. */
export const TOGETHER = 10_000;
/** Registered one after the other. */
const ALONE = 200;

/** What one round of registrations took. */
export interface RegistrationRound {
  /** 10 000 tools in one registration, in s. */
  readonly firstS: number;
  /** A second version of each, compared with the first, in s. */
  readonly secondS: number;
  /** The same once more, which changes nothing, in s. */
  readonly againS: number;
  /** A registry that reads all 20 000 versions at its start, in s. */
  readonly loadS: number;
  /** One tool alone, among the others: the median, in ms. */
  readonly aloneMs: number;
}

/** One round over an empty store. */
export async function registrationRound(store: ToolStore): Promise<RegistrationRound> {
  const registry = openRegistry(store);
  const all = (version: string) => Array.from({ length: TOGETHER }, (_, at) => toolOf(at, version));
  const firstS = await seconds(() => registerAll(registry, all('1.0.0')));
  const secondS = await seconds(() => registerAll(registry, all('1.1.0')));
  const againS = await seconds(() => registerAll(registry, all('1.1.0')));
  const loadS = await seconds(() => openRegistry(store).load());
  return { firstS, secondS, againS, loadS, aloneMs: await aloneMs(registry) };
}

async function registerAll(registry: Registry, manifests: readonly unknown[]): Promise<void> {
  const ends = await registry.registerAll(TENANT, manifests);
  const refused = ends.find(isFailure);
  if (refused !== undefined) throw new Error(refused.message);
}

async function aloneMs(registry: Registry): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < ALONE; at += 1) {
    const started = performance.now();
    await registry.register(TENANT, toolOf(TOGETHER + at));
    times.push(performance.now() - started);
  }
  return median(times) ?? Number.NaN;
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
