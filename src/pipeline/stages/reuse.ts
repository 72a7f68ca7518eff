import { setTimeout as wait } from 'node:timers/promises';
import { type Failure, failure } from '../../domain/error/failure.ts';
import { isFinal } from '../../domain/invocation/lifecycle.ts';
import { canonicalJson } from '../../std/canonical-json.ts';
import { sha256 } from '../../std/sha256.ts';
import type { Admitted, Authorized, CallRequest, Fresh, Resolved, Validated } from '../call.ts';
import type { Flight } from '../flight/flight.ts';
import type { PipelineParts } from '../parts.ts';
import type { EarlierAnswer, Stage, StageEnd } from '../stage.ts';

type Needs = CallRequest & Admitted & Resolved & Validated & Authorized;
type Parts = Pick<PipelineParts, 'clock' | 'idempotency' | 'records' | 'running' | 'limits'>;

/** How often a duplicate looks whether the first call is over. */
const POLL_MS = 25;

/** Stage 5: one request is answered once. A duplicate gets the first call's answer, and waits for it where it must (PIPE-09). */
export function reuse(parts: Parts): Stage<Needs, Fresh> {
  return {
    name: 'reuse',
    takes: 'the invocation id and the idempotency key',
    run(call, flight) {
      const { request, principal, invocationId } = call;
      const key = flight.resumed === undefined ? request.execution_options?.idempotency_key : undefined;
      // A call that waited holds its id and its key already.
      if (flight.resumed !== undefined && !parts.running.add(principal.tenantId, invocationId, flight)) {
        return underWay(invocationId);
      }
      if (flight.resumed !== undefined || (key === undefined && request.invocation_id === undefined)) {
        parts.running.add(principal.tenantId, invocationId, flight);
        flight.undo.defer(() => parts.running.remove(principal.tenantId, invocationId));
        return { fresh: true };
      }
      return claim(parts, call, flight, key);
    },
  };
}

async function claim(parts: Parts, call: Needs, flight: Flight, key: string | undefined): Promise<StageEnd<Fresh>> {
  const { principal, invocationId } = call;
  const { tenantId } = principal;
  if (!parts.running.add(tenantId, invocationId, flight)) return usedId(invocationId);
  flight.undo.defer(() => parts.running.remove(tenantId, invocationId));
  if (key !== undefined) {
    const held = await claimKey(parts, call, flight, key);
    if (held !== undefined) return held;
  }
  const earlier =
    call.request.invocation_id === undefined ? undefined : await parts.records.findInvocation(tenantId, invocationId);
  return earlier === undefined ? { fresh: true } : usedId(invocationId);
}

/** Undefined when this call is the key's first. */
async function claimKey(
  parts: Parts,
  call: Needs,
  flight: Flight,
  key: string,
): Promise<Failure | EarlierAnswer | undefined> {
  const { principal, invocationId, tool, inputHash } = call;
  const { tenantId, agentDid } = principal;
  // The agent is part of the key: one agent must not read another's answer by guessing its key.
  const scopedKey = `${agentDid}\n${key}`;
  const requestHash = sha256(canonicalJson([tool.manifest.tool_id, call.request.tool_version ?? 'latest', inputHash]));
  const expiresAt = parts.clock.now() + parts.limits.idempotencyTtlMs;
  const holder = await parts.idempotency.claim({ tenantId, key: scopedKey, requestHash, invocationId, expiresAt });
  if (holder.invocationId === invocationId) {
    // A call that failed before it could have an effect leaves the key free for another try.
    flight.undo.undo(() =>
      flight.attempts === 0 ? parts.idempotency.release(tenantId, scopedKey, invocationId) : undefined,
    );
    return undefined;
  }
  if (holder.requestHash !== requestHash) {
    return failure(
      'E3802',
      'This idempotency key was used with another tool or other arguments. Take a new key for a new request.',
    );
  }
  return answerOf(parts, tenantId, holder.invocationId, flight.controller.signal);
}

async function answerOf(
  parts: Parts,
  tenantId: string,
  invocationId: string,
  signal: AbortSignal,
): Promise<EarlierAnswer | Failure> {
  while (!signal.aborted) {
    const record = await parts.records.findInvocation(tenantId, invocationId);
    if (record !== undefined && isFinal(record.state)) return { answered: record };
    if (record === undefined && parts.running.find(tenantId, invocationId) === undefined) {
      return failure('E3804', 'The first call with this idempotency key left no answer. Take a new key to call again.');
    }
    await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  throw signal.reason;
}

const underWay = (invocationId: string): Failure => failure('E3802', `The call ${invocationId} is under way already.`);

const usedId = (invocationId: string): Failure =>
  failure('E3802', `The invocation id ${invocationId} was used before. Leave it out, or make a new one for each call.`);
