import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxSpec } from '../../../driver.port.ts';
import { createKubernetesDriver, type KubernetesDriver, type KubernetesParts } from '../kubernetes-driver.ts';
import type { KubernetesBounds, KubernetesSettings } from '../settings.ts';
import { type FakeCluster, NAMESPACE, startFakeCluster, TOKEN } from './fake-cluster.fixture.ts';
import { type FakePod, type PodExecEvents, scriptedPod } from './fake-pod.fixture.ts';

/** A driver that uses a fake cluster. */
export interface Opened {
  readonly cluster: FakeCluster;
  readonly driver: KubernetesDriver;
  /** Folder with the service account of the layer's pod. */
  readonly folder: string;
  /** Opens another driver, as in the same pod of the layer. */
  another(settings?: Partial<KubernetesSettings>, parts?: KubernetesParts): KubernetesDriver;
  close(): Promise<void>;
}

/** Short times, so that tests are fast; no test asserts them. */
const QUICK: Partial<KubernetesBounds> = {
  retryPauseMs: 5,
  readyTimeoutMs: 20_000,
  watchPauseMaxMs: 50,
  reapPauseMs: 20,
};

export async function openFake(
  settings: Partial<KubernetesSettings> = {},
  bounds: Partial<KubernetesBounds> = {},
): Promise<Opened> {
  const cluster = await startFakeCluster();
  const folder = mkdtempSync(join(tmpdir(), 'service-account-'));
  for (const [name, text] of Object.entries({ token: TOKEN, 'ca.crt': cluster.ca, namespace: NAMESPACE })) {
    writeFileSync(join(folder, name), `${text}\n`);
  }
  const url = new URL(cluster.server);
  const source = {
    environment: { KUBERNETES_SERVICE_HOST: url.hostname, KUBERNETES_SERVICE_PORT: url.port },
    serviceAccountFolder: folder,
  };
  const opened: KubernetesDriver[] = [];
  const another: Opened['another'] = (changed = {}, parts = {}) => {
    const driver = createKubernetesDriver(
      { pool: 'pool', ...settings, ...changed },
      { source, bounds: { ...QUICK, ...bounds }, ...parts },
    );
    opened.push(driver);
    return driver;
  };
  return {
    cluster,
    folder,
    driver: another(),
    another,
    async close() {
      for (const driver of opened) driver.close();
      await cluster.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export function specOf(changes: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    label: 'test',
    command: ['/bin/true'],
    environment: {},
    mounts: [],
    network: [],
    limits: { cpuMillicores: 2000, memoryMb: 128, processesMax: 16, diskMb: 8 },
    ...changes,
  };
}

/** A pod with a scripted tool and a launcher that behaves as the driver expects. */
export function podThat(act: (events: PodExecEvents) => void, reaper = ''): FakePod {
  return scriptedPod((command, events) => {
    if (!command[2]?.startsWith("n='")) {
      queueMicrotask(() => {
        if (reaper !== '') events.output(1, Buffer.from(reaper));
        events.exit(0);
      });
      return undefined;
    }
    let said = '';
    return {
      input(bytes) {
        const before = said;
        said += bytes.toString('utf8');
        const word = /^h=([0-9a-f]+);.*\n/s.exec(said)?.[1];
        if (word === undefined || /\n/.test(before)) return;
        events.output(1, Buffer.from(`${word} 12 1000\n`));
        act(events);
      },
      endInput() {},
    };
  });
}
