import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EgressRun, InsideListener } from '../../../egress-gate.ts';
import { madeUpFiles } from '../../../linux/made-up-files.ts';
import { socketAddress } from '../../../linux/socket-address.ts';
import type { Bundle } from '../bundle/bundle.ts';
import type { WayInside } from '../bundle/oci-config.ts';
import { FORWARDER_PROGRAM } from './forwarder-program.ts';

export const PERL = '/usr/bin/perl';
const FOLDER_INSIDE = '/run/way';
const SOCKET = 'gate';
/** Number of prctl, which perl has no word for. */
const PRCTL: Readonly<Partial<Record<NodeJS.Architecture, number>>> = { x64: 157, arm64: 167 };

/**
 * Makes the gate listen where the sandbox finds it; returns what must exist inside.
 * @param uid uid that the tool sees as its own
 */
export async function openWayInside(run: EgressRun, bundle: Bundle, uid: number): Promise<WayInside> {
  await run.listenAt(join(bundle.way, SOCKET));
  const { view } = run;
  writeFileSync(bundle.hosts, `${madeUpFiles(uid)['/etc/hosts']}${view.hosts}`, { mode: 0o644 });
  const listeners = view.listeners.map(
    (listener) => `${socketAddress(listener.address, listener.port)}/${targetOf(listener)}`,
  );
  return {
    command: [
      ...[PERL, '-e', FORWARDER_PROGRAM, `${FOLDER_INSIDE}/${SOCKET}`, String(uid), String(PRCTL[process.arch])],
      view.addresses.map((address) => socketAddress(address, 0)).join(','),
      listeners.join(','),
    ],
    binds: [
      { source: bundle.way, target: FOLDER_INSIDE },
      { source: bundle.hosts, target: '/etc/hosts' },
    ],
    addresses: view.addresses.length > 0,
  };
}

function targetOf({ target }: InsideListener): string {
  if (target === undefined) return '';
  return target.host.includes(':') ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`;
}
