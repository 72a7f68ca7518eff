import { type Failure, failure, isFailure } from '@sallyport/std/error/failure';
import {
  UpstreamLoginFinishRequest,
  UpstreamLoginRequest,
  UpstreamLoginResponse,
  UpstreamLogoutRequest,
  UpstreamLogoutResponse,
} from '../../../api/schemas/identity/upstream-authorization.ts';
import { type UpstreamAddResponse, UpstreamLoginFinishResponse } from '../../../api/schemas/upstream.ts';
import { holderOf } from '../../mcp-servers/upstream-logins.ts';
import type { CurrentUpstream } from '../../mcp-servers/upstreams.ts';
import { accessRefusal } from '../asking/access.ts';
import { type Asker, operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';
import { recordChange } from '../tools/registry-event.ts';
import { connectAndRegister } from './add-upstream.ts';

/** Where a connection is shared by all callers, its login is a change of the upstream. */
const CHANGE = { access: 'operator', method: 'POST' } as const;

/** Begins a login at an upstream. */
export const loginUpstream = operation({
  name: 'upstreams.login',
  summary: 'Begin a login at an upstream: the link for a person to open. With per_caller for the asker, else for all',
  method: 'POST',
  path: '/v1/upstreams/{name}/login',
  status: 201,
  access: 'token',
  input: UpstreamLoginRequest,
  output: UpstreamLoginResponse,
  run:
    (parts: OperationParts) =>
    async ({ name, redirect_url }, asker) => {
      const subject = subjectOf(parts, asker, name);
      if (isFailure(subject)) return subject;
      const { tenantId } = asker.principal;
      const { current, holder } = subject;
      const onReceived = (): void =>
        void record(parts, asker, name, 'upstream-logged-in', holder).catch((cause: unknown) =>
          parts.log.error('upstream-login-not-recorded', { upstream: name, cause }),
        );
      const begun = await parts.logins.begin(tenantId, current.definition, holder, redirect_url, onReceived);
      const { link, state, redirectUrl, endsAt, isReceived } = begun;
      const expires_at = new Date(endsAt).toISOString();
      return { name, login_url: link, state, redirect_url: redirectUrl, expires_at, layer_receives: isReceived };
    },
});

/** Ends a login at an upstream, and registers its tools where they were not known yet. */
export const finishUpstreamLogin = operation({
  name: 'upstreams.finish-login',
  summary: 'End a login at an upstream with the address that its authorization server led to',
  method: 'POST',
  path: '/v1/upstreams/{name}/authorization',
  status: 200,
  access: 'token',
  input: UpstreamLoginFinishRequest,
  output: UpstreamLoginFinishResponse,
  run:
    (parts: OperationParts) =>
    async ({ name, redirected_to, state, wait_seconds = 0 }, asker) => {
      const subject = subjectOf(parts, asker, name);
      if (isFailure(subject)) return subject;
      const { current, holder } = subject;
      const of = [asker.principal.tenantId, current.definition, holder] as const;
      if (redirected_to !== undefined) {
        await parts.logins.finish(...of, redirected_to);
        await record(parts, asker, name, 'upstream-logged-in', holder);
      } else if (state === undefined) {
        return failure('E3801', 'Give redirected_to, or the state of a login whose redirect the layer receives.');
      } else if (!(await parts.logins.ended(...of, state, until(asker, wait_seconds)))) {
        return { upstream: current.status, registrations: [], waits: true };
      }
      return connected(parts, asker, subject);
    },
});

/** Deletes the tokens of a login. */
export const logoutUpstream = operation({
  name: 'upstreams.logout',
  summary: 'Delete the tokens of a login at an upstream, and revoke them where its server can',
  method: 'DELETE',
  path: '/v1/upstreams/{name}/authorization',
  status: 200,
  access: 'token',
  input: UpstreamLogoutRequest,
  output: UpstreamLogoutResponse,
  run:
    (parts: OperationParts) =>
    async ({ name }, asker) => {
      const subject = subjectOf(parts, asker, name);
      if (isFailure(subject)) return subject;
      const { tenantId } = asker.principal;
      const had_tokens = await parts.logins.end(tenantId, subject.current.definition, subject.holder);
      if (had_tokens) await record(parts, asker, name, 'upstream-logged-out', subject.holder);
      // Connections have the token of before.
      await parts.upstreams.endLogin(tenantId, name, subject.holder);
      return { name, had_tokens };
    },
});

interface Subject {
  readonly current: CurrentUpstream;
  /** Undefined for the layer itself. */
  readonly holder: string | undefined;
}

/** The upstream, and whose login it is. */
function subjectOf(parts: OperationParts, asker: Asker, name: string): Subject | Failure {
  const { principal } = asker;
  const current = parts.upstreams.current(principal.tenantId, name);
  if (current?.definition.per_caller === true) return { current, holder: holderOf(principal) };
  const refused = isLocal(asker) ? undefined : accessRefusal(parts, CHANGE, principal);
  if (refused !== undefined) return refused;
  return current === undefined ? failure('E3809', `There is no upstream ${name}.`) : { current, holder: undefined };
}

/** Aborts after this time, and when the asker goes away. */
function until({ caller: { signal } }: Asker, seconds: number): AbortSignal {
  const late = AbortSignal.timeout(seconds * 1_000);
  return signal === undefined ? late : AbortSignal.any([signal, late]);
}

const isLocal = ({ caller }: Asker): boolean => caller.local === true && caller.token === undefined;

/** A shared connection is made anew with its token; one of a caller is made by its next call. */
async function connected(parts: OperationParts, asker: Asker, subject: Subject): Promise<UpstreamAddResponse> {
  const { current, holder } = subject;
  const mayList = isLocal(asker) || accessRefusal(parts, CHANGE, asker.principal) === undefined;
  const isListed = holder !== undefined && (current.tools.length > 0 || !mayList);
  if (current.definition.disabled === true || isListed) return { upstream: current.status, registrations: [] };
  return connectAndRegister(parts, asker, current.definition);
}

function record(
  parts: OperationParts,
  asker: Asker,
  name: string,
  change: 'upstream-logged-in' | 'upstream-logged-out',
  holder: string | undefined,
): Promise<void> {
  return recordChange(parts, asker, name, {
    change,
    upstream: name,
    tool_ids: [],
    ...(holder === undefined ? {} : { holder }),
  });
}
