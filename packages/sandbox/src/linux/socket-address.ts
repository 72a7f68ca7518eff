const AF_INET = 2;
const AF_INET6 = 10;
const GROUPS = 8;

/**
 * A socket address as the kernel has it (`sockaddr_in`, `sockaddr_in6`), in hexadecimal.
 * @param address an IPv4 address of four numbers, or an IPv6 address as URLs write it
 */
export function socketAddress(address: string, port: number): string {
  return address.includes(':') ? ipv6(address, port) : ipv4(address, port);
}

function ipv4(address: string, port: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(AF_INET, 0);
  bytes.writeUInt16BE(port, 2);
  for (const [index, number] of address.split('.').entries()) bytes.writeUInt8(Number(number), 4 + index);
  return bytes.toString('hex');
}

function ipv6(address: string, port: number): string {
  const bytes = Buffer.alloc(28);
  bytes.writeUInt16LE(AF_INET6, 0);
  bytes.writeUInt16BE(port, 2);
  const [head = '', tail] = address.split('::').map((part) => part.split(':').filter(Boolean)) as [string[], string[]?];
  const middle = new Array<string>(tail === undefined ? 0 : GROUPS - head.length - tail.length).fill('0');
  const groups = [...head, ...middle, ...(tail ?? [])];
  for (const [index, group] of groups.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), 8 + 2 * index);
  return bytes.toString('hex');
}
