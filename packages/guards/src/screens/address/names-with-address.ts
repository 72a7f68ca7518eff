import { type AddressClass, classOf } from './address-classes.ts';
import { parseAddress } from './parse-address.ts';

/** Public services that answer a name with the address written in it. */
const SERVICES: readonly string[] = [
  '.nip.io',
  '.sslip.io',
  '.xip.io',
  '.traefik.me',
  '.backname.io',
  '.ip.addr.tools',
];
/** Public names that lead to loopback with everything below them. */
const LOOPBACK: ReadonlySet<string> = new Set([
  'fuf.me',
  'lacolhost.com',
  'local.gd',
  'localho.st',
  'localtest.me',
  'lvh.me',
  'vcap.me',
]);
/** The last address before the name of the service; a name before it may be anything. */
const DECIMAL = /(?:^|[.-])(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})$/;
const HEXADECIMAL = /(?:^|[.-])([0-9a-f]{8})$/;
const IPV6 = /(?:^|\.)([0-9a-f-]{2,39})$/;

/** Class of the address that a name says it leads to; undefined for the names that say none. */
export function classOfWrittenAddress(host: string): AddressClass | undefined {
  if (LOOPBACK.has(host.split('.').slice(-2).join('.'))) return 'loopback';
  const service = SERVICES.find((each) => host.endsWith(each));
  if (service === undefined) return undefined;
  const name = host.slice(0, -service.length);
  const text = DECIMAL.exec(name)?.slice(1).map(Number).join('.') ?? hexadecimal(name) ?? ipv6(name);
  const address = text === undefined ? undefined : parseAddress(text);
  return address === undefined ? undefined : classOf(address);
}

function hexadecimal(name: string): string | undefined {
  const digits = HEXADECIMAL.exec(name)?.[1];
  return digits === undefined ? undefined : [...Buffer.from(digits, 'hex')].join('.');
}

function ipv6(name: string): string | undefined {
  const written = IPV6.exec(name)?.[1];
  return written?.includes('-') ? written.replaceAll('-', ':') : undefined;
}
