import { MiB } from '@sallyport/std/bytes';
import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { isAsStrong } from '../../../choose-driver.ts';
import type { IsolationLevel, SandboxLimits, SandboxSpec } from '../../../driver.port.ts';
import type { Container, PodSpec } from '../api/objects.ts';
import type { KubernetesSettings } from '../settings.ts';
import { quantityOf } from './quantity.ts';

/** Isolation between a pod's processes and its node. */
export function isolationOf(pod: PodSpec, classes: KubernetesSettings['runtimeClasses']): IsolationLevel {
  const name = pod.runtimeClassName;
  return (name !== undefined && Object.hasOwn(classes, name) ? classes[name] : undefined) ?? 'namespaces';
}

/** The container that tools run in. */
export function containerOf(pod: PodSpec, name: string | undefined): Container | undefined {
  return name === undefined ? pod.containers?.[0] : pod.containers?.find((container) => container.name === name);
}

/**
 * Why no tool may run in such a pod, each in one sentence: settings that would void its isolation, and missing limits.
 * @param isTemplate true for a template: a token that is not disabled there is disabled by the controller
 */
export function podFaults(pod: PodSpec, containerName: string | undefined, isTemplate: boolean): readonly string[] {
  const container = containerOf(pod, containerName);
  if (container === undefined) return [`It has no container ${containerName ?? ''}.`.replace(' .', '.')];
  const limits = container.resources?.limits ?? {};
  const sources = (pod.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  const hasToken = sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined);
  const faults: readonly (readonly [boolean, string])[] = [
    [pod.hostNetwork === true, 'It uses the network of its node (hostNetwork).'],
    [pod.hostPID === true || pod.hostIPC === true, 'It sees processes of its node (hostPID, hostIPC).'],
    [pod.shareProcessNamespace === true, 'Its containers see each other (shareProcessNamespace).'],
    [container.securityContext?.privileged === true, 'Its container is privileged.'],
    [(pod.volumes ?? []).some(({ hostPath }) => hostPath !== undefined), 'It shows folders of its node (hostPath).'],
    [
      hasToken || (isTemplate && pod.automountServiceAccountToken === true),
      'It holds a token of the cluster: set automountServiceAccountToken to false.',
    ],
    [
      container.securityContext?.allowPrivilegeEscalation !== false,
      'Set allowPrivilegeEscalation of its container to false.',
    ],
    [
      (container.securityContext?.runAsNonRoot ?? pod.securityContext?.runAsNonRoot) !== true,
      'Set runAsNonRoot of its container to true.',
    ],
    [quantityOf(limits['memory']) === undefined, 'Its container has no limit of memory (resources.limits.memory).'],
    [quantityOf(limits['cpu']) === undefined, 'Its container has no limit of processor time (resources.limits.cpu).'],
  ];
  return faults.filter(([holds]) => holds).map(([, fault]) => fault);
}

/** Limits that a pod enforces less well than possible, each in one sentence. */
export function podWeaknesses(pod: PodSpec, containerName: string | undefined): readonly string[] {
  const container = containerOf(pod, containerName);
  const weaknesses: readonly (readonly [boolean, string])[] = [
    [
      quantityOf(container?.resources?.limits?.['ephemeral-storage']) === undefined,
      'The disk of a sandbox is bounded for each file only (no resources.limits.ephemeral-storage).',
    ],
    [
      container?.securityContext?.readOnlyRootFilesystem !== true,
      'A tool can change the image that it runs in (no readOnlyRootFilesystem), and so what is measured of it.',
    ],
  ];
  return weaknesses.filter(([holds]) => holds).map(([, weakness]) => weakness);
}

/**
 * Checks a claimed pod before anything runs in it.
 * @throws E3101 when it is weaker than the call or the settings demand; E3102 when it would give the tool more than its
 *   grant
 */
export function checkPod(pod: PodSpec, spec: SandboxSpec, settings: KubernetesSettings): void {
  const level = isolationOf(pod, settings.runtimeClasses);
  for (const asked of [settings.isolation, spec.isolation ?? settings.isolation]) {
    if (isAsStrong(level, asked)) continue;
    throw new ToolLayerError(
      'E3101',
      `The sandboxes of the pool ${settings.pool} give the isolation ${level}, and ${asked} is asked for. The template must set runtimeClassName.`,
      { details: { isolation: asked } },
    );
  }
  const [fault] = podFaults(pod, settings.container, false);
  if (fault !== undefined) {
    throw new ToolLayerError('E3101', `The sandboxes of the pool ${settings.pool} cannot hold a tool. ${fault}`);
  }
  const limits = containerOf(pod, settings.container)?.resources?.limits ?? {};
  checkLimit(
    settings.pool,
    'memory',
    (quantityOf(limits['memory']) ?? 0) / MiB,
    spec.limits,
    'memoryMb',
    'MB of memory',
  );
  const cpu = Math.round((quantityOf(limits['cpu']) ?? 0) * 1000);
  checkLimit(settings.pool, 'cpu', cpu, spec.limits, 'cpuMillicores', 'thousandths of a core');
}

/** Limits that only the pod can enforce must be at least as tight as the grant. */
function checkLimit(
  pool: string,
  limit: string,
  given: number,
  limits: SandboxLimits,
  name: 'memoryMb' | 'cpuMillicores',
  unit: string,
): void {
  const granted = limits[name];
  if (given <= granted) return;
  throw new ToolLayerError(
    'E3102',
    `A sandbox of the pool ${pool} has ${Math.ceil(given)} ${unit}, and the call may use ${granted}. Use a pool with less, or grant more.`,
    { details: { limit } },
  );
}
