import { type Failure, failure } from '@sallyport/std/error/failure';
import {
  UpstreamLogsRequest,
  UpstreamLogsResponse,
  UpstreamNameRequest,
  UpstreamStatusResponse,
} from '../../../api/schemas/upstream.ts';
import { recordedChange } from '../../audit/recorded-change.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { registryEvent } from '../tools/registry-event.ts';

type Parts = Pick<OperationParts, 'upstreams' | 'ledger' | 'clock'>;

/** Stops an upstream for good, also after a restart of the layer. */
export const disableUpstream = operation({
  name: 'upstreams.disable',
  summary: 'Stop an upstream until it is enabled again; its tools stay registered',
  method: 'POST',
  path: '/v1/upstreams/{name}/deactivation',
  status: 200,
  access: 'operator',
  input: UpstreamNameRequest,
  output: UpstreamStatusResponse,
  run:
    (parts: Parts) =>
    ({ name }, asker) =>
      switchTo(parts, asker, name, 'upstream-disabled'),
});

/** Starts an upstream that was disabled. */
export const enableUpstream = operation({
  name: 'upstreams.enable',
  summary: 'Start an upstream that was disabled',
  method: 'POST',
  path: '/v1/upstreams/{name}/activation',
  status: 200,
  access: 'operator',
  input: UpstreamNameRequest,
  output: UpstreamStatusResponse,
  run:
    (parts: Parts) =>
    ({ name }, asker) =>
      switchTo(parts, asker, name, 'upstream-enabled'),
});

async function switchTo(
  parts: Parts,
  asker: Asker,
  name: string,
  change: 'upstream-disabled' | 'upstream-enabled',
): Promise<UpstreamStatusResponse | Failure> {
  const disabled = change === 'upstream-disabled';
  const eventsOf = () => [registryEvent(parts, asker, name, { change, upstream: name, tool_ids: [] })];
  const upstream = await recordedChange(parts.ledger, eventsOf, (events) =>
    parts.upstreams.restart(asker.principal.tenantId, name, { disabled, events }),
  );
  return upstream === undefined ? failure('E3809', `There is no upstream ${name}.`) : { upstream };
}

/** Stops an upstream's processes and connections, and starts it anew. */
export const restartUpstream = operation({
  name: 'upstreams.restart',
  summary: 'End an upstream and start it anew at once',
  method: 'POST',
  path: '/v1/upstreams/{name}/restart',
  status: 200,
  access: 'operator',
  input: UpstreamNameRequest,
  output: UpstreamStatusResponse,
  run:
    ({ upstreams }: Parts) =>
    async ({ name }, { principal: { tenantId } }) => {
      const current = upstreams.current(tenantId, name);
      if (current?.definition.disabled === true) {
        return failure('E3309', `The upstream ${name} is disabled. Type: sallyport upstreams enable ${name}`);
      }
      const upstream = await upstreams.restart(tenantId, name);
      return upstream === undefined ? failure('E3809', `There is no upstream ${name}.`) : { upstream };
    },
});

/** The last lines of an upstream's standard error. */
export const upstreamLogs = operation({
  name: 'upstreams.logs',
  summary: 'What an upstream wrote on its standard error',
  method: 'GET',
  path: '/v1/upstreams/{name}/logs',
  status: 200,
  access: 'operator',
  input: UpstreamLogsRequest,
  output: UpstreamLogsResponse,
  run:
    ({ upstreams }: Parts) =>
    ({ name, after = 0 }, { principal }) => {
      const read = upstreams.logs(principal.tenantId, name, after);
      if (read === undefined) return failure('E3809', `There is no upstream ${name}.`);
      return { name, lines: [...read.lines], next: read.next };
    },
});
