/**
 * Runs a foreign program in bounds. A driver is a subpath of its own: `@sallyport/sandbox/bubblewrap`, `gvisor`, `microvm`,
 * `kubernetes`, `wasm`. docs/sandboxes/drivers.md
 */
export { chooseDriver, isAsStrong } from './choose-driver.ts';
export { type CollectedOutput, collectOutput, type OutputBounds } from './collect-output.ts';
export {
  type DriverProbe,
  type IsolationLevel,
  LIMIT_NAMES,
  type LimitName,
  type SandboxDriver,
  type SandboxExit,
  type SandboxLimits,
  type SandboxProcess,
  type SandboxSpec,
} from './driver.port.ts';
export { createEgressGate, type EgressGate } from './egress-gate.ts';
export { runtimeMounts } from './runtime-mounts.ts';
export { createWarmPool, type WarmPool } from './warm-pool.ts';
